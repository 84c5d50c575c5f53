"""A stream answers each call once, takes what it does not know, and is ended by what breaks the protocol."""

from __future__ import annotations

import asyncio
import threading
import unittest
from unittest import mock
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from cart import cart, carts
from given_stream import GivenStream, run
from svc_process import Bearer, BlockingContext, CommandContext, Context, Effect, Endpoint, Entity, QueryContext, Refusal, log
from svc_process.components import Components
from svc_process.errors import ProtocolError
from svc_process.generated.svc.process.v1 import process_pb2 as pb

CONTEXT = pb.Context(now_ms=1_700_000_000_000, seed_low=7)
CART = Components(entities=[cart], endpoints=[carts], version="1")


@dataclass(frozen=True)
class Odd:
    count: int = 0


@dataclass(frozen=True)
class Happened:
    count: int


odd = Entity("odd", Odd, events=Happened)


@odd.apply
def apply(state: Odd, event: Happened) -> Odd:
    if event.count == 13:
        raise ArithmeticError("thirteen")
    return Odd(state.count + event.count)


@odd.command("happen")
def happen(_state: Odd, input: int, context: CommandContext) -> Effect[int]:
    log(f"happens {input}")
    return context.persist(Happened(input)).then_reply_from(lambda state: state.count)


@odd.command("fail")
def fail(state: Odd, input: str, context: CommandContext) -> Effect[None]:
    if input == "change":
        state.count = 1  # type: ignore[misc]
    if input == "deep":
        return fail.function(state, input, context)  # type: ignore[no-any-return]
    if input == "refuse":
        raise Refusal("no", details={"a": object()})
    return None  # type: ignore[return-value]


@odd.query("random")
def random(_state: Odd, context: QueryContext) -> float:
    return context.random.random()


waits = Endpoint("/waits")


@waits.get("/async")
async def wait_async() -> None:
    await asyncio.sleep(3600)


@waits.get("/calls/{count}")
async def calls(count: int, context: Context) -> int:
    clients = [context.entity(odd, f"o{index}") for index in range(count)]
    return sum(await asyncio.gather(*(client.call(happen, 1) for client in clients)))


RUNNING = threading.Semaphore(0)
GO_ON = threading.Event()


@waits.get("/thread")
def wait_in_thread(context: BlockingContext) -> int:
    RUNNING.release()
    GO_ON.wait(20)
    return context.entity(odd, "o1").call(happen, 1)


ODD = Components(entities=[odd], endpoints=[waits])


def opened(number: int, component: str = "odd", call: int = 0, snapshot: str | None = None) -> Any:
    return pb.ToProcessFrame(call=call, entity=number, open=pb.OpenEntity(component=component, id="o1", snapshot=snapshot))


def command(call: int, name: str, input: str, entity: int = 1) -> Any:
    return pb.ToProcessFrame(call=call, entity=entity, command=pb.Command(context=CONTEXT, name=name, input=input))


def handled(call: int, route: int, *parameters: str) -> Any:
    return pb.ToProcessFrame(call=call, handle=pb.Handle(context=CONTEXT, route=route, parameters=parameters))


class Streams(unittest.TestCase):
    def in_stream(self, test: Callable[[GivenStream], Awaitable[None]], components: Components = ODD, **options: Any) -> None:
        async def tested() -> None:
            stream = GivenStream(components, **options)
            try:
                await test(stream)
            finally:
                stream.close()
            await stream.writer

        run(tested)

    def breaks(self, words: str, *frames: Any, first: tuple[Any, ...] = ()) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(*first)
            with self.assertRaisesRegex(ProtocolError, words):
                stream.send(*frames)

        self.in_stream(test)

    def test_a_command_is_set_aside_until_it_is_kept(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(opened(1), command(1, "happen", "2"), command(2, "happen", "3"))
            keep = pb.ToProcessFrame(entity=1, keep=pb.Keep())
            stream.send(keep, command(3, "happen", "4"), pb.ToProcessFrame(call=4, entity=1, snapshot=pb.TakeSnapshot()))
            answers = [one for one in await stream.read(7) if one.WhichOneof("frame") != "log"]
            self.assertEqual([one.effect.reply for one in answers[:3]], ["2", "3", "7"])
            self.assertTrue(answers[0].effect.replies_after)
            self.assertEqual(answers[3].state.json, '{"count":3}')

        self.in_stream(test)

    def test_the_frames_of_a_turn_are_one_message(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(opened(1), *(command(call, "fail", '"refuse"') for call in range(1, 101)))
            await asyncio.sleep(0.05)
            self.assertEqual(stream.message_count, 1)
            self.assertEqual([one.call for one in await stream.read(100)], list(range(1, 101)))

        async def started(stream: GivenStream) -> None:
            while stream.message_count == 0:
                await asyncio.sleep(0.001)
            stream._messages.clear()
            await test(stream)

        self.in_stream(started)

    def test_faults_have_a_cause_and_a_stack_and_concern_their_call_alone(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(
                opened(1),
                command(1, "fail", '"nothing"'),
                command(2, "fail", '"change"'),
                command(3, "fail", '"deep"'),
                command(4, "fail", '"refuse"'),
                command(5, "happen", "13"),
            )
            answers = [one for one in await stream.read(6) if one.WhichOneof("frame") != "log"]
            self.assertEqual([one.fault.cause for one in answers], ["trap", "trap", "stack", "trap", "trap"])
            self.assertIn("it returned no effect", answers[0].fault.stack)
            self.assertIn("cannot assign to field 'count'", answers[1].fault.stack)
            self.assertIn("ArithmeticError: thirteen", answers[4].fault.stack)
            self.assertEqual(answers[4].fault.message, "apply of component 'odd' raised an error")
            stream.send(command(6, "happen", "1"))
            self.assertEqual([one.effect.reply for one in await stream.read(2)][-1], "1")

        self.in_stream(test)

    def test_lines_of_the_log_have_their_source(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(opened(1), command(1, "happen", "2"))
            line = next(one.log for one in await stream.read(2) if one.WhichOneof("frame") == "log")
            self.assertEqual((line.level, line.message, line.source), ("info", "happens 2", "component odd"))

        self.in_stream(test)

    def test_what_is_not_known_is_ignored(self) -> None:
        async def test(stream: GivenStream) -> None:
            unknown = b"\xfa\x07\x03abc"
            frame = pb.ToProcessFrame(call=9).SerializeToString() + unknown
            stream.stream.on_message(b"\x0a" + bytes((len(frame),)) + frame + unknown)
            stream.send(pb.ToProcessFrame(hello=pb.Hello(versions=[1])), opened(1), command(1, "fail", '"refuse"'))
            self.assertEqual((await stream.read())[0].call, 1)

        self.in_stream(test)

    def test_a_runtime_of_another_version_is_rejected(self) -> None:
        async def test() -> None:
            stream = GivenStream(CART, pb.Hello(versions=[7]))
            (answer,) = await stream.read()
            stream.close()
            self.assertIn("the runtime 7", answer.rejected.reason)
            self.assertTrue(stream.stream.is_over)

        run(test)

    def test_what_breaks_the_protocol_is_named(self) -> None:
        refused = command(1, "fail", '"refuse"')
        result = pb.HostResult(number=1, done=pb.Done())
        self.breaks("number 1 of a call twice", refused, first=(opened(1), refused))
        self.breaks("number 1 of a entity twice", opened(1), first=(opened(1),))
        self.breaks("'command' without the number of its call", command(0, "fail", "1"), first=(opened(1),))
        self.breaks("without the number of its entity", opened(0))
        self.breaks("the component 'other', which is not here", opened(1, "other"))
        self.breaks("the host call 1, which is not open", pb.ToProcessFrame(call=1, result=result))
        self.breaks("the route 99, which is not here", handled(1, 99))
        self.breaks("the consumer 'none'", pb.ToProcessFrame(call=1, consume=pb.Consume(consumer="none")))
        self.breaks("the view 'none'", pb.ToProcessFrame(call=1, view_keys=pb.ViewKeys(view="none")))
        large = pb.ToProcessFrame(call=2, entity=1, query=pb.Query(input="x" * 300_000))
        self.breaks("more than 262144 bytes", command(1, "fail", "1"), large, first=(opened(1),))

    def test_a_message_that_does_not_decode_is_named(self) -> None:
        async def test(stream: GivenStream) -> None:
            for data in (b"\xff", b"\x0a\x05ab", b"\x0a\x02\xff\xff"):
                with self.assertRaisesRegex(ProtocolError, "does not decode"):
                    stream.stream.on_message(data)

        self.in_stream(test)

    def test_an_entity_that_cannot_be_opened_is_the_fault_of_its_calls(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(opened(1, call=1, snapshot='{"count":"x"}'), command(2, "happen", "1"), command(3, "happen", "1", entity=5))
            stream.send(opened(2, call=4, snapshot='{"count":5}'), pb.ToProcessFrame(entity=2, keep=pb.Keep()), command(5, "happen", "1", 2))
            answers = await stream.read(5)
            self.assertEqual([one.WhichOneof("frame") for one in answers], ["fault", "fault", "fault", "done", "fault"])
            self.assertIn("count: must be an integer", answers[0].fault.stack)
            self.assertEqual(answers[2].fault.message, "a call of an entity that is not open")
            self.assertEqual(answers[4].fault.message, "there was no state to keep")

        self.in_stream(test)

    def test_random_numbers_follow_from_the_seed(self) -> None:
        async def test(stream: GivenStream) -> None:
            query = pb.Query(context=CONTEXT, name="random", input="null")
            stream.send(opened(1), *(pb.ToProcessFrame(call=call, entity=1, query=query) for call in (1, 2)))
            first, second = await stream.read(2)
            self.assertEqual(first.reply.json, second.reply.json)

        self.in_stream(test)

    def test_no_more_calls_are_without_a_result_than_the_runtime_takes(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(handled(1, 1, "20"))
            made, settled = [], 0
            while settled < 20:
                made = await stream.read()
                self.assertLessEqual(len(made), 8)
                for one in made:
                    settled += 1
                    result = pb.HostResult(number=one.host_call.number, now_ms=1, reply=pb.Reply(json="1"))
                    stream.send(pb.ToProcessFrame(call=1, result=result))
            self.assertEqual((await stream.read())[0].response.body.json, "20")

        window = pb.Window(bytes=4 * 1024 * 1024, calls=8, frame_bytes=1024 * 1024)
        self.in_stream(test, hello=pb.Hello(versions=[1], window=window, developing=True))

    def test_the_end_of_a_handler_without_waiting_calls_does_not_copy_the_queue(self) -> None:
        async def test(stream: GivenStream) -> None:
            queue = stream.stream._host_calls
            stream.send(handled(1, 1, "5"), handled(2, 1, "1"))
            await stream.read(1)
            waiting = queue._waiting
            self.assertEqual(len(waiting), 5)
            stream.send(handled(3, 1, "0"))
            self.assertEqual([one.call for one in await stream.read()], [3])
            self.assertIs(queue._waiting, waiting)
            stream.send(pb.ToProcessFrame(call=1, cancel=pb.Cancel()))
            self.assertEqual([calls.queued for calls, _, _ in queue._waiting], [1])

        window = pb.Window(bytes=4 * 1024 * 1024, calls=1, frame_bytes=1024 * 1024)
        self.in_stream(test, hello=pb.Hello(versions=[1], window=window, developing=True))

    def test_the_failure_of_a_call_is_passed_on_and_a_result_of_another_kind_is_named(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(handled(1, 1, "1"), handled(2, 1, "1"))
            first, second = await stream.read(2)
            failed = pb.HostResult(number=first.host_call.number, failed=pb.Failed(word="TIMED_OUT"))
            stream.send(pb.ToProcessFrame(call=1, result=failed))
            (answer,) = await stream.read()
            self.assertEqual(answer.passed.number, first.host_call.number)
            page = pb.HostResult(number=second.host_call.number, page=pb.Page())
            with self.assertRaisesRegex(ProtocolError, "another kind with 'page'"):
                stream.send(pb.ToProcessFrame(call=2, result=page))

        self.in_stream(test)

    def test_cancelled_handlers_answer_once(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(handled(1, 0), handled(2, 2))
            await asyncio.to_thread(RUNNING.acquire)
            for call in (1, 2):
                stream.send(pb.ToProcessFrame(call=call, cancel=pb.Cancel(reason="its time is over")))
            answers = await stream.read(2)
            self.assertEqual({one.call: one.fault.cause for one in answers}, {1: "time", 2: "time"})
            GO_ON.set()
            stream.send(handled(3, 1, "0"))
            self.assertEqual([one.call for one in await stream.read()], [3])

        self.in_stream(test)

    def test_handlers_that_are_cancelled_before_they_begin_are_answered_and_forgotten(self) -> None:
        async def test(stream: GivenStream) -> None:
            cancel = pb.Cancel(reason="its time is over")
            for call in range(1, 101):
                stream.send(handled(call, 0), pb.ToProcessFrame(call=call, cancel=cancel))
            answers = await stream.read(100)
            self.assertEqual([(one.call, one.fault.cause) for one in answers], [(call, "time") for call in range(1, 101)])
            self.assertIn("its time is over", answers[0].fault.message)
            self.assertEqual(stream.stream._running, {})

        self.in_stream(test)

    def test_lines_of_threads_wait_within_a_bound_while_the_loop_computes(self) -> None:
        async def test(stream: GivenStream) -> None:
            wake = mock.Mock(wraps=stream.stream._loop.call_soon_threadsafe)
            with mock.patch.object(stream.stream._loop, "call_soon_threadsafe", wake):
                thread = threading.Thread(target=lambda: [log("x" * 10_000) for _ in range(1_000)])
                thread.start()
                thread.join()  # The loop does nothing meanwhile.
            self.assertEqual(wake.call_count, 1)
            await asyncio.sleep(0)
            log("the next")
            lines = [one.log.message for one in await stream.read(100)]
            self.assertEqual(len(lines), 104 + 2)
            self.assertEqual(lines[104:], ["896 lines were dropped, because the runtime did not take them", "the next"])

        self.in_stream(test)

    def test_a_handler_in_a_thread_waits_for_its_calls_and_keeps_nobody_waiting(self) -> None:
        async def test(stream: GivenStream) -> None:
            GO_ON.clear()
            stream.send(handled(1, 2), pb.ToProcessFrame(ping=pb.Ping(number=5)))
            self.assertEqual((await stream.read())[0].pong.number, 5)
            GO_ON.set()
            (made,) = await stream.read()
            self.assertEqual(made.host_call.entity.input, "1")
            result = pb.HostResult(number=made.host_call.number, reply=pb.Reply(json="8"))
            stream.send(pb.ToProcessFrame(call=1, result=result))
            self.assertEqual((await stream.read())[0].response.body.json, "8")

        self.in_stream(test)

    def test_a_frame_that_the_runtime_does_not_take_is_a_fault(self) -> None:
        async def test(stream: GivenStream) -> None:
            stream.send(opened(1, "shopping-cart"), command(1, "add-item", f'{{"sku":"{"x" * 5_000}","quantity":1}}'))
            self.assertEqual((await stream.read())[0].fault.cause, "limit")

        window = pb.Window(bytes=4 * 1024 * 1024, calls=8, frame_bytes=1024)
        self.in_stream(test, CART, hello=pb.Hello(versions=[1], window=window))

    def test_a_deployed_service_warns_once_of_endpoints_without_a_rule(self) -> None:
        async def test(stream: GivenStream) -> None:
            (line,) = await stream.read()
            self.assertEqual((line.log.level, line.log.source), ("warn", "process"))
            self.assertIn("every caller is admitted to GET /waits/async, GET /waits/calls/{count}, GET /waits/thread, ", line.log.message)
            self.assertIsNone(stream.program.warning())

        self.in_stream(test, hello=pb.Hello(versions=[1], developing=False))

    def test_the_warning_names_no_route_that_has_a_rule_and_tells_tokens_apart(self) -> None:
        ruled, open_, members = Endpoint("/ruled"), Endpoint("/open", access="local"), Endpoint("/members", bearer=Bearer())
        ruled.get("/", access="local")(wait_async)
        open_.get("/")(wait_async)

        async def quiet(stream: GivenStream) -> None:
            self.assertIsNone(stream.program.warning())

        deployed = pb.Hello(versions=[1], developing=False)
        self.in_stream(quiet, Components(endpoints=[ruled, open_]), hello=deployed)
        for number in range(12):
            members.get(f"/{number}")(wait_async)

        async def warned(stream: GivenStream) -> None:
            (line,) = await stream.read()
            self.assertTrue(line.log.message.startswith("every caller with an access token is admitted to GET /members/0, "))
            self.assertIn("GET /members/9 and 2 other routes, because no access is given", line.log.message)

        self.in_stream(warned, Components(endpoints=[ruled, members]), hello=deployed)

    def test_lines_that_the_runtime_does_not_take_are_dropped_and_counted(self) -> None:
        async def test(stream: GivenStream) -> None:
            for _ in range(1_000):
                log("x" * 10_000)
            await asyncio.sleep(0.05)
            self.assertLess(stream.stream.frames.unsent_bytes, 3 * 1024 * 1024)

        window = pb.Window(bytes=1024, calls=8, frame_bytes=1024 * 1024)
        self.in_stream(test, hello=pb.Hello(versions=[1], window=window, developing=True))


if __name__ == "__main__":
    unittest.main()
