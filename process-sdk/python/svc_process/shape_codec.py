"""ShapeCodec makes the closures that convert what `json.loads` returns into values of a program, and back, as a shape describes.

Invariant: a closure looks at its shape once, when it is made. Every conversion makes fresh values.
"""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Final

from .frozen_map import FrozenMap
from .markers import SAFE_INTEGER_MAX
from .mismatch import Mismatch, gathered, mismatch, well_formed
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

#: Converts a value. The second parameter is the number of levels of nesting that are still allowed. Raises Mismatch.
Convert = Callable[[Any, int], Any]
Converters = tuple[Convert, Convert]

_ABSENT: Final[Any] = object()
_DIGITS: Final = re.compile(r"-?(0|[1-9][0-9]{0,19})", re.ASCII)


def converters_of(shape: Shape) -> Converters:
    """Returns the functions that decode and encode values of the shape. Raises Mismatch if a default does not fit."""
    return _Converters().of(shape)


class _Converters:
    def __init__(self) -> None:
        #: Converters by the shapes of types that contain themselves.
        self._references: dict[int, Converters] = {}

    def of(self, shape: Shape) -> Converters:
        if isinstance(shape, Text):
            return _text(shape)
        if isinstance(shape, Boolean):
            return _boolean, _boolean
        if isinstance(shape, Integer):
            return _integer(shape)
        if isinstance(shape, Number):
            return _number(shape)
        if isinstance(shape, Null):
            return _null, _null
        if isinstance(shape, List):
            return _list(shape, *self.of(shape.items))
        if isinstance(shape, Map):
            return _map(*self.of(shape.values))
        if isinstance(shape, Nullable):
            return _nullable(*self.of(shape.inner))
        if isinstance(shape, Record):
            return self._record(shape)
        if isinstance(shape, Union):
            return self._union(shape)
        assert isinstance(shape, Reference)
        return self._reference(shape)

    def _reference(self, shape: Reference) -> Converters:
        def converters() -> Converters:
            target = shape.target()
            found = self._references.get(id(target))
            if found is None:
                found = self.of(target)
                self._references[id(target)] = found
            return found

        return (
            lambda value, depth: converters()[0](value, depth),
            lambda value, depth: converters()[1](value, depth),
        )

    def _record(self, shape: Record) -> Converters:
        converted = [(field, *self.of(field.shape)) for field in shape.fields]
        for field, _, encode in converted:
            if field.has_default and not isinstance(field.shape, Reference):
                try:
                    encode(field.default, 100)
                except Mismatch as error:
                    raise error.within(field.name) from None
        decoders = tuple((field, field.name, field.attribute, decode) for field, decode, _ in converted)
        encoders = tuple((field.name, field.attribute, encode) for field, _, encode in converted)
        return _record_decoder(shape, decoders), _record_encoder(shape, encoders)

    def _union(self, shape: Union) -> Converters:
        by_tag: dict[Any, Convert] = {}
        by_class: dict[type, Convert] = {}
        for tag, record in shape.cases.items():
            by_tag[tag], by_class[shape.classes[tag]] = self.of(record)
        known = " or ".join(f'"{tag}"' for tag in shape.cases)
        classes = " or ".join(cls.__name__ for cls in by_class)

        def decode(value: Any, depth: int) -> Any:
            if type(value) is not dict:
                mismatch("an object", value)
            tag = value.get("type", _ABSENT)
            if tag is _ABSENT:
                raise Mismatch("is missing").within("type")
            case = by_tag.get(tag) if type(tag) is str else None
            if case is None:
                try:
                    mismatch(known, tag)
                except Mismatch as error:
                    raise error.within("type") from None
            return case(value, depth)

        def encode(value: Any, depth: int) -> Any:
            case = by_class.get(value.__class__)
            if case is None:
                mismatch(f"one of {classes}", value)
            return case(value, depth)

        return decode, encode


def _record_decoder(shape: Record, parts: tuple[tuple[Field, str, str, Convert], ...]) -> Convert:
    cls = shape.cls
    create: Callable[[type], Any] = object.__new__
    is_plain = not hasattr(cls, "__post_init__") and not hasattr(cls, "__slots__")

    def decode(value: Any, depth: int) -> Any:
        if type(value) is not dict:
            mismatch("an object", value)
        if depth <= 0:
            raise Mismatch("is nested too deep")
        depth -= 1
        problems: Mismatch | None = None
        values: dict[str, Any] = {}
        for field, name, attribute, convert in parts:
            given = value.get(name, _ABSENT)
            try:
                if given is _ABSENT:
                    values[attribute] = _left_out(field, value, convert, depth)
                elif field.aliases:
                    _check_aliases(field, value)
                    values[attribute] = convert(given, depth)
                else:
                    values[attribute] = convert(given, depth)
            except Mismatch as error:
                problems = gathered(problems, error.within(name))
        if problems is not None:
            raise problems
        if is_plain:
            made = create(cls)
            made.__dict__.update(values)
            return made
        try:
            return cls(**values)
        except ValueError as error:
            raise Mismatch(str(error)) from None

    return decode


def _left_out(field: Field, value: dict[str, Any], convert: Convert, depth: int) -> Any:
    """Returns the value of a field that is not there under its own name."""
    found = [alias for alias in field.aliases if alias in value]
    if found:
        if len(found) > 1:
            raise Mismatch(f"is given twice: '{found[0]}' and '{found[1]}' are names of one field")
        return convert(value[found[0]], depth)
    if field.default is REQUIRED:
        raise Mismatch("is missing")
    return field.default


def _check_aliases(field: Field, value: dict[str, Any]) -> None:
    other = next((alias for alias in field.aliases if alias in value), None)
    if other is not None:
        raise Mismatch(f"is given twice: '{field.name}' and '{other}' are names of one field")


def _record_encoder(shape: Record, parts: tuple[tuple[str, str, Convert], ...]) -> Convert:
    cls, tag = shape.cls, shape.tag

    def encode(value: Any, depth: int) -> Any:
        if value.__class__ is not cls:
            mismatch(f"a {cls.__name__}", value)
        if depth <= 0:
            raise Mismatch("is nested too deep")
        depth -= 1
        record: dict[str, Any] = {} if tag is None else {"type": tag}
        for name, attribute, convert in parts:
            try:
                record[name] = convert(getattr(value, attribute), depth)
            except Mismatch as error:
                raise error.within(name)
        return record

    return encode


def _text(shape: Text) -> Converters:
    values, to_value, to_text = shape.values, shape.to_value, shape.to_text
    pattern, low, high = shape.pattern, shape.length_min, shape.length_max
    known = None if values is None else " or ".join(f'"{value}"' for value in values)

    def check(value: str) -> None:
        if not low <= len(value) <= (len(value) if high is None else high):
            raise Mismatch(f"must have {_range_text(low, high)} characters, found {len(value)}")
        if pattern is not None and pattern.search(value) is None:
            mismatch(f"text like {pattern.pattern}", value)

    has_rules = low > 0 or high is not None or pattern is not None

    def decode(value: Any, _depth: int) -> Any:
        if type(value) is not str:
            mismatch(known or "a string", value)
        if not value.isascii() and well_formed(value) is not value:
            raise Mismatch("is not Unicode text: it has half of a surrogate pair")
        if has_rules:
            check(value)
        if values is not None:
            if value not in values:
                mismatch(known or "", value)
            return values[value]
        return value if to_value is None else to_value(value)

    def encode(value: Any, _depth: int) -> Any:
        if to_text is not None:
            try:
                return to_text(value)
            except TypeError as error:
                raise Mismatch(str(error)) from None
        if not isinstance(value, str) or (values is not None and value not in values):
            mismatch(known or "a string", value)
        text = value if value.isascii() else well_formed(value)
        if has_rules:
            check(text)
        return text

    return decode, encode


def _boolean(value: Any, _depth: int) -> Any:
    return value if value is True or value is False else mismatch("true or false", value)


def _null(value: Any, _depth: int) -> Any:
    return value if value is None else mismatch("null", value)


def _integer(shape: Integer) -> Converters:
    low, high = shape.min, shape.max
    if shape.is_big:
        words = f"an integer up to {SAFE_INTEGER_MAX} in magnitude or a string of one, from {low} to {high}"
    else:
        words = f"an integer from {low} to {high}"

    def safe(value: Any) -> Any:
        """Returns the integer of a number, which may be written as 2.0."""
        if type(value) is float and value.is_integer():
            value = int(value)
        return value if type(value) is int and -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX else None

    def decode(value: Any, _depth: int) -> Any:
        if type(value) is int and low <= value <= high and -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX:
            return value
        found = int(value) if shape.is_big and type(value) is str and _DIGITS.fullmatch(value) else safe(value)
        return found if found is not None and low <= found <= high else mismatch(words, value)

    def encode(value: Any, _depth: int) -> Any:
        if type(value) is not int or not low <= value <= high:
            mismatch(words, value)
        return value if -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX else str(value)

    return decode, encode


def _number(shape: Number) -> Converters:
    low, high, above, below = shape.min, shape.max, shape.above, shape.below
    bounds = ((low, "from"), (above, "above"), (high, "up to"), (below, "below"))
    words = " ".join(["a number", *(f"{word} {bound}" for bound, word in bounds if bound is not None)])

    def check(value: Any) -> float:
        if type(value) is int and abs(value) < 2**1023:
            value = float(value)
        is_number = (
            type(value) is float
            and math.isfinite(value)
            and (low is None or value >= low)
            and (above is None or value > above)
            and (high is None or value <= high)
            and (below is None or value < below)
        )
        if not is_number:
            mismatch(words, value)
        found: float = value
        return found

    def encode(value: Any, _depth: int) -> Any:
        found = check(value)
        # A whole number is written without a fraction, as in other languages.
        return int(found) if found.is_integer() and abs(found) <= SAFE_INTEGER_MAX else found

    return lambda value, _depth: check(value), encode


def _nullable(decode: Convert, encode: Convert) -> Converters:
    return (
        lambda value, depth: None if value is None else decode(value, depth),
        lambda value, depth: None if value is None else encode(value, depth),
    )


def _list(shape: List, decode: Convert, encode: Convert) -> Converters:
    low, high, kind = shape.items_min, shape.items_max, frozenset if shape.is_set else tuple

    def items(value: Any, convert: Convert, depth: int) -> list[Any]:
        if len(value) < low or (high is not None and len(value) > high):
            raise Mismatch(f"must have {_range_text(low, high)} items, found {len(value)}")
        if depth <= 0:
            raise Mismatch("is nested too deep")
        depth -= 1
        problems: Mismatch | None = None
        found: list[Any] = []
        for item in value:
            try:
                found.append(convert(item, depth))
            except Mismatch as error:
                problems = gathered(problems, error.within(len(found)))
                found.append(None)
        if problems is not None:
            raise problems
        return found

    def decode_list(value: Any, depth: int) -> Any:
        if type(value) is not list:
            mismatch("a list", value)
        return kind(items(value, decode, depth))

    def encode_list(value: Any, depth: int) -> Any:
        if value.__class__ is not kind:
            mismatch(f"a {kind.__name__}", value)
        found = items(value, encode, depth)
        return sorted(found, key=repr) if shape.is_set else found

    return decode_list, encode_list


def _map(decode: Convert, encode: Convert) -> Converters:
    def mapped(value: Any, convert: Convert, depth: int) -> dict[str, Any]:
        if depth <= 0:
            raise Mismatch("is nested too deep")
        depth -= 1
        problems: Mismatch | None = None
        found: dict[str, Any] = {}
        for key, item in value.items():
            try:
                if type(key) is not str or well_formed(key) is not key:
                    raise Mismatch("is no key: it is not Unicode text")
                found[key] = convert(item, depth)
            except Mismatch as error:
                problems = gathered(problems, error.within(well_formed(str(key))))
        if problems is not None:
            raise problems
        return found

    def decode_map(value: Any, depth: int) -> Any:
        return FrozenMap(mapped(value, decode, depth)) if type(value) is dict else mismatch("an object", value)

    def encode_map(value: Any, depth: int) -> Any:
        return mapped(value, encode, depth) if value.__class__ is FrozenMap else mismatch("a FrozenMap", value)

    return decode_map, encode_map


def _range_text(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {low}"
    return str(low) if low == high else f"{low} to {high}"
