"""Request: a request as it came, whatever its route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .bearer import Principal, principal_of


@dataclass(frozen=True)
class Request:
    """A request as it came: a parameter of a handler with the name `request` receives it."""

    #: In lower case, in their order.
    headers: Sequence[tuple[str, str]]
    #: The query without its question mark.
    query_text: str
    #: `internet`, `local`, or `service <project>/<service>`.
    caller: str

    def header(self, name: str) -> str | None:
        """Returns the first header with this name, in any case."""
        wanted = name.lower()
        return next((value for known, value in self.headers if known == wanted), None)

    @property
    def principal(self) -> Principal | None:
        """The sender of the request, by its access token; None on routes without a bearer rule, whatever a request says."""
        return principal_of(self.headers)
