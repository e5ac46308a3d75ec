"""Parses printed Python values with `ast` into plain data: dicts, SDK models (`ChatCompletion(id=...)`) and exceptions.

Nothing is evaluated. Names, calls and attributes are converted to data.
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
    """A printed exception such as `RateLimitError('...')`: its `name` and `text`."""


def read(text: str) -> Any:
    """The printed value. Raises ValueError if the text is not one."""
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
    """The value of an enumeration member; None for any other `<...>`, which shows no value."""
    return found["string"] or found["value"] or "None"


def _with_commas(text: str) -> str:
    """The fields of a printed model, written as the arguments of a call."""
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
    """A model as its fields, an exception as its name and text, a date or similar value as None."""
    if node.keywords:
        return {k.arg: _value(k.value) for k in node.keywords if k.arg is not None}
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return Raised(name=ast.unparse(node.func), text=first.value)
    return None
