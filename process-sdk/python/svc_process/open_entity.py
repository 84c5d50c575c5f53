"""OpenEntity: one live entity. An error of its code is a fault, and concerns no other entity.

Invariants: a state is computed from stored events alone. A state that is set aside becomes the state by `keep` alone. The code of a program
receives a refusal as its own error, and any other as a Fault.
"""

from __future__ import annotations

from typing import Any, Final, Sequence

from .call_context import CallContext
from .codec import STORED_DEPTH_MAX
from .effects import CommandContext, Effect, QueryContext, reply_text
from .entity import Entity, Handler
from .errors import CodecError
from .faults import CODE_ERRORS, fault_of
from .refusal import Refusal

_NOTHING: Final[Any] = object()


class OpenEntity:
    """A live entity."""

    __slots__ = ("_aside", "_checks", "_entity", "_fold", "_id", "_state")

    def __init__(self, entity: Entity[Any], entity_id: str, snapshot: str | None, checks: bool) -> None:
        """`checks`: whether each state is compared with its type after `apply`. Raises Fault."""
        self._entity = entity
        self._id = entity_id
        self._fold = entity.checked_fold()
        self._checks = checks
        self._aside: Any = _NOTHING
        try:
            text = entity.state.encode(entity.empty(entity_id), "state") if snapshot is None else snapshot
            self._state = entity.state.decode(text, "state", STORED_DEPTH_MAX)
        except CODE_ERRORS as error:
            raise fault_of(f"the empty state of component '{entity.component}'" if snapshot is None else self._label("its state"), error) from error

    @property
    def state(self) -> Any:
        """The state without what is set aside."""
        return self._state

    def apply(self, events: Sequence[tuple[str, str]]) -> str | None:
        """Folds events, each a manifest and a JSON text. Returns why one cannot be decoded. Raises Fault."""
        self._aside = _NOTHING
        state = self._state
        count = len(events)
        for index, (manifest, text) in enumerate(events):
            try:
                event = decoded_event(self._entity, manifest, text)
            except CodecError as error:
                return f"event {index + 1} of {count}: {error}"
            state = self._applied(state, event)
        self._state = state
        return None

    def keep(self) -> bool:
        """Makes the state that was set aside the state. Returns whether there was one."""
        aside = self._aside
        if aside is _NOTHING:
            return False
        self._state = aside
        self._aside = _NOTHING
        return True

    def command(self, call: CallContext, name: str, text: str) -> tuple[Effect[Any], str, str | None]:
        """Decides a command, and sets the state after its events aside. Returns the effect, the JSON of the reply, and why an event does not
        decode. Raises Refusal and Fault.
        """
        self._aside = _NOTHING
        handler = self._handler("command", name)
        try:
            if handler.input is None:
                effect = handler.function(self._state, CommandContext(self._id, call, handler))
            else:
                effect = handler.function(self._state, self._input(handler, text), CommandContext(self._id, call, handler))
            if effect.__class__ is not Effect:
                raise TypeError(
                    "it returned no effect: return context.persist(...).then_reply(...) or context.reply(...), or raise a Refusal"
                )
        except Refusal:
            raise
        except CODE_ERRORS as error:
            raise fault_of(self._label(f"command '{name}'"), error) from error
        problem = None
        state = self._state
        if effect.events:
            try:
                state = self._folded(effect)
                self._aside = state
            except CodecError as error:
                problem = str(error)
        if effect.reply is not None:
            return effect, effect.reply, problem
        if problem is not None:
            return effect, "", problem
        try:
            assert effect.later is not None
            return effect, reply_text(handler, effect.later(state)), None
        except CODE_ERRORS as error:
            raise fault_of(self._label(f"the reply of command '{name}'"), error) from error

    def query(self, call: CallContext, name: str, text: str) -> str:
        """Returns the JSON of the reply. Raises Refusal and Fault."""
        self._aside = _NOTHING
        handler = self._handler("query", name)
        try:
            if handler.input is None:
                reply = handler.function(self._state, QueryContext(self._id, call))
            else:
                reply = handler.function(self._state, self._input(handler, text), QueryContext(self._id, call))
            return reply_text(handler, reply)
        except Refusal:
            raise
        except CODE_ERRORS as error:
            raise fault_of(self._label(f"query '{name}'"), error) from error

    def snapshot(self) -> str:
        """Returns the JSON of the state. Raises Fault."""
        try:
            return self._entity.state.encode(self._state, "state")
        except CODE_ERRORS as error:
            raise fault_of(self._label("its state"), error) from error

    def _folded(self, effect: Effect[Any]) -> Any:
        """Folds the events of an effect, decoded from their stored form. Raises CodecError for one that does not decode."""
        state = self._state
        decode = self._entity.event.decode_value
        for index, (value, _) in enumerate(effect.events):
            event = decode(value, f"event {index + 1} of {len(effect.events)}", STORED_DEPTH_MAX)
            state = self._applied(state, event)
        return state

    def _applied(self, state: Any, event: Any) -> Any:
        try:
            after = self._fold(state, event)
            if after.__class__ is not self._entity.state_type:
                raise TypeError(f"it returned no {self._entity.state_type.__name__}: return the state after the event")
            if self._checks:
                self._entity.state.encode_value(after, "state")
            return after
        except CODE_ERRORS as error:
            raise fault_of(self._label("apply"), error) from error

    def _handler(self, kind: str, name: str) -> Handler[Any]:
        handler = self._entity.handlers.get(name)
        if handler is None or handler.kind != kind:
            raise Refusal(f"component '{self._entity.component}' has no {kind} '{name}'", "NOT_FOUND")
        return handler

    @staticmethod
    def _input(handler: Handler[Any], text: str) -> Any:
        assert handler.input is not None
        try:
            return handler.input.decode(text, "input")
        except CodecError as error:
            raise Refusal(str(error)) from None

    def _label(self, what: str) -> str:
        return f"{what} of component '{self._entity.component}'"


def decoded_event(entity: Entity[Any], manifest: str, text: str) -> Any:
    """Decodes an event of an entity. Raises CodecError if the entity's type does not accept it."""
    if manifest != entity.event_manifest:
        raise CodecError(f"its manifest is '{manifest}', this component stores '{entity.event_manifest}'")
    return entity.event.decode(text, "event", STORED_DEPTH_MAX)
