"""Codec reads values of one type from JSON text, and writes them as JSON text. Its closures are made once, when the type is read.

Invariants: an encoded value decodes to the same value, with its texts, dates and durations in their normal form. Unknown fields are
skipped. Recursion is limited.
"""

from __future__ import annotations

import json
import json.encoder
from typing import Any, Callable, Final

from .errors import CodecError, DefinitionError
from .mismatch import Mismatch
from .shape import Shape
from .shape_codec import converters_of

#: Maximum nesting of objects and lists in values that callers send.
SENT_DEPTH_MAX: Final = 100
#: Maximum nesting of objects and lists in stored values.
STORED_DEPTH_MAX: Final = 200


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


_decoder: Final[Any] = json.JSONDecoder(parse_constant=_refuse_constant)
_encoder: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
_make_encoder: Final[Any] = getattr(json.encoder, "c_make_encoder", None)


def _text_function() -> Callable[[Any], str]:
    """Returns the function that writes JSON. `JSONEncoder.encode` makes the same encoder for each value."""
    if _make_encoder is None:
        return _encoder.encode
    encode = _make_encoder(None, _encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, False)
    return lambda value: "".join(encode(value, 0))


#: Writes a value of JSON as text, as every other SDK writes it.
json_text: Final = _text_function()


def _loads(text: str) -> Any:
    try:
        value, end = _decoder.scan_once(text, 0)
        if end == len(text):
            return value
    except StopIteration:
        pass
    # There is white space, or the text is no JSON.
    return _decoder.decode(text)


def parse(text: str, label: str) -> Any:
    """Parses JSON text. Raises CodecError."""
    try:
        return _loads(text)
    except RecursionError:
        raise CodecError(f"{label}: is nested too deep") from None
    except ValueError as error:
        raise CodecError(f"{label}: is not JSON: {error}") from None


class Codec:
    """Reads and writes values of one type."""

    __slots__ = ("_decode", "_encode", "shape")

    def __init__(self, shape: Shape, location: str) -> None:
        """`location` names the type in a problem. Raises DefinitionError if a default does not fit."""
        self.shape = shape
        try:
            self._decode, self._encode = converters_of(shape)
        except Mismatch as error:
            raise DefinitionError(f"{location}: a default does not fit: {error.text('it')}") from None

    def decode(self, text: str, label: str, depth: int = SENT_DEPTH_MAX) -> Any:
        """Decodes JSON text. `label` names the whole value in a problem. Raises CodecError."""
        return self.decode_value(parse(text, label), label, depth)

    def decode_value(self, value: Any, label: str, depth: int = SENT_DEPTH_MAX) -> Any:
        """Decodes a value as `json.loads` returns it. Raises CodecError."""
        try:
            return self._decode(value, depth)
        except Mismatch as error:
            raise CodecError(error.text(label)) from None
        except RecursionError:
            raise CodecError(f"{label}: is nested too deep") from None

    def encode_value(self, value: Any, label: str) -> Any:
        """Encodes a value as `json.loads` would return it. Raises CodecError."""
        try:
            return self._encode(value, STORED_DEPTH_MAX)
        except Mismatch as error:
            raise CodecError(error.text(label)) from None
        except RecursionError:
            raise CodecError(f"{label}: is nested too deep") from None

    def encode(self, value: Any, label: str) -> str:
        """Encodes a value as JSON text. Raises CodecError."""
        return json_text(self.encode_value(value, label))
