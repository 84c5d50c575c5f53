"""Entity: an event-sourced entity. Its types are read from the type hints of its functions when these are registered."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from typing import Any, Callable, Generic, TypeVar

from .codec import Codec
from .due import DeferredCall
from .effects import Effect
from .errors import DefinitionError
from .type_reader import TypeReader, hints_of

State = TypeVar("State")
Reply = TypeVar("Reply")
Fold = TypeVar("Fold", bound=Callable[..., Any])


class Handler(Generic[Reply]):
    """A command or a query of an entity. It is called through a client: `await context.entity(cart, id).call(add_item, body)`."""

    __slots__ = ("entity", "function", "input", "kind", "name", "reply")

    def __init__(
        self,
        entity: Entity[Any],
        kind: str,
        name: str,
        function: Callable[..., Any],
        input: Codec | None,
        reply: Codec | None,
    ) -> None:
        self.entity = entity
        self.kind = kind
        self.name = name
        self.function = function
        #: None: the handler takes no input.
        self.input = input
        #: None: the handler has no reply.
        self.reply = reply

    def input_text(self, given: tuple[Any, ...]) -> str:
        """Returns the JSON of the input, of which there is one if the handler takes one. Raises CodecError."""
        if self.input is None:
            if given:
                raise TypeError(f"'{self.name}' of component '{self.entity.component}' takes no input")
            return "null"
        if len(given) != 1:
            raise TypeError(f"'{self.name}' of component '{self.entity.component}' takes one input")
        return self.input.encode(given[0], "input")

    def deferred(self, entity_id: str, *input: Any) -> DeferredCall:
        """Returns a call of this command for a timer: `expire.deferred(context.entity_id)`."""
        return DeferredCall(self.entity.component, entity_id, self.name, self.input_text(input))


class Entity(Generic[State]):
    """An event-sourced entity: `cart = Entity("shopping-cart", CartState, events=CartEvent)`."""

    def __init__(
        self,
        component: str,
        state: type[State],
        *,
        events: Any,
        empty: Callable[[str], State] | None = None,
        state_manifest: str | None = None,
        event_manifest: str | None = None,
    ) -> None:
        """`component`: id of the component, which is stored, and is part of addresses. `state`: a frozen dataclass. `events`: a union of
        frozen dataclasses. `empty`: returns the state of an entity without events; without it, the state has a default for each field.
        The manifests name the types in the journal. Without them they are the component with `-state` and `-event`.
        """
        location = f"component '{component}'"
        self.component = component
        self.state_manifest = state_manifest or f"{component}-state"
        self.event_manifest = event_manifest or f"{component}-event"
        self.reader = TypeReader()
        self.state_type = state
        if not (isinstance(state, type) and dataclasses.is_dataclass(state)):
            raise DefinitionError(f"{location}, state: it is no frozen dataclass: write @dataclass(frozen=True)")
        self.state = Codec(self.reader.record(state, None, f"{location}, state"), f"{location}, state")
        events_location = f"{location}, event"
        self.event = Codec(self.reader.union(_cases_of(events), events_location), events_location)
        self.handlers: dict[str, Handler[Any]] = {}
        self.empty = empty or _from_defaults(state, location)
        self.fold: Callable[[Any, Any], Any] | None = None

    def apply(self, function: Fold) -> Fold:
        """Registers the function that returns the state after an event. It decides nothing."""
        if self.fold is not None:
            raise DefinitionError(f"component '{self.component}': apply is registered twice")
        _check_plain(function, f"component '{self.component}', apply", 2)
        self.fold = function
        return function

    def command(self, name: str) -> Callable[[Callable[..., Effect[Reply]]], Handler[Reply]]:
        """Registers a command: a function of the state, of its input if it takes one, and of the context, which returns an effect. Its input and its
        reply are described by its type hints: `def add_item(state: Cart, input: AddItem, context: CommandContext) -> Effect[CartView]`.
        """

        def register(function: Callable[..., Effect[Reply]]) -> Handler[Reply]:
            return self._add("command", name, function)

        return register

    def query(self, name: str) -> Callable[[Callable[..., Reply]], Handler[Reply]]:
        """Registers a query: a function of the state, of its input if it takes one, and of the context, which returns its reply."""

        def register(function: Callable[..., Reply]) -> Handler[Reply]:
            return self._add("query", name, function)

        return register

    def checked_fold(self) -> Callable[[Any, Any], Any]:
        """Returns the function that was registered with `apply`."""
        if self.fold is None:
            raise DefinitionError(f"component '{self.component}': it has no apply. Register a function with @entity.apply")
        return self.fold

    def _add(self, kind: str, name: str, function: Callable[..., Any]) -> Handler[Any]:
        location = f"component '{self.component}', {kind} '{name}'"
        if name in self.handlers:
            raise DefinitionError(f"{location}: the name is taken. Give it another name")
        count = _check_plain(function, location, 2, 3)
        hints = hints_of(function, location)
        input_codec = None
        if count == 3:
            parameter = list(inspect.signature(function).parameters)[1]
            if parameter not in hints:
                raise DefinitionError(f"{location}: its parameter '{parameter}' has no type: write {parameter}: AddItem")
            where = f"{location}, input"
            input_codec = Codec(self.reader.shape(hints[parameter], where), where)
        reply = self._reply_of(kind, hints.get("return", inspect.Parameter.empty), location)
        handler: Handler[Any] = Handler(self, kind, name, function, input_codec, reply)
        self.handlers[name] = handler
        return handler

    def _reply_of(self, kind: str, hint: Any, location: str) -> Codec | None:
        if hint is inspect.Parameter.empty:
            wanted = "Effect[None]" if kind == "command" else "CartView"
            raise DefinitionError(f"{location}: it has no type of what it returns: write -> {wanted}")
        if kind == "command":
            if typing.get_origin(hint) is not Effect:
                raise DefinitionError(f"{location}: a command returns an effect: write -> Effect[None], or the type of its reply in it")
            (hint,) = typing.get_args(hint)
            if hint is type(None):
                return None
        where = f"{location}, reply"
        return Codec(self.reader.shape(hint, where), where)


def _cases_of(events: Any) -> tuple[type, ...]:
    if type(events).__name__ == "TypeAliasType":
        events = events.__value__
    if isinstance(events, (tuple, list)):
        return tuple(events)
    if typing.get_origin(events) in (typing.Union, types.UnionType):
        return typing.get_args(events)
    return (events,)


def _from_defaults(state: Any, location: str) -> Callable[[str], Any]:
    def empty(_entity_id: str) -> Any:
        return state()

    required = [
        one.name
        for one in dataclasses.fields(state)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    if required:
        raise DefinitionError(
            f"{location}: its empty state is not known, because '{required[0]}' has no default. Give it one, or pass empty=lambda id: ..."
        )
    return empty


def _check_plain(function: Callable[..., Any], location: str, *counts: int) -> int:
    """Returns the number of parameters. Raises DefinitionError for a function that is async, or takes others."""
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise DefinitionError(f"{location}: it is decided at once, and cannot be async or a generator")
    count = len(inspect.signature(function).parameters)
    if count not in counts:
        wanted = " or ".join(str(one) for one in counts)
        raise DefinitionError(f"{location}: it takes {wanted} parameters, found {count}")
    return count
