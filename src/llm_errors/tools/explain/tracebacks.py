"""Parses printed Python tracebacks into chains of exceptions with their texts. A chain begins with the raised exception."""

import re
from dataclasses import dataclass

HEAD = "Traceback (most recent call last):"
_GUTTER = re.compile(r"^ *(?:\+[-+]*-(?: \d+ -+)?|[|+] ?)", re.MULTILINE)
"""The lines and bars that Python prints before each line of an exception group."""
_LINKED = re.compile(
    r"\n\s*(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\s*\n"
)
_RAISED = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: ?(?P<text>.*))?$")


@dataclass(frozen=True)
class Link:
    """One exception of a chain."""

    name: str
    """`module.Class`, or the name alone for a built-in class."""
    text: str


def read(text: str) -> tuple[list[Link], int]:
    """Returns the last chain in the text, beginning with the raised exception, and the number of earlier chains."""
    group = f"Exception Group {HEAD}" in text
    plain = _GUTTER.sub("", text) if group else text
    chains: list[list[Link]] = []
    for number, block in enumerate(_LINKED.split(plain)):
        for index, part in enumerate(block.split(HEAD)[1:]):
            link = _link(part)
            if link is None:
                continue
            if number and not index and chains:
                chains[-1].insert(0, link)
            else:
                chains.append([link])
    if group and len(chains) > 1:  # the first member decides the class of a group
        return [*chains[0], *chains[1]], len(chains) - 2
    return (chains[-1], len(chains) - 1) if chains else ([], 0)


def _link(part: str) -> Link | None:
    """Reads the line with the exception, which follows the stack frames. Its text may continue up to an empty line."""
    lines = part.split("\n")[1:]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for number, line in enumerate(lines):
        found = _RAISED.match(line[indent:].rstrip()) if not line[indent : indent + 1].isspace() else None
        if found:
            rest = [found["text"] or ""]
            for following in lines[number + 1 :]:
                if not following.strip():
                    break
                rest.append(following.strip())
            return Link(found["name"], "\n".join(rest).strip())
    return None
