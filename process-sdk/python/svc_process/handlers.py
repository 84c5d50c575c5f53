"""Handlers runs the handlers of routes and consumers, and folds views.

Invariants: a handler is called only if its checks let the request pass, and then all parts of it decode. An error of its code fails its own call alone. A refusal and the
failure of a call pass through unchanged, unless the handler catches them.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Final, NamedTuple, Sequence

from .call_context import CallContext
from .codec import Codec
from .components import Components
from .consumer import Verdict
from .contexts import BlockingConsumerContext, BlockingContext, ConsumerContext, Context
from .check import CheckRequest
from .endpoint import Endpoint, Response, Route
from .errors import CallFailed, Cancelled, CodecError, Fault
from .faults import CODE_ERRORS, fault_of
from .handler_tasks import begin_handler
from .host_calls import Headers, HostCalls
from .log_lines import SOURCE
from .mismatch import well_formed
from .open_entity import decoded_event
from .refusal import Refusal
from .request import Request
from .sent_text import value_of_query, value_of_text
from .shape import Record, record_of
from .worker_threads import WorkerThreads


class Body(NamedTuple):
    """A body: `none`, `json`, `text` or `bytes`, with its value."""

    kind: str
    value: str | bytes = ""


NO_BODY: Final = Body("none")


class GivenRequest(NamedTuple):
    """A request as the runtime passes it on."""

    route: int
    parameters: Sequence[str]
    query: str
    headers: Headers
    caller: str
    body: Body


class GivenResponse(NamedTuple):
    """A response as the runtime receives it."""

    status: int
    headers: Headers
    body: Body


class GivenEvent(NamedTuple):
    """An event of an entity as it is stored."""

    component: str
    id: str
    seq: int
    time_ms: int
    manifest: str
    json: str

    @property
    def label(self) -> str:
        """Names the event in a message."""
        return f"event {self.seq} of entity '{self.id}' of component '{self.component}'"


@dataclass(frozen=True)
class _Served:
    endpoint: Endpoint
    route: Route
    #: Subject in the messages of the route's faults.
    subject: str
    source: str
    query: Record | None
    #: Status of a plain reply.
    status: int


class Handlers:
    """The handlers of the components."""

    def __init__(self, components: Components, threads: WorkerThreads) -> None:
        self._components = components
        self._threads = threads
        self._routes = [_served(endpoint, route) for endpoint, route in components.routes]

    async def handle(self, call: CallContext, request: GivenRequest, calls: HostCalls) -> GivenResponse:
        """Answers a request. Raises Refusal, CallFailed, Cancelled and Fault."""
        served = self._routes[request.route]
        route = served.route
        context = Context(call, calls, self._components, tuple(request.parameters))
        blocking = BlockingContext(context, _run_in(asyncio.get_running_loop()))
        SOURCE.set(served.source)
        begin_handler()

        async def called(function: Callable[..., Any], is_async: bool, names: Sequence[str], values: dict[str, Any]) -> Any:
            values["context"] = context if is_async else blocking
            given = [values[name] for name in names]
            return await function(*given) if is_async else await self._threads.run(lambda: _returned(function(*given)))

        try:
            values: dict[str, Any] = {"request": _check_request(route, request)} if route.checks else {}
            for check in route.checks:
                result = await called(check.function, check.is_async, check.arguments, values)
                if isinstance(result, Response):
                    return _ending(result)
                values["given"] = check.passed_on(result)
            values.update(_arguments(served, request))
            answer = await called(route.function, route.is_async, route.arguments, values)
            return _response(served, answer)
        except CODE_ERRORS as error:
            raise _outcome(served.subject, error)

    async def consume(self, call: CallContext, consumer: str, event: GivenEvent, calls: HostCalls) -> Verdict:
        """Lets a consumer handle an event. Raises Refusal, CallFailed, Cancelled and Fault."""
        source = self._components.consumers[consumer].sources[event.component]
        subject = f"consumer '{consumer}' at {event.label}"
        try:
            value = decoded_event(source.entity, event.manifest, event.json)
        except CodecError as error:
            raise Fault("value", f"{event.label} does not decode: {error}") from None
        context = ConsumerContext(call, calls, self._components, event.id, event.seq, event.time_ms)
        SOURCE.set("process")
        begin_handler()
        try:
            if source.is_async:
                verdict = await source.function(value, context)
            else:
                blocking = BlockingConsumerContext(context, _run_in(asyncio.get_running_loop()))
                verdict = await self._threads.run(lambda: _returned(source.function(value, blocking)))
            if not isinstance(verdict, Verdict):
                raise TypeError("it returned no verdict: return DONE, retry(...) or skip(...), or raise a Refusal")
            return verdict
        except CODE_ERRORS as error:
            raise _outcome(subject, error)


def _outcome(subject: str, error: BaseException) -> BaseException:
    """Returns the error with which a handler ends: one that passes through unchanged, or a fault."""
    return _passed_on(error) or fault_of(subject, error)


def _passed_on(error: BaseException) -> BaseException | None:
    """Returns the refusal or failed call, which is the first one of a group that holds nothing else, as `asyncio.TaskGroup` raises it."""
    if isinstance(error, (Refusal, CallFailed, Cancelled)):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = [_passed_on(one) for one in error.exceptions]
        return None if None in found else found[0]
    return None


def _returned(answer: Any) -> Any:
    """Returns what a handler that is not async has returned."""
    if not inspect.isawaitable(answer):
        return answer
    if inspect.iscoroutine(answer):
        answer.close()
    raise TypeError("it returned an awaitable, because a decorator hides that it is async: make the function of the decorator async")


def _served(endpoint: Endpoint, route: Route) -> _Served:
    subject = f"handler '{route.name}' of endpoint '{endpoint.name}'"
    query = None if route.query is None else record_of(route.query.shape)
    fallback = 204 if route.reply is None else 200
    status = next((one for one in route.answers or () if one < 300), fallback)
    return _Served(endpoint, route, subject, f"endpoint {endpoint.name}", query, status)


def _run_in(loop: asyncio.AbstractEventLoop) -> Callable[[Any], Any]:
    """Returns the function by which a thread waits for the result of a coroutine."""
    return lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result()


def _arguments(served: _Served, request: GivenRequest) -> dict[str, Any]:
    """Decodes the parts of a request. Raises Refusal, which has the problems of all of them."""
    route = served.route
    problems: list[str] = []
    found: dict[str, Any] = {}

    def decoded(name: str, decode: Callable[[], Any]) -> None:
        try:
            found[name] = decode()
        except CodecError as error:
            problems.append(str(error))

    for (name, codec), text in zip(route.parameters, request.parameters):
        label = f"path parameter '{name}'"
        decoded(name, lambda: codec.decode_value(value_of_text(text, codec.shape), label))
    if route.query is not None and served.query is not None:
        value, more = value_of_query(request.query, served.query)
        problems.extend(more)
        query: Codec = route.query
        decoded("query", lambda: query.decode_value(value, "query"))
    if route.body is not None:
        decoded("body", lambda: _body(route, request.body))
    if problems:
        raise Refusal("; ".join(problems))
    if "request" in route.arguments:
        found["request"] = Request(request.headers, request.query, request.caller)
    return found


def _check_request(route: Route, request: GivenRequest) -> CheckRequest:
    parameters = dict(zip((name for name, _ in route.parameters), request.parameters))
    return CheckRequest(request.headers, request.query, request.caller, parameters)


def _ending(answer: Response[Any]) -> GivenResponse:
    """Returns the response with which a check ends a request."""
    if answer.value is not None:
        raise TypeError("a check answers no value: raise a Refusal, or return Response(None, status=...)")
    return GivenResponse(answer.status or 204, answer.headers, NO_BODY)


def _body(route: Route, body: Body) -> Any:
    wanted = route.body
    assert wanted is not None
    if wanted.kind == "bytes":
        if body.kind == "none":
            return b""
        if body.kind == "bytes":
            return body.value
        raise CodecError("body: must be bytes")
    if wanted.kind == "text":
        if body.kind in ("text", "json"):
            return body.value
        raise CodecError("body: must be text")
    assert wanted.codec is not None
    if body.kind == "none" and wanted.is_optional:
        return wanted.codec.decode_value(None, "body")
    if body.kind != "json" or not isinstance(body.value, str):
        raise CodecError("body: must be JSON")
    return wanted.codec.decode(body.value, "body")


def _response(served: _Served, answer: Any) -> GivenResponse:
    status, headers = served.status, []
    if isinstance(answer, Response):
        status, headers = answer.status or served.status, answer.headers
        answer = answer.value
    reply = served.route.reply
    if reply is None:
        if answer is not None:
            raise TypeError(f"it returned a value of {type(answer).__name__}, and its route has no reply")
        return GivenResponse(status, headers, NO_BODY)
    if reply.codec is not None:
        return GivenResponse(status, headers, Body("json", reply.codec.encode(answer, "reply")))
    wanted = bytes if reply.kind == "bytes" else str
    if not isinstance(answer, wanted):
        raise CodecError(f"reply: must be {wanted.__name__}")
    return GivenResponse(status, headers, Body(reply.kind, answer if isinstance(answer, bytes) else well_formed(answer)))
