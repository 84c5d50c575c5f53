"""Contexts: what a handler of a route or a consumer can reach: entities, timers, views, other services, settings and the clock.

An async handler receives a Context, whose calls are awaited. A handler that is not async runs in a thread of its own and receives a
BlockingContext, whose calls return when they are done.
"""

from __future__ import annotations

import json
import random as random_module
from datetime import datetime, timezone
from typing import Any, Final, TypeVar

from .call_context import CallContext
from .clients import BlockingEntityClient, EntityClient, Page, RowCount, Run
from .codec import STORED_DEPTH_MAX, json_text
from .components import Components, Configuration
from .due import DeferredCall, Due, Timer
from .entity import Entity
from .host_calls import HostCalls
from .service_client import BlockingServiceClient, ServiceClient
from .view import View, ViewQuery

Row = TypeVar("Row")
Values = TypeVar("Values")

_CONFIGURATION_COMPONENT: Final = "svc:configuration"
_KEY_QUERY: Final = "by key"
_COUNT_PREFIX: Final = "count "


class _Given:
    """The part that all contexts share."""

    __slots__ = ("_call", "_calls", "_components", "_random", "_scope")

    def __init__(self, call: CallContext, calls: HostCalls, components: Components, scope: tuple[str, ...]) -> None:
        self._call = call
        self._calls = calls
        self._components = components
        self._scope = scope
        self._random: random_module.Random | None = None

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z: the time of the request, or of the last call's result. In a consumer: of the event."""
        return self._calls.now_ms

    @property
    def now(self) -> datetime:
        """The same time in UTC."""
        return datetime.fromtimestamp(self._calls.now_ms / 1000, timezone.utc)

    @property
    def seed(self) -> int:
        """64 random bits."""
        return self._call.seed

    @property
    def random(self) -> random_module.Random:
        """Random numbers from the seed."""
        if self._random is None:
            self._random = random_module.Random(self._call.seed)
        return self._random

    def metadata(self, name: str) -> str | None:
        """Returns metadata of the request, such as `traceparent`; None if there is none."""
        return self._call.metadata_of(name)

    def scope_idempotency_key(self, scope: str) -> None:
        """Restricts the idempotency key of the request to a scope and the path parameters, for the calls from now on."""
        self._calls.scope_keys(json_text([scope, *self._scope]))


class Context(_Given):
    """Context of an async handler of a route."""

    __slots__ = ()

    def entity(self, entity: Entity[Any], id: str) -> EntityClient:
        """Returns a client of an entity of this service; its calls carry the metadata of the request."""
        return EntityClient(self._calls, self._call.metadata, self._components.entity(entity), id, None)

    async def set_timer(self, name: str, due: Due, call: DeferredCall, attempts: int | None = None) -> None:
        """Sets a timer of the entity that it calls, and returns once that is on disk. It replaces the timer of the same name."""
        await self._calls.set_timer(Timer(name, due, call, attempts))

    async def cancel_timer(self, entity: Entity[Any], id: str, name: str) -> None:
        """Cancels a timer of an entity, if there is one of this name."""
        await self._calls.cancel_timer(self._components.entity(entity).component, id, name)

    async def find(
        self, query: ViewQuery[Row], *parameters: Any, limit: int = 100, cursor: str | None = None
    ) -> Page[Row]:
        """Finds rows: `await context.find(of_status, ByStatus("paid"), limit=50)`. Raises Refusal if the query is refused."""
        if type(limit) is not int or limit < 1:
            raise ValueError(f"limit is a whole number from 1 on, found {limit!r}")
        text = query.input_text(parameters)
        return await self._found(query.view, query.name, text, limit, cursor)

    async def row(self, view: View[Row], key: str) -> Row | None:
        """Returns the row of a key; None if there is none."""
        page = await self._found(view, _KEY_QUERY, json_text({"key": key}), 1, None)
        return page.rows[0] if page.rows else None

    async def count(self, query: ViewQuery[Any], *parameters: Any) -> RowCount:
        """Counts the rows of a query, up to 10,000."""
        view = self._components.view(query.view)
        page = await self._calls.find(view.id, _COUNT_PREFIX + query.name, query.input_text(parameters), 1, None)
        counted = json.loads(page.rows[0])
        return RowCount(counted["count"], counted["hasMore"], page.as_of_ms)

    def service(self, name: str) -> ServiceClient:
        """Returns a client of another service: `billing` in the same project, or `ledger.finance` in another one."""
        return ServiceClient(name, self._calls)

    async def settings(self, configuration: Configuration[Values]) -> Values:
        """Reads the configuration of this service, as it is now."""
        if configuration is not self._components.configuration:
            raise LookupError("the configuration is not that of this service")
        text = await self._calls.call(_CONFIGURATION_COMPONENT, "", "read", "null", (), None)
        values: Values = configuration.codec.decode(text, "the configuration")
        return values

    async def _found(self, view: View[Row], query: str, text: str, limit: int, cursor: str | None) -> Page[Row]:
        page = await self._calls.find(self._components.view(view).id, query, text, limit, cursor)
        rows = [view.row.decode(row, "row", STORED_DEPTH_MAX) for row in page.rows]
        return Page(rows, page.cursor, page.as_of_ms)


class BlockingContext(_Given):
    """Context of a handler that is not async. Its methods are those of Context, and return when they are done."""

    __slots__ = ("_context", "_run")

    def __init__(self, context: Context, run: Run) -> None:
        super().__init__(context._call, context._calls, context._components, context._scope)
        self._context = context
        self._run = run

    def entity(self, entity: Entity[Any], id: str) -> BlockingEntityClient:
        """Returns a client of an entity of this service; its calls carry the metadata of the request."""
        return BlockingEntityClient(self._context.entity(entity, id), self._run)

    def set_timer(self, name: str, due: Due, call: DeferredCall, attempts: int | None = None) -> None:
        """Sets a timer. See `Context.set_timer`."""
        self._run(self._context.set_timer(name, due, call, attempts))

    def cancel_timer(self, entity: Entity[Any], id: str, name: str) -> None:
        """Cancels a timer. See `Context.cancel_timer`."""
        self._run(self._context.cancel_timer(entity, id, name))

    def find(
        self, query: ViewQuery[Row], *parameters: Any, limit: int = 100, cursor: str | None = None
    ) -> Page[Row]:
        """Finds rows. See `Context.find`."""
        page: Page[Row] = self._run(self._context.find(query, *parameters, limit=limit, cursor=cursor))
        return page

    def row(self, view: View[Row], key: str) -> Row | None:
        """Returns the row of a key. See `Context.row`."""
        row: Row | None = self._run(self._context.row(view, key))
        return row

    def count(self, query: ViewQuery[Any], *parameters: Any) -> RowCount:
        """Counts the rows of a query. See `Context.count`."""
        counted: RowCount = self._run(self._context.count(query, *parameters))
        return counted

    def service(self, name: str) -> BlockingServiceClient:
        """Returns a client of another service. See `Context.service`."""
        return BlockingServiceClient(self._context.service(name), self._run)

    def settings(self, configuration: Configuration[Values]) -> Values:
        """Reads the configuration of this service. See `Context.settings`."""
        values: Values = self._run(self._context.settings(configuration))
        return values

    def scope_idempotency_key(self, scope: str) -> None:
        """Restricts the idempotency key of the request. See `Context.scope_idempotency_key`."""

        async def scoped() -> None:
            self._context.scope_idempotency_key(scope)

        self._run(scoped())


class ConsumerContext(Context):
    """Context of an async function of a consumer. Time, seed and random numbers are the same at each attempt."""

    __slots__ = ("entity_id", "seq", "time_ms")

    def __init__(
        self, call: CallContext, calls: HostCalls, components: Components, entity_id: str, seq: int, time_ms: int
    ) -> None:
        super().__init__(call, calls, components, ())
        self.entity_id = entity_id
        self.seq = seq
        self.time_ms = time_ms


class BlockingConsumerContext(BlockingContext):
    """Context of a function of a consumer that is not async."""

    __slots__ = ("entity_id", "seq", "time_ms")

    def __init__(self, context: ConsumerContext, run: Run) -> None:
        super().__init__(context, run)
        self.entity_id = context.entity_id
        self.seq = context.seq
        self.time_ms = context.time_ms
