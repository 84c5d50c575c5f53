"""Endpoint: the routes of a service below one prefix. The types of a route are read from the type hints of its handler."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from typing import Any, Callable, Final, Generic, Mapping, Sequence, TypedDict, TypeVar, Unpack

from .bearer import Bearer, checked_bearer
from .check import Check, check_of
from .codec import Codec
from .cors import Cors, checked_cors
from .declared import Declared, Security, declared_of, merged
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
    cors: Cors | None
    answers: Sequence[int] | None
    refusals: Mapping[int, str] | None
    security: Security | None
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
    cors: Cors | None
    answers: tuple[int, ...] | None
    #: Those of its checks and its own.
    declared: Declared
    #: Checks that run before the handler, in order.
    checks: tuple[Check, ...]
    summary: str | None
    description: str | None


class Routes:
    """Registers handlers, behind checks if there are any."""

    def __init__(self, endpoint: Endpoint, checks: tuple[Check, ...]) -> None:
        self._endpoint = endpoint
        self._checks = checks

    def before(
        self, check: Callable[..., Any], *, refusals: Mapping[int, str] | None = None, security: Security | None = None
    ) -> Routes:
        """Returns routes that run behind a check: `logged_in = members.before(caller_of)`, and then `@logged_in.get("/me")`. The check may be async. Its
        parameters are known by their names: `request`, a CheckRequest, `context`, and `given`, the result of the check before it. A Refusal that it
        raises, and `Response(None, ...)` that it returns, end the request before anything of it is decoded. Any other result is the parameter
        `given` of the handlers. `refusals`, `security`: described for each of the routes.
        """
        location = f"check '{getattr(check, '__name__', check)}' of endpoint '{self._endpoint.name}'"
        declared = declared_of(refusals, security, location)
        return Routes(self._endpoint, (*self._checks, check_of(check, declared, not self._checks, location)))

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
        cors: Cors | None = None,
        answers: Sequence[int] | None = None,
        refusals: Mapping[int, str] | None = None,
        security: Security | None = None,
        summary: str | None = None,
        description: str | None = None,
    ) -> Callable[[Function], Function]:
        """Registers a handler, which may be async. Its parameters are known by their names: those of the path, `body`, `query`, `context`,
        `request`, and `given` behind a check. Its return type is that of the reply; None: there is none. `answers`: statuses of its responses.
        `refusals`, `security`: a description of its refusals. `cors`: replaces that of the endpoint.
        """
        endpoint, checks = self._endpoint, self._checks

        def register(function: Function) -> Function:
            location = f"route {method} {endpoint.prefix}{path}"
            hints = hints_of(function, location)
            in_path = _PARAMETER.findall(path)
            arguments = tuple(inspect.signature(function).parameters)
            known = ("body", "query", "context", "request", *(("given",) if checks else ()))
            for argument in arguments:
                if argument not in (*in_path, *known):
                    raise DefinitionError(
                        f"{location}: its handler has a parameter '{argument}': use the names of the path, {', '.join(known[:-1])} and {known[-1]}"
                    )
            if checks and "given" in in_path:
                raise DefinitionError(f"{location}: the path has a parameter 'given', which is the name of a check's result: give it another name")
            if cors is not None and (access or endpoint.access or "internet") != "internet":
                raise DefinitionError(f"{location}: CORS is for routes that the internet may call: leave cors out, or write access=\"internet\"")
            if "return" not in hints:
                raise DefinitionError(f"{location}: its handler has no type of what it returns: write -> None, or the type of the reply")
            where = f"{location}, parameter"
            parameters = tuple(
                (one, Codec(endpoint.reader.shape(hints.get(one, str), f"{where} '{one}'"), f"{where} '{one}'")) for one in in_path
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
                _query(endpoint.reader, hints, arguments, f"{location}, query"),
                _body(endpoint.reader, hints["body"], f"{location}, body") if "body" in arguments and "body" in hints else None,
                None if reply is type(None) else _body(endpoint.reader, reply, f"{location}, reply"),
                None if access is None else _checked_access(access, location),
                checked_bearer(bearer, location),
                checked_cors(cors, location),
                None if answers is None else tuple(answers),
                merged([*(one.declared for one in checks), declared_of(refusals, security, location)]),
                checks,
                summary,
                description,
            )
            if "body" in arguments and route.body is None:
                raise DefinitionError(f"{location}: the body has no type: write body: AddItem")
            endpoint.routes.append(route)
            return function

        return register


class Endpoint(Routes):
    """Routes below a prefix: `carts = Endpoint("/carts", access="internet")`."""

    def __init__(
        self,
        prefix: str,
        *,
        name: str | None = None,
        access: Access | None = None,
        bearer: Bearer | None = None,
        cors: Cors | None = None,
    ) -> None:
        """`name`: name in the log and the descriptor. `access`: `internet`, `services`, `local`, `nobody`, or a tuple of services. Without it every
        caller is admitted, and a deployed service logs a warning. `bearer`: asks all callers for an access token, which the runtime verifies; a route
        may replace the rule, and not take it away. `cors`: which pages of other origins may call the routes that the internet may call.
        """
        super().__init__(self, ())
        words = re.sub(r"[^A-Za-z0-9]+", "_", prefix).strip("_")
        self.name = name or f"endpoint_{words}"
        self.prefix = prefix
        self.access = _checked_access(access, f"endpoint '{self.name}'")
        self.bearer = checked_bearer(bearer, f"endpoint '{self.name}'")
        self.cors = checked_cors(cors, f"endpoint '{self.name}'")
        self.routes: list[Route] = []
        #: Reads the types of its routes.
        self.reader = TypeReader()


def _query(reader: TypeReader, hints: dict[str, Any], arguments: tuple[str, ...], location: str) -> Codec | None:
    if "query" not in arguments:
        return None
    codec = Codec(reader.shape(hints.get("query"), location), location)
    if not isinstance(record_of(codec.shape), Record):
        raise DefinitionError(f"{location}: it is no frozen dataclass with a field for each name")
    return codec


def _body(reader: TypeReader, hint: Any, location: str) -> BodyType:
    if hint is bytes:
        return BodyType("bytes")
    markers = getattr(hint, "__metadata__", ())
    if any(isinstance(one, _PlainText) for one in markers):
        if any(isinstance(one, RULES) for one in markers):
            raise DefinitionError(f"{location}: a PlainText has no rules: check the text in the handler")
        return BodyType("text")
    return BodyType("json", Codec(reader.shape(hint, location), location))


def _checked_access(access: Access | None, location: str) -> Access | None:
    if access is None or isinstance(access, tuple) or access in _ACCESS:
        return access
    raise DefinitionError(f"{location}: there is no access '{access}': use one of {', '.join(_ACCESS)}, or a tuple of services")


def access_rule(access: Access | None) -> dict[str, Any]:
    """Returns the rule for the descriptor. Without one every caller is admitted."""
    if isinstance(access, tuple):
        return {"allow": "services", "services": list(access)}
    return {"allow": access or "internet"}
