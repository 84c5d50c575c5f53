"""Clients: typed calls of entities, as handlers make them. Their calls carry the metadata of the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Coroutine, Generic, Sequence, TypeVar

from .codec import STORED_DEPTH_MAX
from .entity import Entity, Handler
from .errors import CodecError
from .host_calls import Headers, HostCalls
from .open_entity import decoded_event

Reply = TypeVar("Reply")
Row = TypeVar("Row")
Value = TypeVar("Value")

#: Runs a coroutine from the thread of a handler that is not async, and returns its result.
Run = Callable[[Coroutine[Any, Any, Any]], Any]


@dataclass(frozen=True)
class RecordedEvent:
    """An event as the journal has it."""

    #: Number in the history of the entity: 1, 2, 3 …
    seq: int
    #: When it was recorded, in milliseconds since 1970-01-01T00:00:00Z.
    time_ms: int
    event: Any


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows that a query has found, in its order."""

    rows: Sequence[Row]
    #: Pass it to the same query to get the next page; None: this is the last one.
    cursor: str | None
    #: Time of the newest event that the rows have; None: there is none.
    as_of_ms: int | None


@dataclass(frozen=True)
class RowCount:
    """The number of rows of a query."""

    #: The number of rows, or 10,000 if there are more.
    count: int
    has_more: bool
    #: As in a Page.
    as_of_ms: int | None


class EntityClient:
    """Calls of one entity in an async handler: `await context.entity(cart, id).call(add_item, body)`."""

    __slots__ = ("_calls", "_entity", "_key", "_metadata", "id")

    def __init__(self, calls: HostCalls, metadata: Headers, entity: Entity[Any], id: str, key: str | None) -> None:
        if not isinstance(id, str):
            raise TypeError(f"the id of an entity is a text, found {type(id).__name__}")
        self._calls = calls
        self._metadata = metadata
        self._entity = entity
        self._key = key
        self.id = id

    def with_idempotency_key(self, key: str) -> EntityClient:
        """Returns a client whose commands carry the key: a command is executed once, however often it is sent."""
        return EntityClient(self._calls, self._metadata, self._entity, self.id, key)

    async def call(self, handler: Handler[Reply], *input: Any) -> Reply:
        """Calls a command or a query, with its input if it takes one, and returns its reply. The events of a command are then on disk. Raises
        Refusal if the entity refuses, CallFailed if the call failed, and CodecError if the input or the reply does not fit.
        """
        entity = self._entity
        if handler.entity is not entity:
            raise TypeError(f"'{handler.name}' of component '{handler.entity.component}' is none of component '{entity.component}'")
        text = handler.input_text(input)
        reply = await self._calls.call(entity.component, self.id, handler.name, text, self._metadata, self._key)
        codec = handler.reply
        return codec.decode(reply, "reply", STORED_DEPTH_MAX) if codec is not None else None  # type: ignore[return-value]

    async def events(self, after_seq: int = 0, limit: int = 100) -> list[RecordedEvent]:
        """Returns events of the entity's present incarnation after `after_seq`, oldest first, at most `limit` (1 to 1,000)."""
        if type(after_seq) is not int or after_seq < 0:
            raise ValueError(f"after_seq is a whole number from 0 on, found {after_seq!r}")
        if type(limit) is not int or not 1 <= limit <= 1_000:
            raise ValueError(f"limit is a whole number from 1 to 1,000, found {limit!r}")
        component = self._entity.component
        records = await self._calls.read_events(component, self.id, after_seq, limit)
        found: list[RecordedEvent] = []
        for seq, time_ms, manifest, text in records:
            try:
                found.append(RecordedEvent(seq, time_ms, decoded_event(self._entity, manifest, text)))
            except CodecError as error:
                raise CodecError(f"event {seq} of entity '{self.id}' of component '{component}' does not decode: {error}") from None
        return found


class BlockingEntityClient:
    """Calls of one entity in a handler that is not async. Its methods are those of EntityClient, and return when they are done."""

    __slots__ = ("_client", "_run", "id")

    def __init__(self, client: EntityClient, run: Run) -> None:
        self._client = client
        self._run = run
        self.id = client.id

    def with_idempotency_key(self, key: str) -> BlockingEntityClient:
        """Returns a client whose commands carry the key: a command is executed once, however often it is sent."""
        return BlockingEntityClient(self._client.with_idempotency_key(key), self._run)

    def call(self, handler: Handler[Reply], *input: Any) -> Reply:
        """Calls a command or a query. See `EntityClient.call`."""
        reply: Reply = self._run(self._client.call(handler, *input))
        return reply

    def events(self, after_seq: int = 0, limit: int = 100) -> list[RecordedEvent]:
        """Returns events of the entity. See `EntityClient.events`."""
        found: list[RecordedEvent] = self._run(self._client.events(after_seq, limit))
        return found
