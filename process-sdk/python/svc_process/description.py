"""Description describes a shape as a type of a module descriptor.

Cases of unions, and types that contain themselves, become named types of the descriptor. The name of a case is derived from where
the union was first used, as in the descriptors of other SDKs.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .markers import SAFE_INTEGER_MAX
from .shape import (
    REQUIRED,
    Boolean,
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
    target_of,
)

_DESCRIPTION_MAX: Final = 2000
_NAME_MAX: Final = 200

Schema = dict[str, Any]


class Description:
    """The types of one descriptor."""

    def __init__(self) -> None:
        self.types: dict[str, Schema] = {}
        self._names: dict[int, str] = {}

    def of(self, shape: Shape, name: str) -> Schema:
        """Returns the type of a shape. `name`: prefix of the names of the types that are made for the shape."""
        schema = self._plain(shape, name)
        if shape.description is None:
            return schema
        return {**schema, "description": shape.description[:_DESCRIPTION_MAX]}

    def _plain(self, shape: Shape, name: str) -> Schema:
        if isinstance(shape, Text):
            form = {"contentEncoding": "base64"} if shape.form == "base64" else {"format": shape.form}
            return {
                "type": "string",
                **({} if shape.form is None else form),
                **({} if shape.values is None else {"enum": list(shape.values)}),
            }
        if isinstance(shape, Boolean):
            return {"type": "boolean"}
        if isinstance(shape, Integer):
            if shape.is_big:
                return {"type": ["integer", "string"], "format": "uint64" if shape.min >= 0 else "int64"}
            return {"type": "integer", "minimum": shape.min, "maximum": shape.max}
        if isinstance(shape, Number):
            return {"type": "number", "format": "double"}
        if isinstance(shape, Null):
            return {"type": "null"}
        if isinstance(shape, List):
            return {"type": "array", "items": self.of(shape.items, name)}
        if isinstance(shape, Map):
            return {"type": "object", "additionalProperties": self.of(shape.values, name)}
        if isinstance(shape, Record):
            return self._record(shape, name)
        if isinstance(shape, Nullable):
            return {"anyOf": [self.of(shape.inner, name), {"type": "null"}]}
        if isinstance(shape, Union):
            cases = [self._reference(target_of(one), f"{name}.{tag}") for tag, one in shape.cases.items()]
            return {"oneOf": cases, "discriminator": {"propertyName": "type"}}
        assert isinstance(shape, Reference)
        return self._reference(shape.target(), shape.name)

    def _record(self, shape: Record, name: str) -> Schema:
        tagged: Schema = {} if shape.tag is None else {"type": {"const": shape.tag}}
        fields = {field.name: self.of(field.shape, f"{name}.{field.name}") for field in shape.fields}
        required = [field.name for field in shape.fields if field.default is REQUIRED]
        aliases = {field.name: list(field.aliases) for field in shape.fields if field.aliases}
        return {
            "type": "object",
            "properties": {**tagged, **fields},
            "required": [*tagged, *required],
            **({} if not aliases else {"aliases": aliases}),
        }

    def _reference(self, shape: Shape, wish: str) -> Schema:
        name = self._names.get(id(shape))
        if name is None:
            name = self._free_name(wish)
            self._names[id(shape)] = name
            # The name is reserved before the type is described, since the type may contain itself.
            self.types[name] = {"type": "null"}
            self.types[name] = self.of(shape, name)
        return {"$ref": f"#/types/{name}"}

    def _free_name(self, wish: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_$.<>, -]", "_", wish)[: _NAME_MAX - 5]
        name = plain if re.match(r"[A-Za-z_$]", plain) else f"_{plain}"
        if name not in self.types:
            return name
        number = 2
        while f"{name}-{number}" in self.types:
            number += 1
        return f"{name}-{number}"


def is_scalar_default(value: Any, schema: Schema) -> bool:
    """Returns whether a descriptor can express the default of a query parameter or a configuration value, in its JSON form."""
    inner = schema["anyOf"][0] if "anyOf" in schema else schema
    if "items" in inner:
        return isinstance(value, list) and len(value) <= 100 and all(is_scalar_default(one, inner["items"]) for one in value)
    if isinstance(value, str):
        return len(value) <= 200 and inner.get("type") in ("string", ["integer", "string"])
    if isinstance(value, bool):
        return inner.get("type") == "boolean"
    if isinstance(value, int):
        return inner.get("type") in ("integer", "number", ["integer", "string"]) and abs(value) <= SAFE_INTEGER_MAX
    return isinstance(value, float) and inner.get("type") == "number"
