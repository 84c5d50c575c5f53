"""ServedStream is one stream of the runtime as the process sees it: the handshake, and the calls of one shard.

Invariants
V1  The frames of an entity are carried out in their order: its handlers are synchronous.
V2  Each call is answered once, also where the program fails. A handler that is cancelled is answered at once, and its own answer is dropped.
V3  Whatever the runtime sends ends at worst its stream.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Coroutine, Final, Sequence

from google.protobuf.message import DecodeError

from . import folded_views, log_lines
from .call_context import CallContext
from .components import Components
from .errors import Cancelled, Fault, ProtocolError
from .faults import CODE_ERRORS
from .frame_sender import FRAME_BYTES_MAX, MESSAGE_BYTES_MAX, WINDOW_BYTES, FrameSender
from .frames import event_of, new_answer, put_failure, put_response, put_verdict, request_of
from .generated.svc.process.v1 import process_pb2 as pb
from .handlers import Handlers
from .line_queue import Line, LineQueue
from .runtime_calls import HostCallQueue, RuntimeCalls
from .served_entities import ServedEntities
from .used_numbers import UsedNumbers
from .version import VERSION

_VERSIONS: Final = (1,)
#: Handlers of one stream that run at the same time.
_HANDLERS_MAX: Final = 10_000
#: Bytes of frames that may wait before lines of the log are dropped.
_LOG_UNSENT_MAX: Final = 1024 * 1024
#: Routes that the warning about missing access names.
_ROUTES_SHOWN: Final = 10
_CONTROL: Final = frozenset(("ping", "credit"))
#: Frames that are no call, and need no number.
_NO_CALL: Final = frozenset(("open", "keep", "close", "result", "cancel", "ping", "credit", "hello"))


class Program:
    """The program that all streams of a process serve."""

    def __init__(self, components: Components, handlers: Handlers, descriptor: str, instance: str) -> None:
        """`instance`: identifies this run of the process."""
        self.components = components
        self.handlers = handlers
        self.descriptor = descriptor
        self.instance = instance
        self.is_warned = False

    def warning(self) -> str | None:
        """Returns the warning of a deployed service, once: which routes have no access rule."""
        open_ = [
            (f"{route.method} {endpoint.prefix}{route.path}", route.bearer or endpoint.bearer)
            for endpoint, route in self.components.routes
            if endpoint.access is None and route.access is None
        ]
        if self.is_warned or not open_:
            return None
        self.is_warned = True
        admitted = {
            "every caller": [name for name, bearer in open_ if bearer is None],
            "every caller with an access token": [name for name, bearer in open_ if bearer is not None],
        }
        words = " and ".join(f"{who} is admitted to {_first(names)}" for who, names in admitted.items() if names)
        return f'{words}, because no access is given. Write Endpoint(prefix, access="internet"), or another rule.'


class ServedStream:
    """One stream."""

    def __init__(self, program: Program, write: Callable[[bytes], Coroutine[Any, Any, None]]) -> None:
        self._program = program
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.frames = FrameSender(write, _credit_frame)
        self._host_calls = HostCallQueue(self._encoded, self.frames.send)
        self._entities = ServedEntities(program.components, self._send)
        self._calls = UsedNumbers("call")
        self._running: dict[int, tuple[RuntimeCalls, asyncio.Task[None]]] = {}
        self._hello: Any = None
        self._frame_bytes_max = FRAME_BYTES_MAX
        self._lines = LineQueue(self._loop, self._send_lines)
        self._dropped_lines = 0
        #: Whether the stream is to be ended once what waits is written.
        self.is_over = False
        entities = self._entities
        self._on: dict[str, Callable[[Any], None]] = {
            "hello": lambda frame: None,
            "open": entities.open,
            "apply": entities.apply,
            "command": entities.command,
            "query": entities.query,
            "keep": entities.keep,
            "snapshot": entities.snapshot,
            "close": entities.close,
            "handle": self._on_handle,
            "consume": self._on_consume,
            "view_keys": self._on_view_keys,
            "view_fold": self._on_view_fold,
            "result": lambda frame: self._host_calls.settle(frame.result),
            "cancel": self._on_cancel,
            "ping": self._on_ping,
            "credit": lambda frame: self.frames.credited(frame.credit.bytes),
        }

    def on_message(self, data: bytes) -> None:
        """Carries out the frames of a message. Raises ProtocolError."""
        try:
            frames = pb.ToProcess.FromString(data).frames
        except DecodeError as error:
            raise ProtocolError("it has sent a message that does not decode") from error
        if len(frames) > 1 and len(data) > MESSAGE_BYTES_MAX:
            raise ProtocolError(f"it has sent a message of several frames that takes more than {MESSAGE_BYTES_MAX} bytes")
        is_counted = False
        for frame in frames:
            kind = frame.WhichOneof("frame")
            if kind not in _CONTROL:
                is_counted = True
            if kind is None:
                continue  # A frame of a later version.
            if self._hello is None:
                if kind == "hello":
                    self._greet(frame.hello)
                continue
            if frame.call != 0 and kind not in ("result", "cancel"):
                self._calls.use(frame.call)
            elif kind not in _NO_CALL:
                raise ProtocolError(f"it has sent '{kind}' without the number of its call")
            self._on[kind](frame)
            if self.is_over:
                return
        if is_counted:
            self.frames.taken(len(data))

    def close(self) -> None:
        """Ends the stream. Handlers that are not async continue, and nobody receives their answers."""
        log_lines.remove_sink(self._log)
        for calls, task in self._running.values():
            calls.cancel("the stream of the runtime has ended")
            task.cancel()
        self._running.clear()
        self._entities.clear()
        self.frames.close()

    def _greet(self, hello: Any) -> None:
        version = next((one for one in _VERSIONS if one in hello.versions), None)
        answer = new_answer(0)
        if version is None:
            theirs = ", ".join(str(one) for one in hello.versions[:20])
            self._reject(
                f"its SDK speaks version {_VERSIONS[0]} of the protocol, and the runtime {theirs or 'none'}. Update the older one of both."
            )
            return
        if not hello.HasField("window"):
            self._reject("the runtime has named no window.")
            return
        self._hello = hello
        self.frames.window_bytes = hello.window.bytes
        self._host_calls.max = hello.window.calls
        self._frame_bytes_max = hello.window.frame_bytes or FRAME_BYTES_MAX
        self._entities.checks = hello.developing
        welcome = answer.welcome
        welcome.version = version
        welcome.sdk = f"svc-process {VERSION}"
        welcome.instance = self._program.instance
        welcome.descriptor = self._program.descriptor
        welcome.fingerprint = self._program.components.version
        welcome.window.bytes = WINDOW_BYTES
        welcome.window.calls = _HANDLERS_MAX
        welcome.window.frame_bytes = FRAME_BYTES_MAX
        self._send(answer)
        log_lines.add_sink(self._log)
        warning = None if hello.developing else self._program.warning()
        if warning is not None:
            self._send_line("warn", warning, "process")

    def _reject(self, reason: str) -> None:
        answer = new_answer(0)
        answer.rejected.reason = reason
        self._send(answer)
        self.is_over = True

    def _on_handle(self, frame: Any) -> None:
        handle = frame.handle
        if handle.route >= len(self._program.components.routes):
            raise ProtocolError(f"it has called the route {handle.route}, which is not here")
        context = CallContext.of(handle.context)

        async def answered(answer: Any, calls: RuntimeCalls) -> None:
            put_response(answer, await self._program.handlers.handle(context, request_of(handle), calls))

        self._run(frame.call, context, answered, "a handler")

    def _on_consume(self, frame: Any) -> None:
        consume = frame.consume
        context = CallContext.of(consume.context)
        event = event_of(consume.event)
        consumer = self._program.components.consumers.get(consume.consumer)
        if consumer is None or event.component not in consumer.sources:
            raise ProtocolError(f"it has called the consumer '{consume.consumer[:100]}', which does not handle this event")

        async def answered(answer: Any, calls: RuntimeCalls) -> None:
            put_verdict(answer, await self._program.handlers.consume(context, consume.consumer, event, calls))

        self._run(frame.call, context, answered, "a consumer")

    def _run(
        self,
        call: int,
        context: CallContext,
        answered: Callable[[Any, RuntimeCalls], Coroutine[Any, Any, None]],
        what: str,
    ) -> None:
        """Runs a handler, and answers its call."""
        if len(self._running) >= _HANDLERS_MAX:
            raise ProtocolError(f"it runs more than {_HANDLERS_MAX} handlers")
        calls = RuntimeCalls(self._host_calls, call, context.now_ms, self._loop)

        async def run() -> None:
            answer = new_answer(call)
            try:
                await answered(answer, calls)
            except asyncio.CancelledError:
                answer = new_answer(call)
                put_failure(answer, Fault("time", f"{what} was cancelled"), what)
            except CODE_ERRORS as error:
                answer = new_answer(call)
                put_failure(answer, error, what)
            self._host_calls.drop(calls)
            if self._running.pop(call, None) is not None:
                self._send(answer)

        self._running[call] = (calls, self._loop.create_task(run()))

    def _on_view_keys(self, frame: Any) -> None:
        given = frame.view_keys
        view = self._view(given.view)
        events = [event_of(one) for one in given.events]
        self._check_sources(view, events)

        def fill(answer: Any) -> None:
            keys = answer.keys
            keys.SetInParent()
            for found in folded_views.keys_of(self._program.components, given.view, events):
                keys.events.add().keys.extend(found)

        self._answer(frame.call, fill, "the keys of a view")

    def _on_view_fold(self, frame: Any) -> None:
        given = frame.view_fold
        view = self._view(given.view)
        rows = [(one.key, one.json if one.HasField("json") else None) for one in given.rows]
        events = [(event_of(one.event), list(one.rows)) for one in given.events]
        self._check_sources(view, [event for event, _ in events])
        if any(index >= len(rows) for _, concerned in events for index in concerned):
            raise ProtocolError("it has named a row that it has not sent")

        def fill(answer: Any) -> None:
            changed = answer.rows
            changed.SetInParent()
            for key, text in folded_views.fold(self._program.components, given.view, rows, events):
                row = changed.rows.add()
                row.key = key
                if text is not None:
                    row.json = text

        self._answer(frame.call, fill, "the fold of a view")

    def _view(self, id: str) -> Any:
        view = self._program.components.views.get(id)
        if view is None:
            raise ProtocolError(f"it has named the view '{id[:100]}', which is not here")
        return view

    @staticmethod
    def _check_sources(view: Any, events: list[Any]) -> None:
        for event in events:
            if event.component not in view.sources:
                raise ProtocolError(f"it has sent an event that view '{view.id}' does not fold")

    def _answer(self, call: int, fill: Callable[[Any], None], what: str) -> None:
        """Answers a call that makes no calls itself."""
        answer = new_answer(call)
        log_lines.SOURCE.set("process")
        try:
            fill(answer)
        except folded_views.Unreadable as problem:
            answer = new_answer(call)
            answer.problem.message = str(problem)
        except CODE_ERRORS as error:
            answer = new_answer(call)
            put_failure(answer, error, what)
        self._send(answer)

    def _on_cancel(self, frame: Any) -> None:
        running = self._running.pop(frame.call, None)
        if running is None:
            return
        calls, task = running
        calls.cancel(frame.cancel.reason)
        self._host_calls.drop(calls)
        # The task of an async handler ends at its next await, and a thread at its next call, if they end at all. Nobody waits for them.
        task.cancel()
        answer = new_answer(frame.call)
        put_failure(answer, Cancelled(frame.cancel.reason), "a handler")
        self._send(answer)

    def _on_ping(self, frame: Any) -> None:
        answer = pb.FromProcessFrame()
        answer.pong.number = frame.ping.number
        self.frames.send_control(answer.SerializeToString())

    def _log(self, level: str, message: str, source: str) -> None:
        """Sends a line, from whatever thread."""
        if threading.get_ident() == self._thread:
            self._send_line(level, message, source)
        else:
            self._lines.add((level, message, source))

    def _send_lines(self, lines: Sequence[Line], dropped: int) -> None:
        for line in lines:
            self._send_line(*line)
        self._dropped_lines += dropped

    def _send_line(self, level: str, message: str, source: str) -> None:
        if self.frames.unsent_bytes > _LOG_UNSENT_MAX:
            self._dropped_lines += 1
            return
        if self._dropped_lines > 0:
            count, self._dropped_lines = self._dropped_lines, 0
            self._send_line("warn", f"{count} lines were dropped, because the runtime did not take them", "process")
        answer = new_answer(0)
        answer.log.level = level
        answer.log.message = message
        answer.log.source = source
        self.frames.send(self._encoded(answer))

    def _send(self, answer: Any) -> None:
        """Sends an answer. One that is too large is a fault of its call."""
        try:
            data = self._encoded(answer)
        except Fault as fault:
            failed = new_answer(answer.call)
            put_failure(failed, fault, "an answer")
            data = failed.SerializeToString()
        self.frames.send(data)

    def _encoded(self, frame: Any) -> bytes:
        """Encodes a frame. Raises Fault if it is larger than the runtime takes."""
        data: bytes = frame.SerializeToString()
        if len(data) > self._frame_bytes_max:
            raise Fault("limit", f"a frame takes {len(data)} bytes: {self._frame_bytes_max} are allowed")
        return data


def _first(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_ROUTES_SHOWN])
    return shown if len(names) <= _ROUTES_SHOWN else f"{shown} and {len(names) - _ROUTES_SHOWN} other routes"


def _credit_frame(count: int) -> bytes:
    frame = pb.FromProcessFrame()
    frame.credit.bytes = count
    data: bytes = frame.SerializeToString()
    return data
