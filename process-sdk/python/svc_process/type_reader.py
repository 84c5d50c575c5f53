"""TypeReader reads the type hints of a program into shapes.

Invariant: the values of every type that it takes are immutable, so that a state which is set aside cannot be seen or changed before
it is kept.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from . import text_forms
from .errors import DefinitionError
from .frozen_map import FrozenMap
from .markers import SAFE_INTEGER_MAX, Description, Length, Name, Pattern, Range, camel_case, tag_of
from .shape import (
    REQUIRED,
    Boolean,
    Field,
    Integer,
    List,
    Map,
    Null,
    Nullable,
    Number,
    Record,
    Reference,
    Shape,
    Text,
    Union,
)

_INT64_MIN: Final = -(2**63)
_UINT64_MAX: Final = 2**64 - 1
_MUTABLE: Final[dict[Any, str]] = {
    list: "a list can be changed in place: use tuple[..., ...]",
    dict: "a dict can be changed in place: use svc_process.FrozenMap[str, ...]",
    set: "a set can be changed in place: use frozenset[...]",
    bytearray: "a bytearray can be changed in place: use bytes",
    Mapping: "a Mapping may be one that can be changed in place: use svc_process.FrozenMap[str, ...]",
}


class TypeReader:
    """Reads types. A class that is read twice has one shape for each case name."""

    def __init__(self) -> None:
        self._records: dict[tuple[type, str | None], Record] = {}
        self._open: dict[tuple[type, str | None], Reference] = {}
        self._recursive: dict[tuple[type, str | None], Reference] = {}

    def shape(self, hint: Any, location: str) -> Shape:
        """Returns the shape of a type. `location` names the type in a problem. Raises DefinitionError."""
        markers: list[Any] = []
        while True:
            if typing.get_origin(hint) is Annotated:
                hint, *more = typing.get_args(hint)
                markers = [*more, *markers]
            elif type(hint).__name__ == "TypeAliasType":
                hint = hint.__value__
            else:
                break
        shape = self._plain(hint, _Rules(markers, location), location)
        text = next((one.text for one in markers if isinstance(one, Description)), None)
        return shape if text is None else dataclasses.replace(shape, description=text)

    def record(self, cls: type, tag: str | None, location: str) -> Shape:
        """Returns the shape of a frozen dataclass, as the case `tag` of a union if there is one."""
        key = (cls, tag)
        if key in self._open:
            return self._recursive.setdefault(key, self._open[key])
        if key not in self._records:
            _check_class(cls, location)
            self._open[key] = Reference(cls.__name__, lambda: self._records[key])
            try:
                self._records[key] = Record(cls, self._fields(cls, tag, location), tag)
            finally:
                del self._open[key]
        return self._recursive.get(key, self._records[key])

    def union(self, classes: tuple[type, ...], location: str) -> Union:
        """Returns the shape of a union of frozen dataclasses."""
        cases: dict[str, Shape] = {}
        by_tag: dict[str, type] = {}
        for cls in classes:
            if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
                raise DefinitionError(f"{location}: {_label(cls)} is no frozen dataclass, as a case of a union has to be")
            name = tag_of(cls)
            if name in cases:
                raise DefinitionError(f"{location}: the case '{name}' is there twice. Give one another name with @tag(...)")
            cases[name] = self.record(cls, name, f"{location}, case '{name}'")
            by_tag[name] = cls
        return Union(cases, by_tag)

    def _plain(self, hint: Any, rules: _Rules, location: str) -> Shape:
        if hint is None or hint is type(None):
            return Null()
        if hint is str:
            return rules.text()
        if hint is bool:
            return Boolean()
        if hint is int:
            return rules.integer()
        if hint is float:
            return Number(rules.min, rules.max, rules.above, rules.below)
        if hint in _FORMS:
            form, to_value, to_text = _FORMS[hint]
            return Text(form=form, to_value=to_value, to_text=to_text)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is Literal:
            return _literal(arguments, location)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _enumeration(hint, location)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments, location)
        if origin in (tuple, frozenset):
            return self._list(origin, arguments, rules, location)
        if origin is FrozenMap:
            if arguments[0] is not str:
                raise DefinitionError(f"{location}: the keys of a FrozenMap are of str")
            return Map(self.shape(arguments[1], f"{location}{{}}"))
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and origin is None:
            return self.record(hint, None, location)
        why = _MUTABLE.get(origin or hint)
        raise DefinitionError(f"{location}: {why or f'{_label(hint)} has no JSON form that the SDK knows'}")

    def _union(self, arguments: tuple[Any, ...], location: str) -> Shape:
        others = tuple(one for one in arguments if one is not type(None))
        if len(others) < len(arguments):
            return Nullable(self._union(others, location) if len(others) > 1 else self.shape(others[0], location))
        if all(typing.get_origin(one) is Literal for one in others):
            return _literal(tuple(value for one in others for value in typing.get_args(one)), location)
        return self.union(others, location)

    def _list(self, origin: Any, arguments: tuple[Any, ...], rules: _Rules, location: str) -> Shape:
        if origin is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
            raise DefinitionError(f"{location}: a tuple of several types has no JSON form here: use a dataclass, or tuple[X, ...]")
        items = self.shape(arguments[0], f"{location}[]")
        length = rules.length
        return List(items, length.min, length.max, is_set=origin is frozenset)

    def _fields(self, cls: type, tag: str | None, location: str) -> tuple[Field, ...]:
        hints = hints_of(cls, location)
        found: list[Field] = []
        names: set[str] = {"type"} if tag is not None else set()
        for one in dataclasses.fields(cls):
            path = f"{location}.{one.name}"
            if not one.init:
                raise DefinitionError(f"{path}: a field with init=False cannot be read from JSON")
            hint = hints[one.name]
            marker = _marker(hint, Name) or Name(camel_case(one.name))
            for name in (marker.name, *marker.aliases):
                if name in names:
                    raise DefinitionError(f"{path}: the name '{name}' is taken in JSON. Give the field another one with Name(...)")
                names.add(name)
            shape = self.shape(hint, path)
            default, has_default = one.default, True
            if default is dataclasses.MISSING:
                if one.default_factory is not dataclasses.MISSING:
                    default = one.default_factory()
                else:
                    default, has_default = (None if isinstance(shape, Nullable) else REQUIRED), False
            found.append(Field(one.name, marker.name, shape, marker.aliases, default, has_default))
        return tuple(found)


class _Rules:
    """The rules that stand beside a type."""

    def __init__(self, markers: list[Any], location: str) -> None:
        self._location = location
        ranges = next((one for one in markers if isinstance(one, Range)), Range())
        self.min, self.max, self.above, self.below = ranges.min, ranges.max, ranges.above, ranges.below
        self.length = next((one for one in markers if isinstance(one, Length)), Length())
        self.pattern = next((one for one in markers if isinstance(one, Pattern)), None)

    def text(self) -> Text:
        regex = None if self.pattern is None else re.compile(self.pattern.regex)
        return Text(length_min=self.length.min, length_max=self.length.max, pattern=regex)

    def integer(self) -> Integer:
        low = int(-SAFE_INTEGER_MAX if self.min is None else self.min)
        high = int(SAFE_INTEGER_MAX if self.max is None else self.max)
        if low < _INT64_MIN or high > _UINT64_MAX or low > high:
            raise DefinitionError(f"{self._location}: the range of an integer is within 64 bits, found {low} to {high}")
        return Integer(low, high, is_big=low < -SAFE_INTEGER_MAX or high > SAFE_INTEGER_MAX)


_FORMS: Final[dict[Any, tuple[str, Any, Any]]] = {
    datetime: ("date-time", text_forms.date_time_of, text_forms.date_time_text),
    Decimal: ("decimal", text_forms.decimal_of, text_forms.decimal_text),
    timedelta: ("duration", text_forms.duration_of, text_forms.duration_text),
    bytes: ("base64", text_forms.bytes_of, text_forms.bytes_text),
}


def hints_of(owner: Any, location: str) -> dict[str, Any]:
    """Returns the type hints of a class or function. Raises DefinitionError if one names a type that cannot be found."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise DefinitionError(f"{location}: {error}. Define the types at the top of a module") from error


def _check_class(cls: type, location: str) -> None:
    parameters = cls.__dict__.get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        raise DefinitionError(f"{location}: {cls.__name__} can be changed in place: write @dataclass(frozen=True)")
    if not parameters.init:
        raise DefinitionError(f"{location}: {cls.__name__} has a constructor of its own, which cannot be called with what was read")


def _marker(hint: Any, kind: type) -> Any:
    if typing.get_origin(hint) is not Annotated:
        return None
    return next((one for one in typing.get_args(hint)[1:] if isinstance(one, kind)), None)


def _literal(values: tuple[Any, ...], location: str) -> Text:
    if not values or not all(isinstance(value, str) for value in values):
        raise DefinitionError(f"{location}: the values of a Literal are texts")
    return Text(values={value: value for value in values})


def _enumeration(cls: type[enum.Enum], location: str) -> Text:
    if not all(isinstance(one.value, str) for one in cls):
        raise DefinitionError(f"{location}: the values of the Enum {cls.__name__} are texts")

    def text(value: Any) -> str:
        return value.value if isinstance(value, cls) else _literal_text(value)

    return Text(values={one.value: one for one in cls}, to_text=text)


def _literal_text(value: Any) -> str:
    raise TypeError(f"{value!r} is no member of the Enum")


def _label(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)

