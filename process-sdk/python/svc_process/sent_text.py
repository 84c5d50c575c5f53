"""SentText converts text in a path or a query string into a value as `json.loads` returns it. Numbers are written as in JSON.

Text that does not fit a shape is returned unchanged, and the codec reports it.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from .mismatch import PROBLEMS_MAX, shortened
from .shape import Boolean, Integer, List, Nullable, Number, Record, Reference, Shape

_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,19})", re.ASCII)
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_NAME_MAX: Final = 40


def value_of_text(text: str, shape: Shape) -> Any:
    """Returns the number or boolean that the text stands for if the shape wants one."""
    if isinstance(shape, Integer):
        return int(text) if not shape.is_big and _INTEGER.fullmatch(text) else text
    if isinstance(shape, Number):
        return float(text) if _NUMBER.fullmatch(text) else text
    if isinstance(shape, Boolean):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(shape, Nullable):
        return value_of_text(text, shape.inner)
    return value_of_text(text, shape.target()) if isinstance(shape, Reference) else text


def value_of_query(query: str, record: Record) -> tuple[dict[str, Any], list[str]]:
    """Reads a query string into an object with a field for each name. Returns it with the problems that are not those of a value."""
    shapes = {name: field.shape for field in record.fields for name in (field.name, *field.aliases)}
    value: dict[str, Any] = {}
    problems: dict[str, None] = {}
    for pair in query.split("&"):
        raw_name, _, raw_text = pair.partition("=")
        name, text = _decoded(raw_name), _decoded(raw_text)
        shape = None if name is None else shapes.get(name)
        if name is None or shape is None:
            continue
        label = shortened(raw_name, _NAME_MAX)
        item = _item_of(shape)
        if text is None:
            problems[f"{label}: has a percent-encoding that is not UTF-8"] = None
        elif item is not None:
            value.setdefault(name, []).append(value_of_text(text, item))
        elif name in value:
            problems[f"{label}: is given twice"] = None
        else:
            value[name] = value_of_text(text, shape)
    return value, list(problems)[:PROBLEMS_MAX]


def _decoded(text: str) -> str | None:
    """Decodes percent-encoded UTF-8 with `+` for a space; returns None if it is malformed."""
    if "%" not in text:
        return text.replace("+", " ")
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        return None
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError:
        return None


def _item_of(shape: Shape) -> Shape | None:
    if isinstance(shape, List):
        return shape.items
    if isinstance(shape, Reference):
        return _item_of(shape.target())
    return _item_of(shape.inner) if isinstance(shape, Nullable) else None
