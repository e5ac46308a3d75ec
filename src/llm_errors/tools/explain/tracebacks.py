"""Parses printed Python tracebacks: the chain of exceptions with their texts, the raised one first."""

import re
from dataclasses import dataclass

HEAD = "Traceback (most recent call last):"
_GUTTER = re.compile(r"^ *(?:\+[-+]*-(?: \d+ -+)?|[|+] ?)", re.MULTILINE)
"""The frame that Python draws before the lines of an exception group."""
_LINKED = re.compile(
    r"\n\s*(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\s*\n"
)
_RAISED = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: ?(?P<text>.*))?$")


@dataclass(frozen=True)
class Link:
    """One exception of a chain."""

    name: str
    """`module.Class`, or a built-in class."""
    text: str


def read(text: str) -> tuple[list[Link], int]:
    """The last chain in the text, the raised exception first, and the number of earlier chains."""
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
    if group and len(chains) > 1:  # a group is classified by its first member
        return [*chains[0], *chains[1]], len(chains) - 2
    return (chains[-1], len(chains) - 1) if chains else ([], 0)


def _link(part: str) -> Link | None:
    """The exception line after the frames, with the lines of its text up to an empty line."""
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
