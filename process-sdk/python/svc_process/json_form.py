"""JsonForm: the JSON form of a value whose type is known only once the value is there, such as the details of a refusal."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

from .codec import SENT_DEPTH_MAX, Codec
from .mismatch import well_formed
from .type_reader import TypeReader


def json_form(value: Any, label: str, depth: int = SENT_DEPTH_MAX) -> Any:
    """Returns a copy of the value as `json.loads` would return it. A value of a type that the SDK knows has the form that it has in an event.
    `label` names the value in a problem. Raises TypeError or ValueError if it has no JSON form.
    """
    if depth <= 0:
        raise ValueError(f"{label}: is nested too deep")
    kind = type(value)
    if value is None or kind in (bool, int):
        return value
    if kind is str:
        return well_formed(value)
    if kind is float:
        if not math.isfinite(value):
            raise ValueError(f"{label}: {value} is no number of JSON")
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"{label}: the keys of an object are texts")
        return {well_formed(key): json_form(item, label, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_form(item, label, depth - 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((json_form(item, label, depth - 1) for item in value), key=repr)
    return _codec_of(kind).encode_value(value, label)


@functools.lru_cache(maxsize=256)
def _codec_of(kind: type) -> Codec:
    return Codec(TypeReader().shape(kind, kind.__name__), kind.__name__)
