"""A process that serves lets its event loop run beside computing handlers, and its functions name their options."""

from __future__ import annotations

import asyncio
import inspect
import sys
import typing
import unittest
from typing import Any
from unittest import mock

from given_stream import run
from svc_process import Endpoint, server
from svc_process.codec import json_text
from svc_process.components import Components
from svc_process.descriptor import describe
from svc_process.generated.svc.process.v1 import process_pb2 as pb
from svc_process.handlers import Handlers
from svc_process.served_stream import Program
from svc_process.worker_threads import WorkerThreads


class _Call:
    """A call of the runtime that takes what is written once `takes` is set. A second message breaks the protocol."""

    def __init__(self) -> None:
        hello = pb.Hello(versions=[1], window=pb.Window(bytes=4_194_304, calls=100, frame_bytes=4_194_304))
        self.messages = [pb.ToProcess(frames=[pb.ToProcessFrame(hello=hello)]).SerializeToString(), b"\xff"]
        self.takes = asyncio.Event()
        self.done: list[str] = []

    async def read(self) -> bytes:
        return self.messages.pop(0)

    async def write(self, _message: bytes) -> None:
        await self.takes.wait()
        self.done.append("written")

    async def abort(self, code: Any, _details: str) -> None:
        self.done.append(code.name)


async def _turns() -> None:
    """Lets the event loop turn."""
    for _ in range(20):
        await asyncio.sleep(0)


class Serving(unittest.TestCase):
    def test_computing_threads_let_the_event_loop_run_soon(self) -> None:
        def ended(work: Any) -> None:
            found.append(sys.getswitchinterval())
            work.close()

        found: list[float] = []
        before = sys.getswitchinterval()
        try:
            with mock.patch("asyncio.run", ended), mock.patch.object(server, "serve_async", mock.Mock()):
                server.serve()
        finally:
            sys.setswitchinterval(before)
        self.assertLessEqual(found[0], 0.0006)

    def test_a_stream_that_breaks_the_protocol_ends_with_its_status_however_late_the_runtime_takes_the_frames_before(self) -> None:
        async def test() -> None:
            loop = asyncio.get_running_loop()
            real_time = loop.time
            components = Components(endpoints=[])
            program = Program(
                components, Handlers(components, WorkerThreads(1)), json_text(describe(components)), "instance"
            )
            call = _Call()
            serving = asyncio.create_task(server._serve_stream(program, call, set()))
            await _turns()
            # Twenty seconds pass for whatever waits with a limit.
            with mock.patch.object(loop, "time", lambda: real_time() + 20):
                await _turns()
            self.assertEqual(call.done, [])
            call.takes.set()
            await serving
            self.assertEqual(call.done, ["written", "INVALID_ARGUMENT"])

        run(test)

    def test_serve_has_the_options_of_serve_async(self) -> None:
        self.assertEqual(inspect.signature(server.serve).parameters, inspect.signature(server.serve_async).parameters)

    def test_the_options_of_a_route_are_those_of_its_registration(self) -> None:
        options = set(inspect.signature(Endpoint.route).parameters) - {"self", "method", "path"}
        for function in (Endpoint.get, Endpoint.post, Endpoint.put, Endpoint.patch, Endpoint.delete):
            (hint,) = typing.get_args(typing.get_type_hints(function)["options"])
            self.assertEqual(set(typing.get_type_hints(hint)), options)


if __name__ == "__main__":
    unittest.main()
