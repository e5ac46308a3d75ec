"""Parses printed Python values into plain data: dicts, SDK models such as `ChatCompletion(id=...)`, and exceptions.

The text is parsed with `ast` and never evaluated: a call becomes its arguments, and a name becomes a text.
"""

import ast
import io
import re
import tokenize
from itertools import pairwise
from typing import Any

_STRING_OR_TAG = re.compile(
    r"""(?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|<[\w.]+: (?P<value>'[^']*'|-?\d+)>|<[^<>]*>""", re.DOTALL
)
_FAULTS = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, tokenize.TokenError)
_OPENING, _CLOSING = "([{", ")]}"


class Raised(dict[str, Any]):
    """A printed exception such as `RateLimitError('...')`. The keys are `name` and `text`."""


def read(text: str) -> Any:
    """The value that a text prints. Raises ValueError if the text is not a printed Python value."""
    plain = _STRING_OR_TAG.sub(_plain, text).strip()
    try:
        return _value(ast.parse(plain, mode="eval").body)
    except _FAULTS:
        pass
    if not set(_OPENING) & set(plain):
        raise ValueError("is a text")
    try:  # pydantic prints a model as `field=value other=value`
        return _value(ast.parse(f"fields({_with_commas(plain)})", mode="eval").body)
    except _FAULTS as error:
        raise ValueError("is no printed Python value") from error


def _plain(found: re.Match[str]) -> str:
    """What replaces a match: a string stays, `<Enum.MEMBER: value>` becomes its value, and any other `<...>` becomes None."""
    return found["string"] or found["value"] or "None"


def _with_commas(text: str) -> str:
    """The fields of a printed model (`a=1 b=2`), rewritten as arguments of a call (`a=1, b=2`)."""
    depth, parts = 0, list[str]()
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(f"({text})").readline) if t.string.strip()]
    for token, following in pairwise(tokens[1:]):
        depth += (token.string in _OPENING) - (token.string in _CLOSING)
        begins = depth == 0 and token.type == tokenize.NAME and following.string == "="
        parts.append(f", {token.string}" if begins and parts else token.string)
    return " ".join(parts)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Dict(keys=keys, values=values):
            return {str(_value(k)): _value(v) for k, v in zip(keys, values, strict=True) if k is not None}
        case ast.List(elts=members) | ast.Tuple(elts=members) | ast.Set(elts=members):
            return [_value(member) for member in members]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Call():
            return _call(node)
    raise ValueError("is no printed Python value")


def _call(node: ast.Call) -> Any:
    """Converts a printed call: a model becomes its fields, an exception its name and text, and any other call None."""
    if node.keywords:
        return {k.arg: _value(k.value) for k in node.keywords if k.arg is not None}
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return Raised(name=ast.unparse(node.func), text=first.value)
    return None
