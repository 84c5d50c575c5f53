"""Faults: errors of the program's code as the runtime and its log receive them. The caller receives nothing of them."""

from __future__ import annotations

import traceback
from typing import Final

from .errors import CodecError, Fault

#: What the code of a program may raise, and its call answers for. SystemExit would end the process, and all other calls with it.
CODE_ERRORS: Final = (Exception, SystemExit)
_STACK_LENGTH_MAX: Final = 16_000


def fault_of(what: str, error: BaseException) -> Fault:
    """Converts an error. `what`: the code that raised it, such as `command 'add-item' of component 'cart'`."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, CodecError):
        return Fault("value", f"{what} made a value that does not fit: {error}", _stack(error))
    cause = "trap"
    if isinstance(error, RecursionError):
        cause = "stack"
    elif isinstance(error, MemoryError):
        cause = "memory"
    return Fault(cause, f"{what} raised an error", _stack(error))


def _stack(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error, limit=-30)).rstrip()
    return text if len(text) <= _STACK_LENGTH_MAX else f"{text[:2000]}\n…\n{text[2000 - _STACK_LENGTH_MAX:]}"
