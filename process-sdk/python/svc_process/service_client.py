"""ServiceClient: a handler's requests to another service: `await context.service("billing").get("/invoices/1", Invoice)`."""

from __future__ import annotations

from typing import Any, Final, Mapping, TypeVar

from .clients import Run
from .codec import Codec, parse
from .errors import CodecError
from .host_calls import HostCalls, RawResponse
from .refusal import Refusal
from .type_reader import TypeReader

Value = TypeVar("Value")

_CODES: Final = {
    400: "BAD_REQUEST",
    401: "UNAUTHENTICATED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    422: "UNPROCESSABLE",
    429: "TOO_MANY_REQUESTS",
}
_OTHER_CODES: Final = {503: "UNAVAILABLE", 504: "TIMED_OUT"}
_codecs: dict[Any, Codec] = {}


def _codec_of(hint: Any) -> Codec:
    if hint not in _codecs:
        location = "the type of a response"
        _codecs[hint] = Codec(TypeReader().shape(hint, location), location)
    return _codecs[hint]


class ServiceResponse:
    """A response of another service, whatever its status."""

    __slots__ = ("body", "headers", "service", "status")

    def __init__(self, service: str, raw: RawResponse) -> None:
        self.service = service
        self.status = raw.status
        self.headers = raw.headers
        self.body = raw.body

    @property
    def is_ok(self) -> bool:
        """Whether the status is below 300."""
        return self.status < 300

    def header(self, name: str) -> str | None:
        """Returns the first header with this name, in any case."""
        wanted = name.lower()
        return next((value for known, value in self.headers if known == wanted), None)

    def text(self) -> str:
        """Returns the body as text, in UTF-8."""
        return self.body.decode("utf-8", "replace")

    def json(self, hint: type[Value]) -> Value:
        """Decodes the body as JSON. Raises CodecError if it does not fit the type."""
        try:
            value: Value = _codec_of(hint).decode(self.text(), "body")
            return value
        except CodecError as error:
            raise CodecError(f"the response of service '{self.service}' does not decode: {error}") from None


class ServiceClient:
    """Sends requests to another service. A request is made once."""

    __slots__ = ("_calls", "_headers", "service")

    def __init__(self, service: str, calls: HostCalls, headers: Mapping[str, str] | None = None) -> None:
        self.service = service
        self._calls = calls
        self._headers = dict(headers or {})

    def with_headers(self, headers: Mapping[str, str]) -> ServiceClient:
        """Returns a client whose requests have these headers, beside those of this client."""
        return ServiceClient(self.service, self._calls, {**self._headers, **headers})

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: str | bytes = b""
    ) -> ServiceResponse:
        """Sends a request with any method, and returns its response, whatever the status. `path`: begins with a slash, with a query if there is
        one. Raises CallFailed if nothing was sent, or if it is not known.
        """
        pairs = list({**self._headers, **(headers or {})}.items())
        sent = body.encode() if isinstance(body, str) else body
        return ServiceResponse(self.service, await self._calls.request(self.service, method, path, pairs, sent))

    async def get(self, path: str, reply: type[Value]) -> Value:
        """Sends GET, and returns the decoded body of a response whose status is below 300. Raises Refusal for any other: 404 is `NOT_FOUND`."""
        return await self._typed("GET", path, None, reply)

    async def delete(self, path: str, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends DELETE. See `get`."""
        return await self._typed("DELETE", path, None, reply)

    async def post(self, path: str, body: Any, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends POST with a frozen dataclass as body. See `get`."""
        return await self._typed("POST", path, body, reply)

    async def put(self, path: str, body: Any, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends PUT with a frozen dataclass as body. See `get`."""
        return await self._typed("PUT", path, body, reply)

    async def _typed(self, method: str, path: str, body: Any, reply: type[Value]) -> Value:
        if body is None:
            response = await self.request(method, path)
        else:
            text = _codec_of(type(body)).encode(body, "body")
            response = await self.request(method, path, headers={"content-type": "application/json"}, body=text)
        if not response.is_ok:
            raise _refusal_of(response)
        if reply is type(None):
            return None
        return response.json(reply)


class BlockingServiceClient:
    """Sends requests to another service from a handler that is not async. Its methods are those of ServiceClient."""

    __slots__ = ("_client", "_run")

    def __init__(self, client: ServiceClient, run: Run) -> None:
        self._client = client
        self._run = run

    def with_headers(self, headers: Mapping[str, str]) -> BlockingServiceClient:
        """Returns a client whose requests have these headers, beside those of this client."""
        return BlockingServiceClient(self._client.with_headers(headers), self._run)

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: str | bytes = b""
    ) -> ServiceResponse:
        """Sends a request. See `ServiceClient.request`."""
        response: ServiceResponse = self._run(self._client.request(method, path, headers=headers, body=body))
        return response

    def get(self, path: str, reply: type[Value]) -> Value:
        """Sends GET. See `ServiceClient.get`."""
        value: Value = self._run(self._client.get(path, reply))
        return value

    def delete(self, path: str, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends DELETE. See `ServiceClient.get`."""
        value: Value = self._run(self._client.delete(path, reply))
        return value

    def post(self, path: str, body: Any, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends POST. See `ServiceClient.post`."""
        value: Value = self._run(self._client.post(path, body, reply))
        return value

    def put(self, path: str, body: Any, reply: type[Value] = type(None)) -> Value:  # type: ignore[assignment]
        """Sends PUT. See `ServiceClient.post`."""
        value: Value = self._run(self._client.put(path, body, reply))
        return value


def _refusal_of(response: ServiceResponse) -> Refusal:
    error = _error_of(response)
    answered = f"service '{response.service}' answered {response.status}"
    message = answered if error is None else f"{answered}: {error}"
    code = _CODES.get(response.status)
    if code is not None:
        return Refusal(message, code)
    return Refusal(message, "OTHER", other_code=_OTHER_CODES.get(response.status, "INTERNAL"))


def _error_of(response: ServiceResponse) -> str | None:
    """Returns the member `error` of a JSON body, as services of the platform write it."""
    try:
        value = parse(response.text(), "body")
    except CodecError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, str) else None
