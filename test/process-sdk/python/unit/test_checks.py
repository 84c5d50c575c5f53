"""Checks run before the handlers of their routes, and admit nobody by mistake; declarations that are none are refused."""

from __future__ import annotations

import unittest
from typing import Any

from guarded_routes import Caller, guarded
from svc_process import BlockingContext, CheckRequest, Context, Cors, DefinitionError, Endpoint, Refusal, Response, Security
from svc_process.errors import Fault
from svc_process.testing import MemoryService

rooms = Endpoint("/rooms", access="local")
SEEN: list[Any] = []


def nothing(request: CheckRequest) -> Caller:
    if request.header("name") is not None:
        return Caller("ann")
    return None  # type: ignore[return-value]


def returned(request: CheckRequest) -> Caller:
    return Refusal("log in")  # type: ignore[return-value]


def value(request: CheckRequest) -> Any:
    return Response(5)


def optional(request: CheckRequest) -> Caller | None:
    return None


def only_local(request: CheckRequest) -> None:
    if request.caller != "local":
        raise Refusal("it is for this machine", "FORBIDDEN")


async def scoped(given: Caller, context: Context) -> Caller:
    context.scope_idempotency_key(given.name)
    return given


def seen(context: BlockingContext) -> int:
    return context.now_ms


@rooms.before(nothing).get("/nothing")
def get_nothing(given: Caller) -> None:
    SEEN.append(given)


@rooms.before(returned).get("/returned")
def get_returned() -> None:
    SEEN.append("returned")


@rooms.before(value).get("/value")
def get_value() -> None:
    SEEN.append("value")


@rooms.before(optional).get("/optional")
def get_optional(given: Caller | None) -> None:
    SEEN.append(given)


@rooms.before(only_local).before(nothing).before(scoped).post("/{id}")
async def post(id: int, body: int, given: Caller, request: Any) -> None:
    SEEN.append((id, body, given.name, type(request).__name__))


@rooms.before(seen).get("/seen")
async def get_seen(given: int) -> None:
    SEEN.append(given)


class Checks(unittest.TestCase):
    def setUp(self) -> None:
        SEEN.clear()
        self.service = MemoryService(endpoints=[rooms, guarded])

    def test_a_check_that_returns_nothing_by_mistake_admits_nobody(self) -> None:
        for path, words in (
            ("/rooms/nothing", "a check returned nothing, and its type is another one"),
            ("/rooms/returned", "a check returned a Refusal: raise it"),
            ("/rooms/value", "a check answers no value"),
        ):
            with self.assertRaisesRegex(Fault, words):
                self.service.request("GET", path)
        self.assertEqual(SEEN, [])
        self.service.request("GET", "/rooms/nothing", headers={"name": "x"})
        self.service.request("GET", "/rooms/optional")
        self.service.request("GET", "/rooms/seen")
        self.assertEqual(SEEN, [Caller("ann"), None, self.service.now_ms])

    def test_checks_run_in_their_order_before_anything_is_decoded(self) -> None:
        with self.assertRaisesRegex(Refusal, "it is for this machine"):
            self.service.request("POST", "/rooms/x", body="no", caller="internet")
        with self.assertRaisesRegex(Refusal, "path parameter 'id'.*body"):
            self.service.request("POST", "/rooms/x", body="no", headers={"name": "x"})
        self.service.request("POST", "/rooms/5", body=6, headers={"name": "x"})
        self.assertEqual(SEEN, [(5, 6, "ann", "Request")])
        with self.assertRaisesRegex(Refusal, "log in"):
            self.service.request("GET", "/guarded/mine/ann")
        answer = self.service.request("GET", "/guarded/mine/ann?a=1", headers={"Authorization": "Bearer ann", "If-None-Match": "1"})
        self.assertEqual((answer.status, answer.headers), (304, [("x-query", "a=1")]))

    def test_what_is_no_check_or_declaration_is_an_error_of_the_definition(self) -> None:
        def untyped(request):  # type: ignore[no-untyped-def]
            return 1

        def other(body: int) -> None:
            pass

        def given_first(given: int) -> None:
            pass

        for make, words in (
            (lambda: rooms.before(untyped), "check 'untyped' of endpoint 'endpoint_rooms': it has no type of what it returns"),
            (lambda: rooms.before(other), "it has a parameter 'body': use the names request, context"),
            (lambda: rooms.before(given_first), "it has a parameter 'given'"),
            (lambda: rooms.before(only_local, refusals={200: "x"}), "a refusal is 200: 'x'. Write a status from 400 to 599"),
            (lambda: rooms.before(only_local, security="bearer"), "write Security.bearer"),  # type: ignore[arg-type]
            (lambda: rooms.get("/x")(given_first), "its handler has a parameter 'given': use the names of the path, body"),
            (lambda: rooms.before(only_local).get("/{given}")(given_first), "the path has a parameter 'given'"),
            (lambda: rooms.get("/x", refusals={409: ""})(only_here), "a refusal is 409: ''"),
            (lambda: rooms.get("/x", cors=Cors())(only_here), "CORS is for routes that the internet may call"),
            (lambda: Endpoint("/x", cors=True), "cors is True: write cors=Cors()"),  # type: ignore[arg-type]
            (lambda: Endpoint("/x", cors=Cors(origins="https://a.b")), "the origins of its cors are 'https://a.b': write a tuple"),  # type: ignore[arg-type]
            (lambda: Endpoint("/x", cors=Cors(credentials=1)), "the credentials of its cors are 1"),  # type: ignore[arg-type]
        ):
            with self.assertRaisesRegex(DefinitionError, words):
                make()  # type: ignore[no-untyped-call]

    def test_the_last_security_counts(self) -> None:
        @rooms.before(only_local, security=Security.basic()).before(only_local, security=Security.header("x-key")).get("/last")
        def last() -> None:
            pass

        self.assertEqual(rooms.routes.pop().declared.security, Security.header("x-key"))


def only_here() -> None:
    pass


if __name__ == "__main__":
    unittest.main()
