"""HostCalls: the calls that a handler makes while it runs, whoever answers them: the runtime, or a test."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Sequence

from .due import Timer

Headers = Sequence[tuple[str, str]]


class StoredRecord(NamedTuple):
    """An event as it is stored."""

    seq: int
    time_ms: int
    manifest: str
    json: str


class StoredPage(NamedTuple):
    """Rows that a query has found, as JSON texts."""

    rows: Sequence[str]
    cursor: str | None
    as_of_ms: int | None


class RawResponse(NamedTuple):
    """A response of another service."""

    status: int
    headers: Headers
    body: bytes


class HostCalls(Protocol):
    """The calls. Each raises Refusal if it is refused, and CallFailed if it failed."""

    now_ms: int

    async def call(
        self, component: str, id: str, name: str, input: str, metadata: Headers, key: str | None
    ) -> str:
        """Calls an entity, and returns the JSON of its reply."""
        ...

    async def read_events(self, component: str, id: str, after_seq: int, limit: int) -> Sequence[StoredRecord]:
        """Reads events of an entity."""
        ...

    async def set_timer(self, timer: Timer) -> None:
        """Sets a timer."""
        ...

    async def cancel_timer(self, component: str, id: str, name: str) -> None:
        """Cancels a timer."""
        ...

    async def request(self, service: str, method: str, path: str, headers: Headers, body: bytes) -> RawResponse:
        """Sends a request to another service."""
        ...

    async def find(self, view: str, query: str, input: str, limit: int, cursor: str | None) -> StoredPage:
        """Finds rows of a view."""
        ...

    def scope_keys(self, scope: str) -> None:
        """Restricts the idempotency key of the request to a scope, for the calls from now on."""
        ...
