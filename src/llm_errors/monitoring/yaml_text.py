"""Writes YAML with keys in insertion order, texts of several lines as literal blocks, and a comment at the beginning."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Indents lists below their key and never writes aliases."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


def dump(document: Mapping[str, Any] | Sequence[Mapping[str, Any]], header: str) -> str:
    """The YAML text of one or several documents. It begins with `header` as a comment."""
    documents = [document] if isinstance(document, Mapping) else document
    comment = "".join(f"# {line}\n" for line in header.splitlines())
    texts = [yaml.dump(dict(one), Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True) for one in documents]
    return comment + "---\n".join(texts)
