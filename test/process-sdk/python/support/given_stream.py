"""GivenStream: a stream of the runtime in memory. A test sends frames, and reads what the process answers."""

from __future__ import annotations

import asyncio
from typing import Any, Callable

from svc_process.codec import json_text
from svc_process.components import Components
from svc_process.descriptor import describe
from svc_process.generated.svc.process.v1 import process_pb2 as pb
from svc_process.handlers import Handlers
from svc_process.served_stream import Program, ServedStream
from svc_process.worker_threads import WorkerThreads


class GivenStream:
    """A stream whose handshake is done."""

    def __init__(self, components: Components, hello: Any = None, threads: int = 4) -> None:
        self._messages: list[bytes] = []
        self.program = Program(
            components, Handlers(components, WorkerThreads(threads)), json_text(describe(components)), "instance"
        )
        self.stream = ServedStream(self.program, self._write)
        self.writer = asyncio.create_task(self.stream.frames.run())
        greeting = hello or pb.Hello(versions=[1], developing=True)
        if not greeting.HasField("window"):
            greeting.window.bytes = 4 * 1024 * 1024
            greeting.window.calls = 100
            greeting.window.frame_bytes = 64 * 1024 * 1024
        self.send(pb.ToProcessFrame(hello=greeting))

    async def _write(self, message: bytes) -> None:
        self._messages.append(message)

    def send(self, *frames: Any) -> None:
        """Sends frames in one message. Raises ProtocolError."""
        self.stream.on_message(pb.ToProcess(frames=frames).SerializeToString())

    async def read(self, count: int = 1) -> list[Any]:
        """Returns the next frames besides those of the handshake, once there are so many."""
        found: list[Any] = []
        while len(found) < count:
            await asyncio.sleep(0.001)
            found = [
                frame
                for message in self._messages
                for frame in pb.FromProcess.FromString(message).frames
                if frame.WhichOneof("frame") not in ("welcome", "credit")
            ]
        self._messages.clear()
        return found

    @property
    def message_count(self) -> int:
        """The number of messages that were written and not read."""
        return len(self._messages)

    def close(self) -> None:
        """Ends the stream."""
        self.stream.close()


def run(test: Callable[[], Any]) -> None:
    """Runs an async test for at most 30 seconds."""
    asyncio.run(asyncio.wait_for(test(), 30))
