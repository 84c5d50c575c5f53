"""Server listens for the runtime on loopback, and serves the components of a program to it."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import threading
import uuid
from typing import Any, Coroutine, Final, Iterable

import grpc

from .codec import json_text
from .components import Components, Configuration, Schedule
from .consumer import Consumer
from .descriptor import describe
from .endpoint import Endpoint
from .entity import Entity
from .errors import AddressError, DefinitionError, ProtocolError
from .frame_sender import FRAME_BYTES_MAX
from .handlers import Handlers
from .served_stream import Program, ServedStream
from .view import View
from .worker_threads import WorkerThreads

HOST: Final = "127.0.0.1"
PORT: Final = 9010
PORT_VARIABLE: Final = "SVC_PROCESS_PORT"
_SERVICE: Final = "svc.process.v1.Process"
#: Seconds that a process takes at most to end, once a signal has asked it to.
_END_SECONDS: Final = 5
#: Seconds after which a computing thread lets the others run. With Python's 5 ms a dozen computing handlers starve the answers to pings.
_SWITCH_SECONDS: Final = 0.0005
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", FRAME_BYTES_MAX + 1024),
    ("grpc.max_send_message_length", FRAME_BYTES_MAX + 1024),
    ("grpc.so_reuseport", 0),
)


class Served:
    """A process that listens."""

    def __init__(self, server: Any, address: str, streams: set[ServedStream]) -> None:
        self._server = server
        self._streams = streams
        #: `127.0.0.1:PORT`.
        self.address = address

    async def close(self) -> None:
        """Ends the streams of the runtime and stops listening."""
        for stream in list(self._streams):
            stream.close()
        await self._server.stop(0)

    async def wait(self) -> None:
        """Waits until it is closed."""
        await self._server.wait_for_termination()


async def serve_async(
    *,
    entities: Iterable[Entity[Any]] = (),
    endpoints: Iterable[Endpoint] = (),
    views: Iterable[View[Any]] = (),
    consumers: Iterable[Consumer] = (),
    schedules: Iterable[Schedule] = (),
    configuration: Configuration[Any] | None = None,
    version: str = "",
    port: int | None = None,
    handler_threads: int = 64,
) -> Served:
    """Serves the components to the runtime, which `svc run --process` or a sidecar runs, in the running event loop.

    `version`: change it whenever the same events give another state: with it the runtime stores snapshots. `port`: port on 127.0.0.1; 0 takes a free
    one. Default: that of the variable SVC_PROCESS_PORT, or else 9010. `handler_threads`: number of handlers that are not async and run at the same
    time. Raises DefinitionError if the components do not fit together, and AddressError if the port cannot be had.
    """
    components = Components(
        entities=entities,
        endpoints=endpoints,
        views=views,
        consumers=consumers,
        schedules=schedules,
        configuration=configuration,
        version=version,
    )
    handlers = Handlers(components, WorkerThreads(handler_threads))
    program = Program(components, handlers, json_text(describe(components)), str(uuid.uuid4()))
    streams: set[ServedStream] = set()

    async def open_stream(_requests: Any, context: Any) -> None:
        await _serve_stream(program, context, streams)

    server = grpc.aio.server(options=_OPTIONS)
    method = grpc.stream_stream_rpc_method_handler(open_stream)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Open": method}),))
    wanted = _port_of(os.environ.get(PORT_VARIABLE)) if port is None else port
    try:
        bound = server.add_insecure_port(f"{HOST}:{wanted}")
    except RuntimeError as error:
        raise _unavailable(wanted) from error
    if bound == 0:
        raise _unavailable(wanted)
    await server.start()
    return Served(server, f"{HOST}:{bound}", streams)


def serve(
    *,
    entities: Iterable[Entity[Any]] = (),
    endpoints: Iterable[Endpoint] = (),
    views: Iterable[View[Any]] = (),
    consumers: Iterable[Consumer] = (),
    schedules: Iterable[Schedule] = (),
    configuration: Configuration[Any] | None = None,
    version: str = "",
    port: int | None = None,
    handler_threads: int = 64,
) -> None:
    """Serves the components until the process receives SIGTERM or SIGINT. The options are those of `serve_async`.

    It prints the address where it listens, and lets each line that the program prints leave at once. A second signal, and code that does not end within 5 seconds, end the process at once.
    """
    # A pipe would keep what is printed until it has 8 KiB of it.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_SECONDS))
    served = serve_async(
        entities=entities,
        endpoints=endpoints,
        views=views,
        consumers=consumers,
        schedules=schedules,
        configuration=configuration,
        version=version,
        port=port,
        handler_threads=handler_threads,
    )
    asyncio.run(_until_signal(served))


async def _until_signal(starting: Coroutine[Any, Any, Served]) -> None:
    served = await starting
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    is_asked = False

    def stop(number: int, _frame: Any) -> None:
        # A handler of Python's own runs also while code of the program computes.
        nonlocal is_asked
        if is_asked:
            os._exit(128 + number)
        is_asked = True
        bound = threading.Timer(_END_SECONDS, os._exit, (128 + number,))
        bound.daemon = True
        bound.start()
        loop.call_soon_threadsafe(stopped.set)

    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, stop)
    print(f"listening at {served.address}", flush=True)
    await stopped.wait()
    await served.close()


async def _serve_stream(program: Program, context: Any, streams: set[ServedStream]) -> None:
    stream = ServedStream(program, context.write)
    streams.add(stream)
    writer = asyncio.create_task(stream.frames.run())
    problem: str | None = None
    try:
        while not stream.is_over:
            data = await context.read()
            if data is grpc.aio.EOF:
                break
            stream.on_message(data)
    except ProtocolError as error:
        problem = f"the runtime has broken the protocol: {error}"
    finally:
        stream.close()
        streams.discard(stream)
        # A writer that were cancelled amid a write would leave the call without a status, because grpc refuses two operations of a kind at a time.
        # A runtime that takes nothing ends the call itself: then the write fails.
        await asyncio.gather(writer, return_exceptions=True)
    if problem is not None:
        print(problem, file=sys.stderr, flush=True)
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)


def _unavailable(port: int) -> AddressError:
    return AddressError(f"The process cannot listen at {HOST}:{port}. Give another port.")


def _port_of(text: str | None) -> int:
    if text is None:
        return PORT
    if text.isascii() and text.isdigit() and int(text) <= 65_535:
        return int(text)
    raise DefinitionError(f"The variable {PORT_VARIABLE} is no port: give a number from 0 to 65535.")
