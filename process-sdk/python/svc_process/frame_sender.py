"""FrameSender is how one side of a stream sends: all frames of a turn of the event loop together, within the window of the other side.

Invariants
S1  Frames leave in the order in which they were sent.
S2  No more bytes are in flight than the window of the other side, unless a message is alone and no more than half of it is not credited.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Awaitable, Callable, Final

#: Most bytes of a message, unless one of its frames is larger.
MESSAGE_BYTES_MAX: Final = 256 * 1024
#: Bytes that this side takes before it credits them.
WINDOW_BYTES: Final = 4 * 1024 * 1024
#: Most bytes of a frame.
FRAME_BYTES_MAX: Final = 64 * 1024 * 1024
#: Bytes that may be sent before the other side has said what it takes.
_FIRST_WINDOW_BYTES: Final = 1024 * 1024
_CREDIT_AFTER: Final = WINDOW_BYTES // 4


class FrameSender:
    """The frames of one stream that wait to be sent."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]], credit_frame: Callable[[int], bytes]) -> None:
        self._write = write
        self._credit_frame = credit_frame
        #: Bytes that the other side takes at once.
        self.window_bytes = _FIRST_WINDOW_BYTES
        self._in_flight = 0
        self._uncredited = 0
        #: Frames with their heads.
        self._unsent: deque[bytes] = deque()
        self._controls: list[bytes] = []
        #: Bytes of frames that wait.
        self.unsent_bytes = 0
        self._wake = asyncio.Event()
        self._is_closed = False

    def send(self, frame: bytes) -> None:
        """Sends an encoded frame, at the end of this turn of the event loop or later."""
        framed = _framed(frame)
        self._unsent.append(framed)
        self.unsent_bytes += len(framed)
        self._wake.set()

    def send_control(self, frame: bytes) -> None:
        """Sends an encoded Pong, which is not counted."""
        self._controls.append(_framed(frame))
        self._wake.set()

    def taken(self, count: int) -> None:
        """Notes that the frames of a message were taken, and credits them in time."""
        self._uncredited += count
        if self._uncredited >= _CREDIT_AFTER:
            self._wake.set()

    def credited(self, count: int) -> None:
        """Notes that the other side has credited bytes."""
        self._in_flight = max(0, self._in_flight - count)
        self._wake.set()

    def close(self) -> None:
        """Ends `run` once what may be sent is written."""
        self._is_closed = True
        self._wake.set()

    async def run(self) -> None:
        """Writes until it is closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while True:
                # Signs of life and credits pass by what waits for the window.
                control = self._next_control()
                if control:
                    await self._write(control)
                message = self._next_message()
                if not message:
                    break
                self._in_flight += len(message)
                await self._write(message)
            if self._is_closed:
                return

    def _next_control(self) -> bytes:
        """Takes the frames that are not counted."""
        if self._uncredited >= _CREDIT_AFTER:
            self._controls.append(_framed(self._credit_frame(self._uncredited)))
            self._uncredited = 0
        if not self._controls:
            return b""
        control, self._controls = b"".join(self._controls), []
        return control

    def _next_message(self) -> bytes:
        """Takes the frames of the next message; none if the window does not admit one."""
        unsent = self._unsent
        left = self.window_bytes - self._in_flight
        has_room = self._in_flight * 2 <= self.window_bytes
        frames: list[bytes] = []
        count = 0
        while unsent:
            grown = count + len(unsent[0])
            if frames:
                if grown > left or grown > MESSAGE_BYTES_MAX:
                    break
            elif grown > left and not has_room:
                break
            frames.append(unsent.popleft())
            count = grown
        self.unsent_bytes -= count
        return b"".join(frames)


def _framed(frame: bytes) -> bytes:
    """Returns the frame with its head, as an item of the field `frames = 1` of a message."""
    left = len(frame)
    if left < 0x80:
        return bytes((10, left)) + frame
    head = bytearray((10,))
    while left > 0x7F:
        head.append((left & 0x7F) | 0x80)
        left >>= 7
    head.append(left)
    return bytes(head) + frame
