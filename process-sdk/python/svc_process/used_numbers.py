"""UsedNumbers: the numbers that the other side has used on a stream, none of which may come again.

Invariant: it takes bounded memory. Where many numbers are left out, the lowest of them count as used.
"""

from __future__ import annotations

from typing import Final

from .errors import ProtocolError

_BEYOND_MAX: Final = 4_096


class UsedNumbers:
    """The used numbers of one kind."""

    __slots__ = ("_beyond", "_kind", "_through")

    def __init__(self, kind: str) -> None:
        self._kind = kind
        #: All numbers up to this one are used.
        self._through = 0
        self._beyond: set[int] = set()

    def use(self, number: int) -> None:
        """Notes a number. Raises ProtocolError if it is 0, or was used before."""
        if number == self._through + 1:
            self._through = number
            if self._beyond:
                self._advance()
            return
        if number == 0:
            raise ProtocolError(f"it has sent a frame without the number of its {self._kind}")
        if number <= self._through or number in self._beyond:
            raise ProtocolError(f"it has used the number {number} of a {self._kind} twice")
        self._beyond.add(number)
        if len(self._beyond) > _BEYOND_MAX:
            # Half of them at once, so that a later number costs no search.
            numbers = sorted(self._beyond)
            self._through = numbers[_BEYOND_MAX // 2]
            self._beyond = set(numbers[_BEYOND_MAX // 2 + 1 :])
            self._advance()

    def _advance(self) -> None:
        while self._through + 1 in self._beyond:
            self._through += 1
            self._beyond.discard(self._through)
