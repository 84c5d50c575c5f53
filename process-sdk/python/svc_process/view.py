"""View: rows that are folded from the events of entities, and the queries by which handlers find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Generic, Literal, Sequence, TypeVar

from .codec import Codec
from .entity import Entity, _check_plain
from .errors import DefinitionError
from .type_reader import TypeReader

Row = TypeVar("Row")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class EventContext:
    """The data of an event besides its value."""

    entity_id: str
    #: Number of the event in the history of its entity, from 1.
    seq: int
    #: When it was recorded, in milliseconds since 1970-01-01T00:00:00Z.
    time_ms: int


class RowChange(Generic[Row]):
    """The change of a row by an event. The context of `fold` makes it."""

    __slots__ = ("kind", "row")

    def __init__(self, kind: Literal["put", "remove", "keep"], row: Row | None = None) -> None:
        self.kind = kind
        self.row = row


@dataclass(frozen=True)
class FoldContext(EventContext):
    """Context of `fold`."""

    #: Key of the row.
    key: str

    def put(self, row: Row) -> RowChange[Row]:
        """Stores the row under its key, in place of the row that is there."""
        return RowChange("put", row)

    def remove(self) -> RowChange[Any]:
        """Removes the row, if there is one."""
        return RowChange("remove")

    def keep(self) -> RowChange[Any]:
        """Leaves the row as it is."""
        return RowChange("keep")


@dataclass
class ViewSource:
    """An entity whose events are folded into the rows of a view."""

    entity: Entity[Any]
    fold: Callable[..., Any] | None = None
    keys: Callable[..., Any] | None = None


@dataclass(frozen=True)
class ViewQuery(Generic[Row]):
    """A query of a view: `await context.find(of_status, ByStatus("paid"), limit=50)`."""

    view: View[Row]
    name: str
    where: str
    parameters: Codec | None

    def input_text(self, given: tuple[Any, ...]) -> str:
        """Returns the JSON of the parameters. Raises CodecError."""
        if (self.parameters is None) != (not given):
            raise TypeError(f"query '{self.name}' of view '{self.view.id}' takes {'no' if self.parameters is None else 'its'} parameters")
        return "{}" if self.parameters is None else self.parameters.encode(given[0], "parameters")


class View(Generic[Row]):
    """Rows under keys: `orders = View("orders", OrderRow, version="1")`."""

    def __init__(self, id: str, row: type[Row], *, version: str, indexes: Sequence[Sequence[str]] = ()) -> None:
        """`version`: version of the functions `keys` and `fold`. Change it when you change them: then the rows are folded again from all events.
        `indexes`: of 1 to 4 fields each, by their names in JSON, as the queries need them.
        """
        location = f"view '{id}'"
        if not isinstance(version, str) or version == "":
            raise DefinitionError(f"{location}: it has no version. Write version=\"1\", and change it whenever you change keys or fold")
        self.id = id
        self.version = version
        self._reader = TypeReader()
        self.row = Codec(self._reader.shape(row, f"{location}, row"), f"{location}, row")
        self.indexes = [list(fields) for fields in indexes]
        self.sources: dict[str, ViewSource] = {}
        self.queries: dict[str, ViewQuery[Row]] = {}

    def fold(self, entity: Entity[Any]) -> Callable[[Function], Function]:
        """Registers the function that folds an event of the entity into a row: `def fold(row: Row | None, event: Event, context: FoldContext)`. It
        depends on nothing but its parameters, and returns a change that the context makes.
        """

        def register(function: Function) -> Function:
            _check_plain(function, f"view '{self.id}', fold", 3)
            self._source(entity, "fold").fold = function
            return function

        return register

    def keys(self, entity: Entity[Any]) -> Callable[[Function], Function]:
        """Registers the function that returns the keys of the rows that an event concerns, at most 16. Without it: the id of the entity."""

        def register(function: Function) -> Function:
            _check_plain(function, f"view '{self.id}', keys", 2)
            self._source(entity, "keys").keys = function
            return function

        return register

    def query(self, name: str, where: str = "", parameters: type[Any] | None = None) -> ViewQuery[Row]:
        """Defines a query. `where`: `customer = :customer order by placedAt desc`, with the names of JSON; an empty text finds all rows.
        `parameters`: a frozen dataclass with a field for each name.
        """
        location = f"view '{self.id}', parameters of '{name}'"
        if name in self.queries:
            raise DefinitionError(f"view '{self.id}': it has the query '{name}' already")
        codec = None if parameters is None else Codec(self._reader.shape(parameters, location), location)
        self.queries[name] = ViewQuery(self, name, where, codec)
        return self.queries[name]

    @property
    def computes_keys(self) -> bool:
        """Whether a source has keys of its own."""
        return any(source.keys is not None for source in self.sources.values())

    def check(self) -> None:
        """Raises DefinitionError if a source has no fold, or if there is none."""
        if not self.sources:
            raise DefinitionError(f"view '{self.id}': it folds no entity. Register a function with @view.fold(entity)")
        for component, source in self.sources.items():
            if source.fold is None:
                raise DefinitionError(f"view '{self.id}': it has keys of '{component}' and no fold. Register one with @view.fold(entity)")

    def _source(self, entity: Entity[Any], part: str) -> ViewSource:
        if not isinstance(entity, Entity):
            raise DefinitionError(f"view '{self.id}', {part}: it is registered for what is no Entity")
        source = self.sources.setdefault(entity.component, ViewSource(entity))
        if getattr(source, part) is not None:
            raise DefinitionError(f"view '{self.id}': {part} of '{entity.component}' is registered twice")
        return source
