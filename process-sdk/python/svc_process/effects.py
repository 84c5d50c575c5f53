"""Effects: the contexts of an entity's handlers, and the result of a command, which only the context of a command can make.

Events, inputs of timers and replies that are passed as values are encoded at once.
"""

from __future__ import annotations

import random as random_module
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable, Generic, NoReturn, TypeVar

from .codec import json_text
from .due import DeferredCall, Due, Timer
from .refusal import Refusal

if TYPE_CHECKING:
    from .call_context import CallContext
    from .entity import Handler

Reply = TypeVar("Reply")


class Effect(Generic[Reply]):
    """The result of a command: changes and a reply, executed completely or not at all. The context of a command makes it."""

    __slots__ = ("deletes", "events", "later", "reply", "timers")

    def __init__(
        self,
        events: list[tuple[Any, str]],
        deletes: bool,
        timers: list[Timer | str],
        reply: str | None,
        later: Callable[[Any], Any] | None,
    ) -> None:
        """`events`: each as `json.loads` would return it, and as JSON text. `timers`: those that are set, and the names of those that are
        cancelled. `later`: computes the reply from the state after the events.
        """
        self.events = events
        self.deletes = deletes
        self.timers = timers
        self.reply = reply
        self.later = later


class QueryContext:
    """Context of a query, and the part that the context of a command shares."""

    __slots__ = ("_call", "_random", "entity_id")

    def __init__(self, entity_id: str, call: CallContext) -> None:
        self.entity_id = entity_id
        self._call = call
        self._random: random_module.Random | None = None

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z, recorded for this call."""
        return self._call.now_ms

    @property
    def now(self) -> datetime:
        """The time of this call, in UTC."""
        return datetime.fromtimestamp(self._call.now_ms / 1000, timezone.utc)

    @property
    def seed(self) -> int:
        """64 random bits, recorded for this call."""
        return self._call.seed

    @property
    def random(self) -> random_module.Random:
        """Random numbers from the seed. Use them instead of those of the module `random`."""
        if self._random is None:
            self._random = random_module.Random(self._call.seed)
        return self._random

    def metadata(self, name: str) -> str | None:
        """Returns metadata of the request, such as `traceparent`; None if there is none."""
        return self._call.metadata_of(name)

    def refuse(
        self, message: str, code: str = "BAD_REQUEST", *, details: Any = None, other_code: str = ""
    ) -> NoReturn:
        """Raises a refusal."""
        raise Refusal(message, code, details=details, other_code=other_code)


class CommandContext(QueryContext):
    """Context of a command. Its methods only make the result: nothing is persisted, deleted, set or replied unless the command returns it."""

    __slots__ = ("_handler",)

    def __init__(self, entity_id: str, call: CallContext, handler: Handler[Any]) -> None:
        self.entity_id = entity_id
        self._call = call
        self._random = None
        self._handler = handler

    def persist(self, *events: Any) -> Change:
        """Persists these events in this order, all or none."""
        return Change(self._handler).then_persist(*events)

    def delete_entity(self) -> Change:
        """Deletes the entity; the same id starts again from the empty state."""
        return Change(self._handler).then_delete()

    def set_timer(self, name: str, due: Due, call: DeferredCall, attempts: int | None = None) -> Change:
        """Sets a timer of this entity and persists nothing: see `Change.then_set_timer`."""
        return Change(self._handler).then_set_timer(name, due, call, attempts)

    def cancel_timer(self, name: str) -> Change:
        """Cancels a timer of this entity, if there is one of this name, and persists nothing."""
        return Change(self._handler).then_cancel_timer(name)

    def reply(self, value: Any = None) -> Effect[Any]:
        """Replies without persisting an event."""
        return Change(self._handler).then_reply(value)


class Change:
    """Events that a command persists, whether it deletes the entity, and changes of the entity's timers. `then_reply` and its variants make the
    effect of it.
    """

    __slots__ = ("_deletes", "_events", "_handler", "_timers")

    def __init__(self, handler: Handler[Any]) -> None:
        self._handler = handler
        self._events: list[tuple[Any, str]] = []
        self._deletes = False
        self._timers: list[Timer | str] = []

    def then_persist(self, *events: Any) -> Change:
        """Adds events."""
        codec = self._handler.entity.event
        for event in events:
            value = codec.encode_value(event, "event")
            self._events.append((value, json_text(value)))
        return self

    def then_delete(self) -> Change:
        """Deletes the entity after the events. Its timers are cancelled, except those that this change sets."""
        self._deletes = True
        return self

    def then_set_timer(self, name: str, due: Due, call: DeferredCall, attempts: int | None = None) -> Change:
        """Sets a timer of this entity: `then_set_timer("expire", Due.after(timedelta(minutes=15)), expire.deferred(context.entity_id))`. It replaces
        the timer of the same name.
        """
        self._timers.append(Timer(name, due, call, attempts))
        return self

    def then_cancel_timer(self, name: str) -> Change:
        """Cancels a timer of this entity, if there is one of this name."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a timer is a text, found {type(name).__name__}")
        self._timers.append(name)
        return self

    def then_reply(self, value: Any = None) -> Effect[Any]:
        """Replies with this value once the events are on disk."""
        return self._effect(reply_text(self._handler, value), None)

    def then_reply_state(self) -> Effect[Any]:
        """Replies with the state after the events, once they are on disk."""
        return self._effect(None, lambda state: state)

    def then_reply_from(self, compute: Callable[[Any], Any]) -> Effect[Any]:
        """Replies with what `compute` returns for the state after the events, once they are on disk."""
        return self._effect(None, compute)

    def _effect(self, reply: str | None, later: Callable[[Any], Any] | None) -> Effect[Any]:
        # The effect copies the lists, so that later additions to the change do not reach the runtime.
        return Effect([*self._events], self._deletes, [*self._timers], reply, later)


def reply_text(handler: Handler[Any], value: Any) -> str:
    """Encodes a reply; `null` for a handler without one. Raises CodecError."""
    if handler.reply is None:
        if value is not None:
            raise TypeError(f"'{handler.name}' has no reply, found one of {type(value).__name__}")
        return "null"
    return handler.reply.encode(value, "reply")
