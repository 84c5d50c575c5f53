"""Log: lines of the program's code, which go to the log of the runtime. Without a runtime they go to stderr."""

from __future__ import annotations

import contextvars
import sys
from typing import Callable, Final, Literal

from .mismatch import well_formed

Level = Literal["debug", "info", "warn", "error"]
#: Receives a level, a message, and the source of the line.
Sink = Callable[[str, str, str], None]

_LEVELS: Final = ("debug", "info", "warn", "error")
_MESSAGE_LENGTH_MAX: Final = 16_000
#: The source of lines that are logged now: `component NAME`, `endpoint NAME` or `process`.
SOURCE: Final[contextvars.ContextVar[str]] = contextvars.ContextVar("svc_source", default="process")
_sinks: list[Sink] = []


def log(message: str, level: Level = "info") -> None:
    """Logs a line. It goes to the runtime, with the name of the component or endpoint whose code runs."""
    if level not in _LEVELS:
        raise ValueError(f"there is no level {level!r}: use one of {', '.join(_LEVELS)}")
    text = well_formed(str(message))[:_MESSAGE_LENGTH_MAX]
    # Another thread may remove the last sink at any time.
    sink = next(iter(_sinks), None)
    if sink is not None:
        sink(level, text, SOURCE.get())
    else:
        print(f"{level}: {text}", file=sys.stderr, flush=True)


def add_sink(sink: Sink) -> None:
    """Sends later lines to the sink, unless an earlier one is there."""
    _sinks.append(sink)


def remove_sink(sink: Sink) -> None:
    """Sends no more lines to the sink."""
    if sink in _sinks:
        _sinks.remove(sink)
