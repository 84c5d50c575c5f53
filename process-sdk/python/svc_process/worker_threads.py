"""WorkerThreads run handlers that are not async.

Invariant: there are at most as many threads as given, and none of them keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from typing import Any, Callable

_Work = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", contextvars.Context, Callable[[], Any]]


class WorkerThreads:
    """A bounded number of threads, which are started when they are needed."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"the number of threads is from 1 on, found {count}")
        self._count = count
        self._started = 0
        self._idle = threading.Semaphore(0)
        self._queue: queue.SimpleQueue[_Work] = queue.SimpleQueue()

    async def run(self, function: Callable[[], Any]) -> Any:
        """Runs the function in a thread, and returns its result."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.put((loop, future, contextvars.copy_context(), function))
        if not self._idle.acquire(blocking=False) and self._started < self._count:
            self._started += 1
            threading.Thread(target=self._work, name=f"svc-handler-{self._started}", daemon=True).start()
        return await future

    def _work(self) -> None:
        while True:
            loop, future, context, function = self._queue.get()
            try:
                # A handler for which nobody waits any more is not begun.
                result, error = (None if future.done() else context.run(function)), None
            except BaseException as raised:  # A thread answers for whatever its handler raised.
                result, error = None, raised
            # Idle before the answer leaves, so that the next handler finds this thread.
            self._idle.release()
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                return  # The loop has ended.


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):
        future.set_exception(RuntimeError("the handler raised StopIteration"))
    else:
        future.set_exception(error)
