"""Markers of types: rules and names that stand in `Annotated[...]`, and the types of integers that have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Callable, Final, TypeVar

SAFE_INTEGER_MAX: Final = 2**53 - 1


@dataclass(frozen=True)
class Range:
    """Range of a number: `Annotated[int, Range(min=1, max=100)]`. `above` and `below` are for floats alone."""

    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True)
class Length:
    """Length of a text in characters, or of a tuple in items: `Annotated[str, Length(1, 100)]`."""

    min: int = 0
    max: int | None = None


@dataclass(frozen=True)
class Pattern:
    """Regular expression that a text matches somewhere: `Annotated[str, Pattern("^[a-z]+$")]`."""

    regex: str


#: Markers that values are checked by.
RULES: Final = (Range, Length, Pattern)


@dataclass(frozen=True)
class Name:
    """Name of a field in JSON, in place of that in camelCase; and other names that are read as the field."""

    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """Description of a type in the OpenAPI document."""

    text: str


@dataclass(frozen=True)
class _PlainText:
    """Marks a body that is text and no JSON."""


Int32 = Annotated[int, Range(-(2**31), 2**31 - 1)]
UInt32 = Annotated[int, Range(0, 2**32 - 1)]
#: In JSON a number up to 2^53 - 1 in magnitude, and a text of digits beyond.
Int64 = Annotated[int, Range(-(2**63), 2**63 - 1)]
UInt64 = Annotated[int, Range(0, 2**64 - 1)]
#: Type of a body or a reply that is text, and no JSON.
PlainText = Annotated[str, _PlainText()]

Class = TypeVar("Class", bound=type)

_TAG = "__svc_tag__"


def tag(name: str) -> Callable[[Class], Class]:
    """Names the case of a class in a union: `@tag("item-added")`. Without it the name of the class is used, in kebab-case."""

    def mark(cls: Class) -> Class:
        setattr(cls, _TAG, name)
        return cls

    return mark


def tag_of(cls: type) -> str:
    """Returns the case name of a class: `ItemAdded` as `item-added`."""
    own = cls.__dict__.get(_TAG)
    return own if isinstance(own, str) else kebab_case(cls.__name__)


def kebab_case(name: str) -> str:
    """`ItemAdded` and `item_added` → `item-added`"""
    text = ""
    for index, letter in enumerate(name):
        before = name[index - 1] if index > 0 else ""
        after = name[index + 1] if index + 1 < len(name) else ""
        is_start = letter.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower()))
        text += f"-{letter}" if is_start else letter
    return text.replace("_", "-").lower()


def camel_case(name: str) -> str:
    """`checked_out` → `checkedOut`"""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)
