"""ServedEntities are the entities that one shard has open in this process, by the numbers that the shard has given them.

Invariants: what a command has set aside becomes the state by `keep` alone, and is dropped by the next command. An entity that could not be
opened is the fault of its calls.
"""

from __future__ import annotations

from typing import Any, Callable

from . import log_lines
from .call_context import CallContext
from .components import Components
from .errors import Fault, ProtocolError
from .faults import CODE_ERRORS
from .frames import new_answer, put_effect, put_failure
from .mismatch import well_formed
from .open_entity import OpenEntity
from .used_numbers import UsedNumbers


class ServedEntities:
    """The open entities of a stream."""

    def __init__(self, components: Components, send: Callable[[Any], None]) -> None:
        """`send`: sends the frame of an answer."""
        self._components = components
        self._send = send
        self._open: dict[int, OpenEntity | Fault] = {}
        self._sources: dict[int, tuple[str, str]] = {}
        self._numbers = UsedNumbers("entity")
        #: Whether states are compared with their types.
        self.checks = False

    def open(self, frame: Any) -> None:
        """Opens an entity. It is a call if it has a snapshot."""
        number, given = frame.entity, frame.open
        self._numbers.use(number)
        entity = self._components.entities.get(given.component)
        if entity is None:
            raise ProtocolError(f"it has opened an entity of the component '{given.component[:100]}', which is not here")
        self._sources[number] = (f"component {given.component}", entity.event_manifest)
        self._enter(number)
        snapshot = given.snapshot if given.HasField("snapshot") else None
        try:
            self._open[number] = OpenEntity(entity, given.id, snapshot, self.checks)
        except Fault as fault:
            self._open[number] = fault
            if frame.call != 0:
                self._fail(frame.call, fault, "opening")
            return
        if frame.call != 0:
            answer = new_answer(frame.call)
            answer.done.SetInParent()
            self._send(answer)

    def apply(self, frame: Any) -> None:
        """Folds events."""
        try:
            problem = self._entity(frame.entity).apply([(one.manifest, one.json) for one in frame.apply.events])
            answer = new_answer(frame.call)
            if problem is None:
                answer.done.SetInParent()
            else:
                answer.problem.message = well_formed(problem)
            self._send(answer)
        except CODE_ERRORS as error:
            self._fail(frame.call, error, "apply")

    def command(self, frame: Any) -> None:
        """Decides a command."""
        given = frame.command
        try:
            entity = self._entity(frame.entity)
            effect, reply, problem = entity.command(CallContext.of(given.context), given.name, given.input)
            answer = new_answer(frame.call)
            put_effect(answer, effect, self._sources[frame.entity][1], reply, problem)
            self._send(answer)
        except CODE_ERRORS as error:
            self._fail(frame.call, error, f"command '{given.name}'")

    def query(self, frame: Any) -> None:
        """Answers a query."""
        given = frame.query
        try:
            reply = self._entity(frame.entity).query(CallContext.of(given.context), given.name, given.input)
            answer = new_answer(frame.call)
            answer.reply.json = reply
            self._send(answer)
        except CODE_ERRORS as error:
            self._fail(frame.call, error, f"query '{given.name}'")

    def keep(self, frame: Any) -> None:
        """Makes the state that was set aside the state."""
        entity = self._open.get(frame.entity)
        if isinstance(entity, OpenEntity) and not entity.keep():
            self._open[frame.entity] = Fault("trap", "there was no state to keep")

    def snapshot(self, frame: Any) -> None:
        """Answers with the state."""
        try:
            text = self._entity(frame.entity).snapshot()
            answer = new_answer(frame.call)
            answer.state.json = text
            self._send(answer)
        except CODE_ERRORS as error:
            self._fail(frame.call, error, "the snapshot")

    def close(self, frame: Any) -> None:
        """Drops an entity."""
        self._open.pop(frame.entity, None)
        self._sources.pop(frame.entity, None)

    def clear(self) -> None:
        """Drops all entities."""
        self._open.clear()
        self._sources.clear()

    def _fail(self, call: int, error: BaseException, what: str) -> None:
        answer = new_answer(call)
        put_failure(answer, error, what)
        self._send(answer)

    def _entity(self, number: int) -> OpenEntity:
        """Raises Fault if the entity is not open, or could not be opened."""
        entity = self._open.get(number)
        if entity.__class__ is OpenEntity:
            self._enter(number)
            return entity
        if entity is None:
            raise Fault("trap", "a call of an entity that is not open")
        raise entity  # type: ignore[misc]

    def _enter(self, number: int) -> None:
        """Names the source of the lines that the code of the entity logs."""
        log_lines.SOURCE.set(self._sources[number][0])
