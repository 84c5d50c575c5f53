"""Refusal: the answer of code that refuses a call on purpose.

Invariant: what the constructor takes can be sent, so that code which refuses in a test also refuses under the runtime.
"""

from __future__ import annotations

from typing import Any, Final

from .json_form import json_form

#: Codes of refusals, as callers receive them.
REFUSAL_CODES: Final = frozenset(
    (
        "BAD_REQUEST",
        "UNAUTHENTICATED",
        "FORBIDDEN",
        "NOT_FOUND",
        "CONFLICT",
        "UNPROCESSABLE",
        "TOO_MANY_REQUESTS",
        "OTHER",
    )
)


class Refusal(Exception):
    """Refuses a call on purpose: `raise Refusal("the cart is checked out", "CONFLICT")`.

    A call of an entity that is refused raises the same. A handler that does not catch it passes it on to its own caller.
    """

    __slots__ = ("code", "details", "message", "other_code")

    def __init__(
        self,
        message: str,
        code: str = "BAD_REQUEST",
        *,
        details: Any = None,
        other_code: str = "",
    ) -> None:
        """`details`: details for the calling program, which are put into their JSON form. `other_code`: the name of the code `OTHER`."""
        for name, given in (("message", message), ("other_code", other_code)):
            if not isinstance(given, str):
                raise TypeError(f"the {name} of a refusal is a text, found {type(given).__name__}")
        if not isinstance(code, str) or code not in REFUSAL_CODES:
            raise ValueError(f"a refusal has no code {code!r}: use one of {', '.join(sorted(REFUSAL_CODES))}")
        super().__init__(message)
        self.message = message
        self.code = code
        #: As `json.loads` would return them.
        self.details = json_form(details, "the details of a refusal")
        self.other_code = other_code
