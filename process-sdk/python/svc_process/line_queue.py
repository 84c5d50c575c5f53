"""LineQueue: lines of the log on their way from the threads of handlers to the event loop.

Invariants: no more than CHARACTERS_MAX wait, however fast the threads log; the other lines are dropped and counted. The event loop is woken once
for all lines that wait.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Callable, Final, Sequence

#: Characters of the lines that may wait.
CHARACTERS_MAX: Final = 1024 * 1024
#: What a line takes besides its text.
_LINE_CHARACTERS: Final = 100

#: A level, a message, and the source of the line.
Line = tuple[str, str, str]


class LineQueue:
    """Lines that wait for the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[Sequence[Line], int], None]) -> None:
        """`take`: receives, in the event loop, the lines and the number of those that were dropped."""
        self._loop = loop
        self._take = take
        self._lock = threading.Lock()
        self._lines: list[Line] = []
        self._characters = 0
        self._dropped = 0

    def add(self, line: Line) -> None:
        """Adds a line, from any thread."""
        with self._lock:
            if self._characters > CHARACTERS_MAX:
                self._dropped += 1
                return
            is_first = not self._lines
            self._lines.append(line)
            self._characters += len(line[1]) + _LINE_CHARACTERS
        if is_first:
            try:
                self._loop.call_soon_threadsafe(self._empty)
            except RuntimeError:
                pass  # The loop has ended.

    def _empty(self) -> None:
        with self._lock:
            lines, dropped = self._lines, self._dropped
            self._lines, self._characters, self._dropped = [], 0, 0
        self._take(lines, dropped)
