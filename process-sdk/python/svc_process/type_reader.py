"""TypeReader reads the type hints of a program into shapes.

Invariants: the values of every type that it takes are immutable, so that a state which is set aside cannot be seen or changed before
it is kept. A rule in `Annotated` is checked for each value, or refused here: none is skipped, and no name.
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
from typing import Annotated, Any, Callable, Final, Iterable, Literal, Sequence

from . import text_forms
from .errors import DefinitionError
from .frozen_map import FrozenMap
from .markers import RULES, SAFE_INTEGER_MAX, Description, Length, Name, Pattern, Range, camel_case, tag_of
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
#: Calls of a default_factory that find one whose values differ, such as the time.
_FACTORY_CALLS: Final = 20
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

    def shape(self, hint: Any, location: str, outer: Sequence[Any] = (), *, is_field: bool = False) -> Shape:
        """Returns the shape of a type. `location` names the type in a problem. `outer`: rules that stand beside a type around this one. `is_field`:
        whether it is the type of a field, which may have a name. Raises DefinitionError.
        """
        hint, own = _plain_hint(hint)
        markers = [*own, *outer]
        if not is_field and any(isinstance(one, Name) for one in own):
            raise DefinitionError(f"{location}: Name(...) is for the type of a field of a dataclass, as a whole")
        rules = _Rules(markers, location, is_field)
        shape = self._plain(hint, rules, location)
        rules.check_used(hint)
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
            return rules.number()
        if hint in _FORMS:
            form, to_value, to_text = _FORMS[hint]
            return Text(form=form, to_value=to_value, to_text=to_text)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is Literal:
            return _literal(arguments, location)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _enumeration(hint, location)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments, rules, location)
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

    def _union(self, arguments: tuple[Any, ...], rules: _Rules, location: str) -> Shape:
        others = tuple(one for one in arguments if one is not type(None))
        if len(others) < len(arguments):
            if len(others) > 1:
                return Nullable(self._union(others, rules, location))
            return Nullable(self.shape(others[0], location, rules.passed_on(), is_field=rules.is_field))
        if all(typing.get_origin(one) is Literal for one in others):
            return _literal(tuple(value for one in others for value in typing.get_args(one)), location)
        return self.union(others, location)

    def _list(self, origin: Any, arguments: tuple[Any, ...], rules: _Rules, location: str) -> Shape:
        if origin is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
            raise DefinitionError(f"{location}: a tuple of several types has no JSON form here: use a dataclass, or tuple[X, ...]")
        items = self.shape(arguments[0], f"{location}[]")
        return List(items, *rules.length(), is_set=origin is frozenset)

    def _fields(self, cls: type, tag: str | None, location: str) -> tuple[Field, ...]:
        hints = hints_of(cls, location)
        found: list[Field] = []
        names: set[str] = {"type"} if tag is not None else set()
        for one in dataclasses.fields(cls):
            path = f"{location}.{one.name}"
            if not one.init:
                raise DefinitionError(f"{path}: a field with init=False cannot be read from JSON")
            hint = hints[one.name]
            marker = _name_of(hint, path) or Name(camel_case(one.name))
            for name in (marker.name, *marker.aliases):
                if name in names:
                    raise DefinitionError(f"{path}: the name '{name}' is taken in JSON. Give the field another one with Name(...)")
                names.add(name)
            shape = self.shape(hint, path, is_field=True)
            default, has_default = one.default, True
            if default is dataclasses.MISSING:
                if one.default_factory is not dataclasses.MISSING:
                    default = _same_default(one.default_factory, path)
                else:
                    default, has_default = (None if isinstance(shape, Nullable) else REQUIRED), False
            found.append(Field(one.name, marker.name, shape, marker.aliases, default, has_default))
        return tuple(found)


class _Rules:
    """The rules that stand beside a type. Of several of one kind the narrowest bounds hold."""

    def __init__(self, markers: Sequence[Any], location: str, is_field: bool) -> None:
        self._location = location
        #: Whether they stand beside the type of a field.
        self.is_field = is_field
        self._unused = [one for one in markers if isinstance(one, RULES)]

    def number(self) -> Number:
        ranges = self._taken(Range)
        return Number(
            _highest(one.min for one in ranges),
            _lowest(one.max for one in ranges),
            _highest(one.above for one in ranges),
            _lowest(one.below for one in ranges),
        )

    def integer(self) -> Integer:
        ranges = self._taken(Range)
        bounds = [bound for one in ranges for bound in (one.min, one.max) if bound is not None]
        if any(one.above is not None or one.below is not None for one in ranges) or any(bound % 1 != 0 for bound in bounds):
            raise DefinitionError(f"{self._location}: the range of an integer has whole numbers as min and max, and no above or below")
        low = int(max((one.min for one in ranges if one.min is not None), default=-SAFE_INTEGER_MAX))
        high = int(min((one.max for one in ranges if one.max is not None), default=SAFE_INTEGER_MAX))
        if low < _INT64_MIN or high > _UINT64_MAX or low > high:
            raise DefinitionError(f"{self._location}: the range of an integer is within 64 bits, found {low} to {high}")
        return Integer(low, high, is_big=low < -SAFE_INTEGER_MAX or high > SAFE_INTEGER_MAX)

    def text(self) -> Text:
        low, high = self.length()
        patterns = self._taken(Pattern)
        if len(patterns) > 1:
            raise DefinitionError(f"{self._location}: it has two patterns: write one Pattern(...)")
        return Text(length_min=low, length_max=high, pattern=re.compile(patterns[0].regex) if patterns else None)

    def length(self) -> tuple[int, int | None]:
        """Returns the least and the greatest length."""
        lengths = self._taken(Length)
        return max((one.min for one in lengths), default=0), _lowest(one.max for one in lengths)

    def passed_on(self) -> Sequence[Any]:
        """Returns the rules, which the type within `... | None` checks."""
        rules, self._unused = self._unused, []
        return rules

    def check_used(self, hint: Any) -> None:
        """Raises DefinitionError for a rule that no value of the type is checked by."""
        if self._unused:
            raise DefinitionError(f"{self._location}: {type(self._unused[0]).__name__} is no rule of the type {_label(hint)}")

    def _taken(self, kind: type) -> list[Any]:
        taken = [one for one in self._unused if isinstance(one, kind)]
        self._unused = [one for one in self._unused if not isinstance(one, kind)]
        return taken


_FORMS: Final[dict[Any, tuple[str, Any, Any]]] = {
    datetime: ("date-time", text_forms.date_time_of, text_forms.date_time_text),
    Decimal: ("decimal", text_forms.decimal_of, text_forms.decimal_text),
    timedelta: ("duration", text_forms.duration_of, text_forms.duration_text),
    bytes: ("base64", text_forms.bytes_of, text_forms.bytes_text),
}


def _highest(bounds: Iterable[Any]) -> Any:
    return max((one for one in bounds if one is not None), default=None)


def _lowest(bounds: Iterable[Any]) -> Any:
    return min((one for one in bounds if one is not None), default=None)


def hints_of(owner: Any, location: str) -> dict[str, Any]:
    """Returns the type hints of a class or function. Raises DefinitionError if one names a type that cannot be found."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise DefinitionError(f"{location}: {error}. Define the types at the top of a module") from error


def _same_default(factory: Callable[[], Any], path: str) -> Any:
    """Returns what the factory of a default makes. It is one value for all that are read: a replay has to make the same one."""
    default = factory()
    # An object without an equality of its own is compared by what it shows.
    if any(again != default and repr(again) != repr(default) for again in (factory() for _ in range(_FACTORY_CALLS))):
        raise DefinitionError(f"{path}: its default_factory makes another value each time. Make the value in the handler, and pass it")
    return default


def _check_class(cls: type, location: str) -> None:
    parameters = cls.__dict__.get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        raise DefinitionError(f"{location}: {cls.__name__} can be changed in place: write @dataclass(frozen=True)")
    if not parameters.init:
        raise DefinitionError(f"{location}: {cls.__name__} has a constructor of its own, which cannot be called with what was read")


def _plain_hint(hint: Any) -> tuple[Any, list[Any]]:
    """Returns the type without `Annotated` and aliases, and the markers that stood beside it."""
    markers: list[Any] = []
    while True:
        if typing.get_origin(hint) is Annotated:
            hint, *more = typing.get_args(hint)
            markers = [*more, *markers]
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint, markers


def _name_of(hint: Any, path: str) -> Name | None:
    """Returns the name beside the type of a field, or beside the type within its `... | None`."""
    names: list[Name] = []
    while True:
        hint, markers = _plain_hint(hint)
        names.extend(one for one in markers if isinstance(one, Name))
        others = [one for one in typing.get_args(hint) if one is not type(None)]
        if typing.get_origin(hint) not in (typing.Union, types.UnionType) or len(others) != 1:
            break
        (hint,) = others
    if len(names) > 1:
        raise DefinitionError(f"{path}: it has two names: write one Name(...)")
    return names[0] if names else None


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

