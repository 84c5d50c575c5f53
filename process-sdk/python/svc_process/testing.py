"""The test kit: runs components in memory, without a runtime.

Invariant: events are stored in their JSON form. After every command the entity is replayed from them, and a difference is an error.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable, Coroutine, Iterable, Mapping, Sequence, TypeVar
from urllib.parse import unquote

from . import folded_views
from .call_context import CallContext
from .codec import json_text
from .components import Components, Configuration, Schedule
from .consumer import Consumer, Verdict
from .due import Timer
from .effects import Effect
from .endpoint import Endpoint, Route
from .entity import Entity, Handler
from .bearer import Principal, bearer_refusal, principal_field
from .handlers import NO_BODY, Body, GivenEvent, GivenRequest, Handlers
from .host_calls import Headers, RawResponse, StoredPage, StoredRecord
from .memory_query import MemoryQuery
from .open_entity import OpenEntity, decoded_event
from .view import View
from .worker_threads import WorkerThreads

Reply = TypeVar("Reply")
Row = TypeVar("Row")
Answer = TypeVar("Answer")
#: Answers a request to another service: method, path, headers, body.
OtherService = Callable[[str, str, Headers, bytes], RawResponse]

_CONFIGURATION_COMPONENT = "svc:configuration"
_KEY_QUERY = "by key"
_COUNT_PREFIX = "count "


class ReplayDifference(AssertionError):
    """Reports a state that is another one when it is computed from the stored events."""


class MemoryResponse:
    """The response of a handler."""

    def __init__(self, status: int, headers: Headers, body: Body) -> None:
        self.status = status
        self.headers = headers
        #: Text, bytes, or an empty text where there is none.
        self.body = body.value

    def json(self) -> Any:
        """Returns the body as `json.loads` does."""
        return json.loads(self.body)


class _Stored:
    """An entity in memory."""

    def __init__(self, live: OpenEntity) -> None:
        self.live = live
        self.events: list[StoredRecord] = []


class MemoryService:
    """The components of a service in memory: `service = MemoryService(entities=[cart], endpoints=[carts])`."""

    def __init__(
        self,
        *,
        entities: Iterable[Entity[Any]] = (),
        endpoints: Iterable[Endpoint] = (),
        views: Iterable[View[Any]] = (),
        consumers: Iterable[Consumer] = (),
        schedules: Iterable[Schedule] = (),
        configuration: Configuration[Any] | None = None,
        settings: Any = None,
        services: Mapping[str, OtherService] | None = None,
    ) -> None:
        """`settings`: values of the configuration. `services`: answers requests to other services, by their names."""
        self._components = Components(
            entities=entities,
            endpoints=endpoints,
            views=views,
            consumers=consumers,
            schedules=schedules,
            configuration=configuration,
        )
        self._queries = {
            (view.id, query.name): MemoryQuery(view, query) for view in self._components.views.values() for query in view.queries.values()
        }
        self._handlers = Handlers(self._components, WorkerThreads(8))
        self._settings = settings
        self._services = dict(services or {})
        self._entities: dict[tuple[str, str], _Stored] = {}
        self._log: list[GivenEvent] = []
        self._delivered: dict[str, int] = {}
        self._seed = 0
        #: The time of all calls, in milliseconds since 1970-01-01T00:00:00Z.
        self.now_ms = 1_700_000_000_000
        #: Timers that are set, by component, id and name.
        self.timers: dict[tuple[str, str, str], Timer] = {}

    def call(self, handler: Handler[Reply], id: str, *input: Any) -> Reply:
        """Calls a command or a query of an entity. Raises Refusal if it refuses, Fault if it fails, and ReplayDifference."""
        entity = self._components.entity(handler.entity)
        reply = self._called(entity, id, handler.name, handler.input_text(input), ())
        return None if handler.reply is None else handler.reply.decode(reply, "reply")  # type: ignore[return-value]

    def state(self, entity: Entity[Any], id: str) -> Any:
        """Returns the state of an entity."""
        return self._stored(self._components.entity(entity), id).live.state

    def events(self, entity: Entity[Any], id: str) -> list[Any]:
        """Returns the events of an entity, decoded from their JSON."""
        records = self._stored(self._components.entity(entity), id).events
        return [decoded_event(entity, one.manifest, one.json) for one in records]

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        caller: str = "local",
        principal: Principal | None = None,
    ) -> MemoryResponse:
        """Sends a request to a route. `body`: text, bytes, or a value with a JSON form. `principal`: the sender, by a token that counts as
        verified. Raises Refusal if the bearer rule of the route or its handler refuses.
        """
        plain, _, query = path.partition("?")
        index, parameters = self._route_of(method, plain)
        endpoint, route = self._components.routes[index]
        refused = bearer_refusal(route.bearer or endpoint.bearer, principal)
        if refused is not None:
            raise refused
        own = [(name.lower(), value) for name, value in (headers or {}).items()]
        pairs = own if principal is None else [*own, principal_field(principal)]
        given = GivenRequest(index, parameters, query, pairs, caller, self._body(route, body))
        call = self._context()
        answer = _run(self._handlers.handle(call, given, MemoryCalls(self, call.metadata)))
        return MemoryResponse(*answer)

    def fire(self, entity: Entity[Any], id: str, name: str) -> None:
        """Sends the command of a timer, which is then gone unless it recurs."""
        timer = self.timers[(entity.component, id, name)]
        if timer.due.kind in ("at", "after"):
            del self.timers[(entity.component, id, name)]
        target = self._components.entities[timer.call.component]
        self._called(target, timer.call.id, timer.call.command, timer.call.input, ())

    def deliver(self, consumer: Consumer) -> list[Verdict]:
        """Lets a consumer handle the events that it has not handled yet, up to one that it has again later. Returns its verdicts."""
        verdicts: list[Verdict] = []
        while (at := self._delivered.get(consumer.id, 0)) < len(self._log):
            event = self._log[at]
            if event.component in consumer.sources:
                call = CallContext(event.time_ms, at, ())
                verdict = _run(self._handlers.consume(call, consumer.id, event, MemoryCalls(self, ())))
                verdicts.append(verdict)
                if verdict.kind == "retry":
                    break
            self._delivered[consumer.id] = at + 1
        return verdicts

    def rows(self, view: View[Row]) -> dict[str, Row]:
        """Folds all events, and returns the rows of a view by their keys."""
        return {key: view.row.decode(text, "row") for key, text in self.row_texts(view).items()}

    def row_texts(self, view: View[Any]) -> dict[str, str]:
        """Folds all events, and returns the JSON of the rows of a view by their keys."""
        components, id = self._components, self._components.view(view).id
        found: dict[str, str] = {}
        for event in self._log:
            if event.component not in view.sources:
                continue
            (keys,) = folded_views.keys_of(components, id, [event])
            rows = [(key, found.get(key)) for key in keys]
            for key, text in folded_views.fold(components, id, rows, [(event, range(len(rows)))]):
                if text is None:
                    found.pop(key, None)
                else:
                    found[key] = text
        return found

    def called(self, component: str, id: str, name: str, input: str, metadata: Headers) -> str:
        """Calls an entity by JSON texts, as a handler does."""
        if component == _CONFIGURATION_COMPONENT:
            assert self._components.configuration is not None
            return self._components.configuration.codec.encode(self._settings, "settings")
        return self._called(self._components.entities[component], id, name, input, metadata)

    def stored_events(self, component: str, id: str) -> Sequence[StoredRecord]:
        """Returns the events of an entity as they are stored."""
        return self._stored(self._components.entities[component], id).events

    def other_service(self, name: str) -> OtherService:
        """Returns the function that answers for another service."""
        return self._services[name]

    def view_of(self, id: str) -> View[Any]:
        """Returns a view by its id."""
        return self._components.views[id]

    def query_of(self, view: str, name: str) -> MemoryQuery:
        """Returns a query of a view by its name."""
        return self._queries[view, name]

    def _called(self, entity: Entity[Any], id: str, name: str, input: str, metadata: Headers) -> str:
        stored = self._stored(entity, id)
        call = self._context(metadata)
        handler = entity.handlers.get(name)
        if handler is not None and handler.kind == "query":
            return stored.live.query(call, name, input)
        before = stored.live.snapshot()
        effect, reply, problem = stored.live.command(call, name, input)
        if problem is not None:
            raise ReplayDifference(f"command '{name}' of component '{entity.component}' made an event that does not decode: {problem}")
        if stored.live.snapshot() != before:
            raise ReplayDifference(f"command '{name}' of component '{entity.component}' has changed the state: {before} before")
        self._store(entity, id, stored, effect)
        return reply

    def _store(self, entity: Entity[Any], id: str, stored: _Stored, effect: Effect[Any]) -> None:
        stored.live.keep()
        for _, text in effect.events:
            seq = len(stored.events) + 1
            stored.events.append(StoredRecord(seq, self.now_ms, entity.event_manifest, text))
            self._log.append(GivenEvent(entity.component, id, seq, self.now_ms, entity.event_manifest, text))
        if effect.deletes:
            del self._entities[(entity.component, id)]
            self.timers = {key: timer for key, timer in self.timers.items() if key[:2] != (entity.component, id)}
        else:
            self._compare(entity, id, stored)
        for timer in effect.timers:
            if isinstance(timer, Timer):
                self.set_timer(timer)
            else:
                self.timers.pop((entity.component, id, timer), None)

    def set_timer(self, timer: Timer) -> None:
        """Sets a timer, as a handler does."""
        self.timers[(timer.call.component, timer.call.id, timer.name)] = timer

    def _compare(self, entity: Entity[Any], id: str, stored: _Stored) -> None:
        replayed = OpenEntity(entity, id, None, True)
        problem = replayed.apply([(one.manifest, one.json) for one in stored.events])
        if problem is not None:
            raise ReplayDifference(f"entity '{id}' of component '{entity.component}' cannot be replayed: {problem}")
        if not _is_same(replayed, stored.live):
            raise ReplayDifference(
                f"entity '{id}' of component '{entity.component}' has another state when it is replayed:\n"
                f"  after its commands: {stored.live.state!r}\n"
                f"  replayed:           {replayed.state!r}"
            )
        again = OpenEntity(entity, id, replayed.snapshot(), True)
        if not _is_same(again, replayed):
            raise ReplayDifference(
                f"entity '{id}' of component '{entity.component}' has another state when it comes back from a snapshot:\n"
                f"  before: {replayed.state!r}\n"
                f"  after:  {again.state!r}"
            )

    def _stored(self, entity: Entity[Any], id: str) -> _Stored:
        key = (entity.component, id)
        if key not in self._entities:
            self._entities[key] = _Stored(OpenEntity(entity, id, None, True))
        return self._entities[key]

    def _context(self, metadata: Headers = ()) -> CallContext:
        self._seed += 1
        return CallContext(self.now_ms, self._seed, metadata)

    def _route_of(self, method: str, path: str) -> tuple[int, list[str]]:
        given = path.split("/")
        for index, (endpoint, route) in enumerate(self._components.routes):
            wanted = (endpoint.prefix + route.path).split("/")
            if route.method != method or len(wanted) != len(given):
                continue
            pairs = list(zip(wanted, given))
            if all(template == text or template.startswith("{") for template, text in pairs):
                return index, [unquote(text) for template, text in pairs if template.startswith("{")]
        raise LookupError(f"there is no route {method} {path}")

    @staticmethod
    def _body(route: Route, body: Any) -> Body:
        if body is None:
            return NO_BODY
        if isinstance(body, bytes):
            return Body("bytes", body)
        if isinstance(body, str):
            return Body("text" if route.body is not None and route.body.kind == "text" else "json", body)
        codec = None if route.body is None else route.body.codec
        is_typed = codec is not None and hasattr(body, "__dataclass_fields__")
        return Body("json", codec.encode(body, "body") if is_typed and codec is not None else json_text(body))


def _is_same(one: OpenEntity, other: OpenEntity) -> bool:
    """Whether two states are stored as the same, whatever equality their classes have. The order of names in objects does not matter."""
    return bool(json.loads(one.snapshot()) == json.loads(other.snapshot()))


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Runs a handler in an event loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise RuntimeError(
        "MemoryService runs handlers in an event loop of its own, and cannot do so within one that runs. Write a test that is not async, "
        "or: await asyncio.to_thread(service.request, method, path)"
    )


class MemoryCalls:
    """The calls of a handler, which the service in memory answers."""

    def __init__(self, service: MemoryService, metadata: Headers) -> None:
        self._service = service
        self._metadata = metadata
        self.now_ms = service.now_ms

    async def call(self, component: str, id: str, name: str, input: str, metadata: Headers, key: str | None) -> str:
        return self._service.called(component, id, name, input, metadata)

    async def read_events(self, component: str, id: str, after_seq: int, limit: int) -> Sequence[StoredRecord]:
        return [one for one in self._service.stored_events(component, id) if one.seq > after_seq][:limit]

    async def set_timer(self, timer: Timer) -> None:
        self._service.set_timer(timer)

    async def cancel_timer(self, component: str, id: str, name: str) -> None:
        self._service.timers.pop((component, id, name), None)

    async def request(self, service: str, method: str, path: str, headers: Headers, body: bytes) -> RawResponse:
        return self._service.other_service(service)(method, path, headers, body)

    async def find(self, view: str, query: str, input: str, limit: int, cursor: str | None) -> StoredPage:
        rows = self._service.row_texts(self._service.view_of(view))
        if query == _KEY_QUERY:
            found = rows.get(json.loads(input)["key"])
            return StoredPage([] if found is None else [found], None, self.now_ms)
        asked = self._service.query_of(view, query.removeprefix(_COUNT_PREFIX))
        if query.startswith(_COUNT_PREFIX):
            return StoredPage([asked.count(rows, input)], None, self.now_ms)
        return StoredPage(*asked.page(rows, input, limit, cursor), self.now_ms)

    def scope_keys(self, scope: str) -> None:
        """Does nothing: requests in memory have no idempotency keys."""
