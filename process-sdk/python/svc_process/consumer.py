"""Consumer: code that runs for each event of entities, such as a call of another entity."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Callable, Final, Literal, TypeVar

from .due import whole_ms
from .entity import Entity
from .errors import DefinitionError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Verdict:
    """The decision about an event. `DONE`, `retry` and `skip` make it."""

    kind: Literal["done", "retry", "skip"]
    reason: str = ""
    after_ms: int | None = None


#: Settles the event.
DONE: Final = Verdict("done")


def retry(reason: str, after: timedelta | None = None) -> Verdict:
    """Has the event handled again, after the pause or a growing one. The reason is for the operator. Later events of the entity wait."""
    return Verdict("retry", _text(reason), None if after is None else whole_ms(after))


def skip(reason: str) -> Verdict:
    """Settles the event without having handled it. The reason is recorded for the operator."""
    return Verdict("skip", _text(reason))


def _text(reason: str) -> str:
    if not isinstance(reason, str):
        raise TypeError(f"the reason of a verdict is a text, found {type(reason).__name__}")
    return reason


@dataclass(frozen=True)
class ConsumerSource:
    """An entity whose events a consumer handles."""

    entity: Entity[Any]
    function: Callable[..., Any]
    is_async: bool


class Consumer:
    """Handles events, each at least once: `bookkeeping = Consumer("bookkeeping", start="beginning")`."""

    def __init__(self, id: str, *, start: Literal["beginning", "now"]) -> None:
        """`start`: the first event of each entity that a new consumer receives: the entity's first one, or the next one."""
        if start not in ("beginning", "now"):
            raise DefinitionError(f"consumer '{id}': it does not say where it starts. Write start=\"beginning\" or start=\"now\"")
        self.id = id
        self.start = start
        self.sources: dict[str, ConsumerSource] = {}

    def on(self, entity: Entity[Any]) -> Callable[[Function], Function]:
        """Registers the function that handles the events of an entity, which may be async: `async def book(event: OrderEvent, context:
        ConsumerContext) -> Verdict`. A refusal is final: the entity's events wait at this one until an operator has it tried again or skipped. So is
        an error that is raised.
        """

        def register(function: Function) -> Function:
            location = f"consumer '{self.id}'"
            if not isinstance(entity, Entity):
                raise DefinitionError(f"{location}: it is registered for what is no Entity")
            if entity.component in self.sources:
                raise DefinitionError(f"{location}: '{entity.component}' is registered twice. Handle all of its events in one function")
            count = len(inspect.signature(function).parameters)
            if count != 2:
                raise DefinitionError(f"{location}: its function takes an event and a context, found {count} parameters")
            self.sources[entity.component] = ConsumerSource(entity, function, inspect.iscoroutinefunction(function))
            return function

        return register
