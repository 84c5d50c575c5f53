"""FoldedViews computes which rows an event concerns, and what it makes of them.

Invariant: whatever the batches, the same rows come out. Between two events a row passes through its type, as if it had been stored.
"""

from __future__ import annotations

from typing import Any, Final, Sequence

from .codec import STORED_DEPTH_MAX, json_text, parse
from .components import Components
from .errors import CodecError
from .faults import CODE_ERRORS, fault_of
from .handlers import GivenEvent
from .mismatch import well_formed
from .open_entity import decoded_event
from .view import EventContext, FoldContext, RowChange, View

_NO_ROW: Final[Any] = object()
#: Keys of each event, or why one cannot be decoded.
Keys = Sequence[Sequence[str]]


class Unreadable(Exception):
    """A stored event or row that does not decode."""


def keys_of(components: Components, view_id: str, events: Sequence[GivenEvent]) -> Keys:
    """Returns the keys of the rows that each event concerns. Raises Unreadable and Fault."""
    view = components.views[view_id]
    return [_keys_of(view, event) for event in events]


def fold(
    components: Components,
    view_id: str,
    rows: Sequence[tuple[str, str | None]],
    events: Sequence[tuple[GivenEvent, Sequence[int]]],
) -> list[tuple[str, str | None]]:
    """Folds events into rows, each a key and a JSON text. Returns those that have changed. Raises Unreadable and Fault."""
    view = components.views[view_id]
    folded = [_FoldedRow(view, key, text) for key, text in rows]
    for event, concerned in events:
        for index in concerned:
            folded[index].fold(event)
    return [(row.key, row.text) for row in folded if row.is_changed()]


class _FoldedRow:
    """A row while events are folded into it."""

    __slots__ = ("_before", "_is_put", "_value", "_view", "key", "text")

    def __init__(self, view: View[Any], key: str, text: str | None) -> None:
        self._view = view
        self._before = text
        self._is_put = False
        self.key = key
        self.text = text
        self._value: Any = _NO_ROW
        if text is not None:
            try:
                self._value = parse(text, f"row '{key}'")
            except CodecError as error:
                raise Unreadable(str(error)) from None

    def fold(self, event: GivenEvent) -> None:
        view = self._view
        source = view.sources[event.component]
        row = None
        if self._value is not _NO_ROW:
            try:
                row = view.row.decode_value(self._value, "row", STORED_DEPTH_MAX)
            except CodecError as error:
                raise Unreadable(f"row '{self.key}': {error}") from None
        value = _event_of(view, event)
        try:
            assert source.fold is not None
            change = source.fold(row, value, FoldContext(event.id, event.seq, event.time_ms, self.key))
            if not isinstance(change, RowChange):
                raise TypeError("it returned no change of the row: return context.put(row), context.remove() or context.keep()")
            if change.kind != "keep":
                self._is_put = True
                self._value = _NO_ROW if change.kind == "remove" else view.row.encode_value(change.row, "row")
        except CODE_ERRORS as error:
            raise fault_of(f"the fold of view '{view.id}' at {event.label}", error) from error

    def is_changed(self) -> bool:
        """Returns whether the row is another one than before."""
        if not self._is_put:
            return False
        self.text = None if self._value is _NO_ROW else json_text(self._value)
        return self.text != self._before


def _event_of(view: View[Any], event: GivenEvent) -> Any:
    try:
        return decoded_event(view.sources[event.component].entity, event.manifest, event.json)
    except CodecError as error:
        raise Unreadable(f"{event.label}: {error}") from None


def _keys_of(view: View[Any], event: GivenEvent) -> Sequence[str]:
    source = view.sources[event.component]
    if source.keys is None:
        return (event.id,)
    value = _event_of(view, event)
    try:
        found = list(source.keys(value, EventContext(event.id, event.seq, event.time_ms)))
        if not all(isinstance(key, str) for key in found):
            raise TypeError("it returned keys that are no texts")
        return [well_formed(key) for key in found]
    except CODE_ERRORS as error:
        raise fault_of(f"the keys of view '{view.id}' at {event.label}", error) from error
