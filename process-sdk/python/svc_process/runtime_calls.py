"""RuntimeCalls are the calls that one handler makes of the runtime while it runs, and the queue of all calls of a stream.

Invariants
R1  Each call is settled once: by its result, or when the handler is cancelled.
R2  The handler's time is that of its request until its first call has a result, and then that of the latest result.
R3  No more calls of a stream are without a result than the runtime takes; the others wait, in their order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Callable, Final, Sequence

from .due import Timer
from .errors import CallFailed, Cancelled, Fault, ProtocolError
from .frames import new_answer, put_headers, put_timer, refusal_of
from .host_calls import Headers, RawResponse, StoredPage, StoredRecord

_WORDS: Final = {"TIMED_OUT": "the call timed out"}


class HostCallQueue:
    """The calls of all handlers of one stream."""

    def __init__(self, encode: Callable[[Any], bytes], send: Callable[[bytes], None]) -> None:
        """`encode`: encodes the frame of a call, and raises Fault if it is too large."""
        self._encode = encode
        self._send = send
        #: The most calls without a result.
        self.max = 0
        self._last = 0
        self._waiting: deque[tuple[RuntimeCalls, int, bytes]] = deque()
        self._open: dict[int, RuntimeCalls] = {}

    def next_number(self) -> int:
        """Returns the number of a new call."""
        self._last += 1
        return self._last

    def add(self, calls: RuntimeCalls, number: int, frame: Any, has_result: bool = True) -> None:
        """Sends the call, now or when others have their results. Raises Fault if it is too large."""
        data = self._encode(frame)
        if not self._waiting and (not has_result or len(self._open) < self.max):
            if has_result:
                self._open[number] = calls
            self._send(data)
        else:
            self._waiting.append((calls, number if has_result else 0, data))
            calls.queued += 1

    def settle(self, result: Any) -> None:
        """Passes a result on to its handler. Raises ProtocolError if there is no such call."""
        calls = self._open.pop(result.number, None)
        if calls is None:
            raise ProtocolError(f"it has answered the host call {result.number}, which is not open")
        calls.settle(result)
        self._send_next()

    def drop(self, calls: RuntimeCalls) -> None:
        """Drops the calls of a handler that wait: it has ended."""
        if calls.queued > 0:
            calls.queued = 0
            self._waiting = deque(one for one in self._waiting if one[0] is not calls)
            self._send_next()

    def _send_next(self) -> None:
        waiting = self._waiting
        while waiting:
            calls, number, data = waiting[0]
            if number != 0:
                if len(self._open) >= self.max:
                    return
                self._open[number] = calls
            waiting.popleft()
            calls.queued -= 1
            self._send(data)


class RuntimeCalls:
    """The calls of one handler."""

    __slots__ = ("_cancelled", "_handler", "_loop", "_queue", "_waiting", "now_ms", "queued")

    def __init__(self, queue: HostCallQueue, handler: int, now_ms: int, loop: asyncio.AbstractEventLoop) -> None:
        """`handler`: number of the handler's call."""
        self._queue = queue
        self._handler = handler
        self._loop = loop
        self._waiting: dict[int, tuple[asyncio.Future[Any], tuple[str, ...]]] = {}
        self._cancelled: str | None = None
        self.now_ms = now_ms
        #: The number of its calls that wait in the queue.
        self.queued = 0

    async def call(
        self, component: str, id: str, name: str, input: str, metadata: Headers, key: str | None
    ) -> str:
        frame, number, future = self._new("reply", "refusal")
        target = frame.host_call.entity
        target.component = component
        target.id = id
        target.name = name
        target.input = input
        if metadata:
            put_headers(target.metadata, metadata)
        if key is not None:
            target.idempotency_key = key
        result = await self._made(frame, number, future)
        json: str = result.reply.json
        return json

    async def read_events(self, component: str, id: str, after_seq: int, limit: int) -> Sequence[StoredRecord]:
        frame, number, future = self._new("events")
        target = frame.host_call.read_events
        target.component = component
        target.id = id
        target.after_seq = after_seq
        target.limit = limit
        result = await self._made(frame, number, future)
        return [StoredRecord(one.seq, one.time_ms, one.event.manifest, one.event.json) for one in result.events.events]

    async def set_timer(self, timer: Timer) -> None:
        frame, number, future = self._new("done")
        put_timer(frame.host_call.set_timer, timer)
        await self._made(frame, number, future)

    async def cancel_timer(self, component: str, id: str, name: str) -> None:
        frame, number, future = self._new("done")
        target = frame.host_call.cancel_timer
        target.component = component
        target.id = id
        target.name = name
        await self._made(frame, number, future)

    async def request(self, service: str, method: str, path: str, headers: Headers, body: bytes) -> RawResponse:
        frame, number, future = self._new("response")
        target = frame.host_call.request
        target.service = service
        target.method = method
        target.path = path
        target.body = body
        put_headers(target.headers, headers)
        response = (await self._made(frame, number, future)).response
        return RawResponse(response.status, [(one.name, one.value) for one in response.headers], response.body)

    async def find(self, view: str, query: str, input: str, limit: int, cursor: str | None) -> StoredPage:
        frame, number, future = self._new("page", "refusal")
        target = frame.host_call.find
        target.view = view
        target.query = query
        target.input = input
        target.limit = limit
        if cursor is not None:
            target.cursor = cursor
        page = (await self._made(frame, number, future)).page
        return StoredPage(
            list(page.rows),
            page.cursor if page.HasField("cursor") else None,
            page.as_of_ms if page.HasField("as_of_ms") else None,
        )

    def scope_keys(self, scope: str) -> None:
        self._check_cancelled()
        frame = new_answer(self._handler)
        frame.host_call.number = number = self._queue.next_number()
        frame.host_call.scope_keys.scope = scope
        self._queue.add(self, number, frame, has_result=False)

    def settle(self, result: Any) -> None:
        """Settles a call. Raises ProtocolError for a result of another kind."""
        waiting = self._waiting.pop(result.number, None)
        if waiting is None:
            return  # The handler was cancelled, or has ended.
        future, kinds = waiting
        kind = result.WhichOneof("result")
        self.now_ms = result.now_ms
        if kind is not None and kind not in kinds and kind != "failed":
            raise ProtocolError(f"it has answered a host call of another kind with '{kind}'")
        if future.done():
            return
        if kind == "refusal":
            future.set_exception(refusal_of(result.refusal))
        elif kind is None or kind == "failed":
            failed = result.failed
            word = failed.word or "INTERNAL"
            text = failed.text or _WORDS.get(word, "the call failed")
            future.set_exception(CallFailed(text, word, failed.code, result.number))
        else:
            future.set_result(result)

    def cancel(self, reason: str) -> None:
        """Fails the calls in flight, and all later ones."""
        self._cancelled = reason
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(Cancelled(reason))
        self._waiting.clear()

    def _new(self, *kinds: str) -> tuple[Any, int, asyncio.Future[Any]]:
        """Returns the frame of a call, its number, and the future of its result."""
        self._check_cancelled()
        frame = new_answer(self._handler)
        number = self._queue.next_number()
        frame.host_call.number = number
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = (future, kinds)
        return frame, number, future

    def _check_cancelled(self) -> None:
        """Raises Cancelled once nobody waits for the handler: it sends nothing any more."""
        if self._cancelled is not None:
            raise Cancelled(self._cancelled)

    async def _made(self, frame: Any, number: int, future: asyncio.Future[Any]) -> Any:
        try:
            self._queue.add(self, number, frame)
        except Fault:
            self._waiting.pop(number, None)
            raise
        return await future
