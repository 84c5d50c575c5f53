"""Shape: the JSON form of a type, in the closed set of forms that a descriptor can express.

A type is read into a shape once; values are decoded, encoded and described by their shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Final, Mapping


@dataclass(eq=False)
class Shape:
    """Base of all shapes. Two shapes are the same only if they are one object."""

    description: str | None = field(default=None, kw_only=True)


@dataclass(eq=False)
class Text(Shape):
    """A text. `to_value` and `to_text` convert it to the value of the program, where that is none."""

    form: str | None = None
    values: Mapping[str, Any] | None = None
    length_min: int = 0
    length_max: int | None = None
    pattern: re.Pattern[str] | None = None
    to_value: Callable[[str], Any] | None = None
    to_text: Callable[[Any], str] | None = None


@dataclass(eq=False)
class Boolean(Shape):
    """true or false."""


@dataclass(eq=False)
class Integer(Shape):
    """An integer. `is_big`: a number in JSON up to 2^53 - 1 in magnitude, a text of digits beyond."""

    min: int
    max: int
    is_big: bool = False


@dataclass(eq=False)
class Number(Shape):
    """A float."""

    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(eq=False)
class Null(Shape):
    """Nothing."""


@dataclass(eq=False)
class List(Shape):
    """A list. `is_set`: a set, whose items are written in the order of their JSON texts."""

    items: Shape
    items_min: int = 0
    items_max: int | None = None
    is_set: bool = False


@dataclass(eq=False)
class Map(Shape):
    """An object with any keys."""

    values: Shape


@dataclass(eq=False)
class Nullable(Shape):
    """A value, or null."""

    inner: Shape


REQUIRED: Final[Any] = object()


@dataclass(eq=False)
class Field:
    """A field of a record. `default`: its value in the program where it is left out, or REQUIRED."""

    attribute: str
    name: str
    shape: Shape
    aliases: tuple[str, ...]
    default: Any
    #: Whether the dataclass itself has the default.
    has_default: bool


@dataclass(eq=False)
class Record(Shape):
    """A frozen dataclass. `tag`: value of the field `type` in a case of a union."""

    cls: type
    fields: tuple[Field, ...] = ()
    tag: str | None = None


@dataclass(eq=False)
class Union(Shape):
    """Cases by the value of the field `type`: records, or references to them."""

    cases: dict[str, Shape] = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)


@dataclass(eq=False)
class Reference(Shape):
    """A type that contains itself."""

    name: str
    target: Callable[[], Shape]


def target_of(shape: Shape) -> Shape:
    """Resolves a reference to its shape; returns any other shape unchanged."""
    return shape.target() if isinstance(shape, Reference) else shape


def record_of(shape: Shape) -> Record | None:
    """Returns the record that a value is read into, behind references and null; None for any other shape."""
    if isinstance(shape, Record):
        return shape
    if isinstance(shape, Reference):
        return record_of(shape.target())
    return record_of(shape.inner) if isinstance(shape, Nullable) else None
