"""Components: everything that a process serves, checked together, with the descriptor and the schedules and configuration that it has.

Invariant: components that do not fit together are refused when they are made, and not while they are served.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Iterable, Sequence, TypeVar

from .codec import Codec
from .consumer import Consumer
from .due import DeferredCall, Due
from .endpoint import Endpoint, Route
from .entity import Entity
from .errors import DefinitionError
from .shape import record_of
from .type_reader import TypeReader
from .view import View

Values = TypeVar("Values")


class Configuration(Generic[Values]):
    """The values that the operator sets: `configuration = Configuration(Settings, secrets=("api_key",))`."""

    def __init__(self, values: type[Values], *, secrets: Sequence[str] = ()) -> None:
        """`values`: a frozen dataclass. `secrets`: names of its fields that nothing prints."""
        location = "the configuration"
        self.codec = Codec(TypeReader().shape(values, location), location)
        record = record_of(self.codec.shape)
        if record is None:
            raise DefinitionError(f"{location}: it is no frozen dataclass")
        names = {field.attribute: field.name for field in record.fields}
        unknown = next((name for name in secrets if name not in names), None)
        if unknown is not None:
            raise DefinitionError(f"{location}: it has no value '{unknown}', which is to be a secret")
        #: Names in JSON.
        self.secrets = [names[name] for name in secrets]


@dataclass(frozen=True)
class Schedule:
    """A command that the runtime sends again and again: `Schedule("nightly", Due.cron("0 3 * * *"), daily.deferred("main"))`."""

    id: str
    due: Due
    call: DeferredCall

    def __post_init__(self) -> None:
        if not isinstance(self.due, Due) or not isinstance(self.call, DeferredCall):
            raise DefinitionError(f"schedule '{self.id}': it needs a Due, and a call that `deferred` of a command makes")
        if self.due.kind not in ("every", "cron"):
            raise DefinitionError(f"schedule '{self.id}': it is due only once. Write Due.every(...) or Due.cron(...)")


class Components:
    """The components of a process."""

    def __init__(
        self,
        *,
        entities: Iterable[Entity[Any]] = (),
        endpoints: Iterable[Endpoint] = (),
        views: Iterable[View[Any]] = (),
        consumers: Iterable[Consumer] = (),
        schedules: Iterable[Schedule] = (),
        configuration: Configuration[Any] | None = None,
        version: str = "",
    ) -> None:
        """`version`: identifies the code that folds events; with it the runtime stores snapshots. Raises DefinitionError."""
        self.entities: dict[str, Entity[Any]] = _by_id("component", ((one.component, one) for one in entities))
        self.endpoints = list(endpoints)
        self.views: dict[str, View[Any]] = _by_id("view", ((one.id, one) for one in views))
        self.consumers: dict[str, Consumer] = _by_id("consumer", ((one.id, one) for one in consumers))
        self.schedules = list(schedules)
        self.configuration = configuration
        self.version = version
        #: Routes by their number in the descriptor, with their endpoints.
        self.routes: list[tuple[Endpoint, Route]] = [(one, route) for one in self.endpoints for route in one.routes]
        for entity in self.entities.values():
            entity.checked_fold()
        for view in self.views.values():
            view.check()
            self._check_sources(f"view '{view.id}'", [source.entity for source in view.sources.values()])
        for consumer in self.consumers.values():
            if not consumer.sources:
                raise DefinitionError(f"consumer '{consumer.id}': it handles no entity. Register a function with @consumer.on(entity)")
            self._check_sources(f"consumer '{consumer.id}'", [source.entity for source in consumer.sources.values()])

    def entity(self, entity: Entity[Any]) -> Entity[Any]:
        """Returns the entity if it is one of these. Raises LookupError."""
        if self.entities.get(entity.component) is not entity:
            raise LookupError(f"component '{entity.component}' is none of this service's entities")
        return entity

    def view(self, view: View[Any]) -> View[Any]:
        """Returns the view if it is one of these. Raises LookupError."""
        if self.views.get(view.id) is not view:
            raise LookupError(f"view '{view.id}' is none of this service's views")
        return view

    def _check_sources(self, location: str, entities: list[Entity[Any]]) -> None:
        for entity in entities:
            if self.entities.get(entity.component) is not entity:
                raise DefinitionError(f"{location}: the entity '{entity.component}' is none of this service's entities. Add it to the entities")


def _by_id(kind: str, given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in given:
        if name in found:
            raise DefinitionError(f"{kind} '{name}': it is given twice")
        found[name] = one
    return found
