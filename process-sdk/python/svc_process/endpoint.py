"""Endpoint: the routes of a service below one prefix. The types of a route are read from the type hints of its handler."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from typing import Any, Callable, Final, Generic, Mapping, Sequence, TypedDict, TypeVar, Unpack

from .bearer import Bearer, Principal, checked_bearer, principal_of
from .codec import Codec
from .errors import DefinitionError
from .markers import RULES, _PlainText
from .shape import Nullable, Record, record_of, target_of
from .type_reader import TypeReader, hints_of

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])

#: Callers that a rule admits: `internet` is every caller, a tuple names services.
Access = str | tuple[str, ...]

_PARAMETER: Final = re.compile(r"\{([^{}]*)\}")
_ACCESS: Final = ("internet", "services", "local", "nobody")


class RouteOptions(TypedDict, total=False):
    """The options of a route. See `Endpoint.route`."""

    access: Access | None
    bearer: Bearer | None
    answers: Sequence[int] | None
    summary: str | None
    description: str | None


class Response(Generic[Value]):
    """A value with a status and headers: `return Response(cart, status=201, headers={"location": "/carts/c1"})`."""

    __slots__ = ("headers", "status", "value")

    def __init__(self, value: Value, *, status: int | None = None, headers: Mapping[str, str] | None = None) -> None:
        """`status`: 200 to 599. Without it: the first status below 300 of the route's `answers`, else 200, or 204 without a reply."""
        if status is not None and (type(status) is not int or not 200 <= status <= 599):
            raise ValueError(f"the status of a response is one of 200 to 599, found {status!r}")
        for name, text in (headers or {}).items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise TypeError(f"a header of a response is a text, found {name!r}: {text!r}")
        self.value = value
        self.status = status
        self.headers = [(name.lower(), text) for name, text in (headers or {}).items()]


@dataclasses.dataclass(frozen=True)
class Request:
    """A request as it came: a parameter of a handler with the name `request` receives it."""

    #: In lower case, in their order.
    headers: Sequence[tuple[str, str]]
    #: The query without its question mark.
    query_text: str
    #: `internet`, `local`, or `service <project>/<service>`.
    caller: str

    def header(self, name: str) -> str | None:
        """Returns the first header with this name, in any case."""
        wanted = name.lower()
        return next((value for known, value in self.headers if known == wanted), None)

    @property
    def principal(self) -> Principal | None:
        """The sender of the request, by its access token; None on routes without a bearer rule, whatever a request says."""
        return principal_of(self.headers)


@dataclasses.dataclass(frozen=True)
class BodyType:
    """The type of a body: `json` with a codec, `text` or `bytes`."""

    kind: str
    codec: Codec | None = None

    @property
    def is_optional(self) -> bool:
        """Whether requests may leave the body out, which is then null."""
        return self.codec is not None and isinstance(target_of(self.codec.shape), Nullable)


@dataclasses.dataclass(frozen=True)
class Route:
    """A route and its handler."""

    method: str
    path: str
    #: Name of the function.
    name: str
    function: Callable[..., Any]
    is_async: bool
    #: Names of the handler's parameters, in order.
    arguments: tuple[str, ...]
    #: Path parameters in the order of the path.
    parameters: tuple[tuple[str, Codec], ...]
    query: Codec | None
    body: BodyType | None
    reply: BodyType | None
    access: Access | None
    bearer: Bearer | None
    answers: tuple[int, ...] | None
    summary: str | None
    description: str | None


class Endpoint:
    """Routes below a prefix: `carts = Endpoint("/carts", access="internet")`."""

    def __init__(
        self, prefix: str, *, name: str | None = None, access: Access | None = None, bearer: Bearer | None = None
    ) -> None:
        """`name`: name in the log and the descriptor. `access`: `internet`, `services`, `local`, `nobody`, or a tuple of services. Without it every
        caller is admitted, and a deployed service logs a warning. `bearer`: asks all callers for an access token, which the runtime verifies; a route
        may replace the rule, and not take it away.
        """
        words = re.sub(r"[^A-Za-z0-9]+", "_", prefix).strip("_")
        self.name = name or f"endpoint_{words}"
        self.prefix = prefix
        self.access = _checked_access(access, f"endpoint '{self.name}'")
        self.bearer = checked_bearer(bearer, f"endpoint '{self.name}'")
        self.routes: list[Route] = []
        self._reader = TypeReader()

    def get(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Function], Function]:
        """Registers a handler for GET. See `route`."""
        return self.route("GET", path, **options)

    def post(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Function], Function]:
        """Registers a handler for POST. See `route`."""
        return self.route("POST", path, **options)

    def put(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Function], Function]:
        """Registers a handler for PUT. See `route`."""
        return self.route("PUT", path, **options)

    def patch(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Function], Function]:
        """Registers a handler for PATCH. See `route`."""
        return self.route("PATCH", path, **options)

    def delete(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Function], Function]:
        """Registers a handler for DELETE. See `route`."""
        return self.route("DELETE", path, **options)

    def route(
        self,
        method: str,
        path: str,
        *,
        access: Access | None = None,
        bearer: Bearer | None = None,
        answers: Sequence[int] | None = None,
        summary: str | None = None,
        description: str | None = None,
    ) -> Callable[[Function], Function]:
        """Registers a handler, which may be async. Its parameters are known by their names: those of the path, `body`, `query`, `context` and
        `request`. Its return type is that of the reply; None: there is none. `answers`: statuses of its responses.
        """

        def register(function: Function) -> Function:
            location = f"route {method} {self.prefix}{path}"
            hints = hints_of(function, location)
            in_path = _PARAMETER.findall(path)
            arguments = tuple(inspect.signature(function).parameters)
            for argument in arguments:
                if argument not in (*in_path, "body", "query", "context", "request"):
                    raise DefinitionError(
                        f"{location}: its handler has a parameter '{argument}': use the names of the path, body, query, context and request"
                    )
            if "return" not in hints:
                raise DefinitionError(f"{location}: its handler has no type of what it returns: write -> None, or the type of the reply")
            where = f"{location}, parameter"
            parameters = tuple(
                (one, Codec(self._reader.shape(hints.get(one, str), f"{where} '{one}'"), f"{where} '{one}'")) for one in in_path
            )
            reply = hints["return"]
            if typing.get_origin(reply) is Response:
                (reply,) = typing.get_args(reply)
            route = Route(
                method,
                path,
                function.__name__,
                function,
                inspect.iscoroutinefunction(function),
                arguments,
                parameters,
                self._query(hints, arguments, f"{location}, query"),
                self._body(hints["body"], f"{location}, body") if "body" in arguments and "body" in hints else None,
                None if reply is type(None) else self._body(reply, f"{location}, reply"),
                None if access is None else _checked_access(access, location),
                checked_bearer(bearer, location),
                None if answers is None else tuple(answers),
                summary,
                description,
            )
            if "body" in arguments and route.body is None:
                raise DefinitionError(f"{location}: the body has no type: write body: AddItem")
            self.routes.append(route)
            return function

        return register

    def _query(self, hints: dict[str, Any], arguments: tuple[str, ...], location: str) -> Codec | None:
        if "query" not in arguments:
            return None
        codec = Codec(self._reader.shape(hints.get("query"), location), location)
        if not isinstance(record_of(codec.shape), Record):
            raise DefinitionError(f"{location}: it is no frozen dataclass with a field for each name")
        return codec

    def _body(self, hint: Any, location: str) -> BodyType:
        if hint is bytes:
            return BodyType("bytes")
        markers = getattr(hint, "__metadata__", ())
        if any(isinstance(one, _PlainText) for one in markers):
            if any(isinstance(one, RULES) for one in markers):
                raise DefinitionError(f"{location}: a PlainText has no rules: check the text in the handler")
            return BodyType("text")
        return BodyType("json", Codec(self._reader.shape(hint, location), location))


def _checked_access(access: Access | None, location: str) -> Access | None:
    if access is None or isinstance(access, tuple) or access in _ACCESS:
        return access
    raise DefinitionError(f"{location}: there is no access '{access}': use one of {', '.join(_ACCESS)}, or a tuple of services")


def access_rule(access: Access | None) -> dict[str, Any]:
    """Returns the rule for the descriptor. Without one every caller is admitted."""
    if isinstance(access, tuple):
        return {"allow": "services", "services": list(access)}
    return {"allow": access or "internet"}
