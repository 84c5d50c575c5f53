"""Errors of the SDK: definitions that do not fit, values that do not fit, and calls that failed."""

from __future__ import annotations


class DefinitionError(TypeError):
    """Reports a component that cannot be served. The message names the invalid part and what to do."""


class CodecError(ValueError):
    """Reports a value that does not fit its type. The message has the path of each mismatch."""


class AddressError(OSError):
    """Reports an address at which the process cannot listen."""


class ProtocolError(Exception):
    """Reports a frame that breaks the protocol. It ends its stream."""


class CallFailed(Exception):
    """Reports a call of a handler that failed. A handler that does not catch it ends with the same failure."""

    __slots__ = ("code", "number", "word")

    def __init__(self, text: str, word: str, code: str, number: int) -> None:
        """`word`: DENIED, UNAVAILABLE, TIMED_OUT or INTERNAL. `code`: code of docs/errors, or empty."""
        super().__init__(text)
        self.word = word
        self.code = code
        self.number = number


class Cancelled(Exception):
    """Ends the calls of a handler for which nobody waits any more."""


class Fault(Exception):
    """Reports code that failed. The caller receives nothing of it; the log of the runtime has the stack."""

    __slots__ = ("cause", "message", "stack")

    def __init__(self, cause: str, message: str, stack: str = "") -> None:
        """`cause`: trap, value, stack, memory, time or limit."""
        super().__init__(message if stack == "" else f"{message}\n{stack}")
        self.cause = cause
        self.message = message
        self.stack = stack
