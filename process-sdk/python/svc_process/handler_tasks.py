"""HandlerTasks: the tasks that a handler starts. `sys.exit()` in one of them is an error of that task, which fails the handler that waits for it.

asyncio ends its event loop with a SystemExit that a task raises, and every other call with it.

Invariant: tasks outside of a handler are those of the event loop, unchanged.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, Callable, Final

#: Whether the code of a handler runs. A task has the context of the code that starts it.
_IS_HANDLER: Final[contextvars.ContextVar[bool]] = contextvars.ContextVar("svc_is_handler", default=False)


class ExitRaised(RuntimeError):
    """Reports a SystemExit of a task. It is the cause of this error."""


def begin_handler() -> None:
    """Marks the current task as that of a handler, with all tasks that it starts from now on."""
    loop = asyncio.get_running_loop()
    factory = loop.get_task_factory()
    if not isinstance(factory, _Factory):
        loop.set_task_factory(_Factory(factory))
    _IS_HANDLER.set(True)


class _Factory:
    """Makes the tasks of an event loop."""

    def __init__(self, former: Callable[..., Any] | None) -> None:
        self._former = former

    def __call__(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        if _IS_HANDLER.get() and asyncio.iscoroutine(coroutine):
            coroutine = _Guarded(coroutine)
        return (self._former or _plain_task)(loop, coroutine, **options)


def _plain_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
    return asyncio.Task(coroutine, loop=loop, **options)


class _Guarded(Coroutine[Any, Any, Any]):
    """A coroutine that raises ExitRaised where the given one raises SystemExit."""

    def __init__(self, given: Any) -> None:
        self._given = given

    def send(self, value: Any) -> Any:
        try:
            return self._given.send(value)
        except SystemExit as error:
            raise _raised(error) from error

    def throw(self, *error: Any) -> Any:
        try:
            return self._given.throw(*error)
        except SystemExit as raised:
            raise _raised(raised) from raised

    def close(self) -> None:
        self._given.close()

    def __await__(self) -> Any:
        return self._given.__await__()

    def __getattr__(self, name: str) -> Any:
        # Tools that show a task read the frame and the name of its coroutine.
        return getattr(self._given, name)


def _raised(error: SystemExit) -> ExitRaised:
    return ExitRaised(f"a task raised SystemExit({error.code!r})")
