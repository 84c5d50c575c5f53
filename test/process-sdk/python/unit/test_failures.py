"""Whatever the code of a program raises is the answer of its own call, and the same in a test as under the runtime."""

from __future__ import annotations

import asyncio
import functools
import gc
import unittest
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable

from given_stream import GivenStream, run
from svc_process import CommandContext, Context, Effect, Endpoint, Entity, FoldContext, FrozenMap, QueryContext, Refusal, Response, RowChange, View
from svc_process.components import Components
from svc_process.errors import Fault
from svc_process.frames import put_failure, refusal_of
from svc_process.generated.svc.process.v1 import process_pb2 as pb
from svc_process.testing import MemoryService


@dataclass(frozen=True)
class Seats:
    left: int = 0


@dataclass(frozen=True)
class Booked:
    count: int


@dataclass(frozen=True)
class Left:
    seats_left: int
    price: Decimal = Decimal("1.50")


hall = Entity("hall", Seats, events=Booked)
halls = Endpoint("/halls", access="local")
sizes = View("sizes", Seats, version="1")


@hall.apply
def apply(state: Seats, event: Booked) -> Seats:
    if event.count == 13:
        raise SystemExit(13)
    return Seats(state.left + event.count)


@hall.command("book")
def book(_state: Seats, input: int, context: CommandContext) -> Effect[None]:
    return context.persist(Booked(input)).then_reply()


@hall.command("raise")
def fail(_state: Seats, input: str, _context: CommandContext) -> Effect[None]:
    raise error_of(input)


@hall.query("raise it")
def fail_query(_state: Seats, _context: QueryContext) -> int:
    raise SystemExit(4)


@halls.get("/async/{input}")
async def fail_async(input: str, context: Context) -> None:
    raise error_of(input)


@halls.get("/thread/{input}")
def fail_in_thread(input: str) -> None:
    raise error_of(input)


@sizes.fold(hall)
def fold(_row: Seats | None, _event: Booked, _context: FoldContext) -> RowChange[Seats]:
    raise SystemExit(5)


groups = Endpoint("/groups", access="local")


async def refuse(message: str) -> None:
    raise Refusal(message, "CONFLICT")


async def divide() -> None:
    print(1 / 0)


@groups.get("/refused")
async def refused_in_group() -> None:
    async with asyncio.TaskGroup() as outer:
        outer.create_task(refuse("first"))
        async with asyncio.TaskGroup() as inner:
            inner.create_task(refuse("second"))
            inner.create_task(refuse("third"))


@groups.get("/mixed")
async def mixed_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(refuse("first"))
        group.create_task(divide())


async def leave() -> None:
    await asyncio.sleep(0)
    raise SystemExit(7)


@groups.get("/tasks/{how}")
async def leave_in_a_task(how: str) -> None:
    if how == "task":
        await asyncio.create_task(leave())
    elif how == "gather":
        await asyncio.gather(leave(), leave())
    elif how == "group":
        async with asyncio.TaskGroup() as group:
            group.create_task(leave())
            group.create_task(asyncio.sleep(60))
    elif how == "cancelled":
        asyncio.create_task(leave()).cancel()
        await asyncio.sleep(0)
    else:
        asyncio.create_task(leave(), name="left behind")
        await asyncio.sleep(0.01)


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


@groups.get("/decorated")
@traced
async def decorated() -> None:
    pass


def error_of(word: str) -> BaseException:
    if word == "exit":
        return SystemExit(3)
    if word == "code":
        return Refusal("x", "OTHER", other_code=5)  # type: ignore[arg-type]
    refusal = Refusal("x", "OTHER")
    refusal.other_code = 5  # type: ignore[assignment]
    return refusal


CONTEXT = pb.Context(now_ms=1_700_000_000_000)
SERVED = Components(entities=[hall], endpoints=[halls, groups], views=[sizes], version="1")


def answers(*frames: Any) -> list[Any]:
    """Returns the answers of a stream to calls."""

    async def asked() -> None:
        stream = GivenStream(SERVED)
        stream.send(*frames)
        found.extend(await stream.read(sum(1 for one in frames if one.call != 0)))
        stream.close()
        await stream.writer

    found: list[Any] = []
    run(asked)
    return found


class Failures(unittest.TestCase):
    def test_an_error_that_would_end_the_process_or_the_stream_is_a_fault_of_its_call(self) -> None:
        def command(call: int, name: str, input: str) -> Any:
            return pb.ToProcessFrame(call=call, entity=1, command=pb.Command(context=CONTEXT, name=name, input=input))

        def handle(call: int, route: int, word: str) -> Any:
            return pb.ToProcessFrame(call=call, handle=pb.Handle(context=CONTEXT, route=route, parameters=[word]))

        stored = pb.StoredEvent(manifest="hall-event", json='{"type":"booked","count":13}')
        event = pb.EntityEvent(component="hall", id="h1", seq=1, event=stored)
        found = answers(
            pb.ToProcessFrame(entity=1, open=pb.OpenEntity(component="hall", id="h1")),
            command(1, "raise", '"exit"'),
            command(2, "raise", '"code"'),
            command(3, "raise", '"changed"'),
            command(4, "book", "13"),
            pb.ToProcessFrame(call=5, entity=1, query=pb.Query(context=CONTEXT, name="raise it", input="null")),
            pb.ToProcessFrame(call=6, entity=1, apply=pb.Apply(events=[stored])),
            pb.ToProcessFrame(
                call=7, view_fold=pb.ViewFold(view="sizes", rows=[pb.Row(key="h1")], events=[pb.KeyedEvent(event=event, rows=[0])])
            ),
            *(handle(8 + index, index // 3, word) for index, word in enumerate(("exit", "code", "changed") * 2)),
            command(14, "book", "1"),
        )
        by_call = {one.call: one for one in found}
        self.assertEqual({call: by_call[call].fault.cause for call in range(1, 14)}, {call: "trap" for call in range(1, 14)})
        self.assertIn("SystemExit: 3", by_call[1].fault.stack)
        self.assertIn("the other_code of a refusal is a text, found int", by_call[2].fault.stack)
        self.assertEqual(by_call[14].WhichOneof("frame"), "effect")

    def test_an_exit_in_a_task_of_a_handler_fails_that_handler_alone(self) -> None:
        route = next(index for index, (_, one) in enumerate(SERVED.routes) if one.function is leave_in_a_task)

        def handle(call: int, how: str) -> Any:
            return pb.ToProcessFrame(call=call, handle=pb.Handle(context=CONTEXT, route=route, parameters=[how]))

        with self.assertLogs("asyncio", "ERROR") as logged:
            found = answers(*(handle(index + 1, how) for index, how in enumerate(("task", "gather", "group", "cancelled", "left"))))
            gc.collect()
        by_call = {one.call: one for one in found}
        for call in (1, 2, 3):
            self.assertEqual(by_call[call].fault.cause, "trap")
            self.assertIn("SystemExit: 7", by_call[call].fault.stack)
        self.assertEqual([by_call[call].response.status for call in (4, 5)], [204, 204])
        self.assertTrue(any("left behind" in line for line in logged.output))
        with self.assertRaisesRegex(Fault, "SystemExit: 7"):
            MemoryService(endpoints=[groups]).request("GET", "/groups/tasks/task")

    def test_a_task_beside_the_handlers_is_that_of_its_event_loop(self) -> None:
        made: list[Any] = []

        def factory(loop: Any, coroutine: Any, **options: Any) -> Any:
            made.append(coroutine)
            return asyncio.Task(coroutine, loop=loop, **options)

        async def tested() -> None:
            asyncio.get_running_loop().set_task_factory(factory)
            stream = GivenStream(SERVED)
            stream.send(pb.ToProcessFrame(call=1, handle=pb.Handle(context=CONTEXT, route=2, parameters=[])))
            await stream.read()
            coroutine = asyncio.sleep(0)
            await asyncio.create_task(coroutine)
            self.assertIs(made[-1], coroutine)
            stream.close()
            await stream.writer

        run(tested)

    def test_what_a_refusal_and_a_response_cannot_carry_is_refused_where_it_is_made(self) -> None:
        with self.assertRaisesRegex(TypeError, "the message of a refusal is a text, found int"):
            Refusal(5)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "object has no JSON form"):
            Refusal("no", details={"a": object()})
        with self.assertRaisesRegex(ValueError, "no number of JSON"):
            Refusal("no", details=[float("nan")])
        with self.assertRaisesRegex(TypeError, "a header of a response is a text, found 'x-count': 3"):
            Response(None, headers={"x-count": 3})  # type: ignore[dict-item]

    def test_the_details_of_a_refusal_have_the_json_form_of_their_type(self) -> None:
        given = {"hall": Left(3), "prices": (Decimal("2"), None), "by": FrozenMap({"a": frozenset(("y", "x"))})}
        wanted = {"hall": {"seatsLeft": 3, "price": "1.50"}, "prices": ["2", None], "by": {"a": ["x", "y"]}}
        refusal = Refusal("sold out", "CONFLICT", details=given)
        self.assertEqual(refusal.details, wanted)
        answer = pb.FromProcessFrame()
        put_failure(answer, refusal, "a command")
        self.assertEqual(refusal_of(answer.refusal).details, wanted)

    def test_details_that_a_caller_cannot_take_are_left_out(self) -> None:
        for text in ("[" * 500 + "]" * 500, "[" * 100_000, "NaN", "{"):
            self.assertIsNone(refusal_of(pb.Refusal(code="CONFLICT", message="no", details=text)).details)

    def test_a_test_in_memory_fails_as_the_runtime_does(self) -> None:
        service = MemoryService(entities=[hall], endpoints=[halls])
        with self.assertRaisesRegex(Fault, "SystemExit: 3"):
            service.call(fail, "h1", "exit")
        with self.assertRaisesRegex(Fault, "the other_code of a refusal is a text"):
            service.request("GET", "/halls/thread/code")

    def test_a_group_of_nothing_but_refusals_is_passed_on_as_the_first(self) -> None:
        service = MemoryService(entities=[hall], endpoints=[groups])
        with self.assertRaises(Refusal) as caught:
            service.request("GET", "/groups/refused")
        self.assertEqual(caught.exception.message, "first")
        with self.assertRaisesRegex(Fault, "ZeroDivisionError"):
            service.request("GET", "/groups/mixed")

    def test_a_decorator_that_hides_an_async_handler_is_named(self) -> None:
        with self.assertRaisesRegex(Fault, "make the function of the decorator async"):
            MemoryService(endpoints=[groups]).request("GET", "/groups/decorated")


if __name__ == "__main__":
    unittest.main()
