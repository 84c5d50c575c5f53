"""FrozenMap: a mapping that nobody can change, for fields of states and other values."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenMap(Mapping[Key, Value]):
    """A mapping like a dict, with the order of its keys, that cannot be changed. `with_(key, value)` returns a new one."""

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        self._values: dict[Key, Value] = dict(values)
        self._hash: int | None = None

    def with_(self, key: Key, value: Value) -> FrozenMap[Key, Value]:
        """Returns a copy in which the key has the value."""
        return FrozenMap({**self._values, key: value})

    def without(self, key: Key) -> FrozenMap[Key, Value]:
        """Returns a copy without the key."""
        return FrozenMap({known: value for known, value in self._values.items() if known != key})

    def __getitem__(self, key: Key) -> Value:
        return self._values[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._values.items()))
        return self._hash

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, FrozenMap):
            return self._values == other._values
        return isinstance(other, Mapping) and self._values == dict(other)

    def __repr__(self) -> str:
        return f"FrozenMap({self._values!r})"
