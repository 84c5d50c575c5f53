"""Bearer: the rule by which a route asks its callers for an access token, and the principal that the runtime has verified it to be of.

No request can bring a principal: the runtime sets the header that it is read from, and drops those that arrive.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final, Literal, Sequence

from .errors import DefinitionError
from .refusal import Refusal

_PRINCIPAL_FIELD: Final = "x-svc-principal"


@dataclasses.dataclass(frozen=True)
class Grants:
    """Roles or scopes that a caller needs: one of the names, or with `match="all"` every one of them."""

    names: tuple[str, ...]
    match: Literal["any", "all"] = "any"

    @staticmethod
    def any(*names: str) -> Grants:
        """One of the names is enough."""
        return Grants(names)

    @staticmethod
    def all(*names: str) -> Grants:
        """All of the names are needed."""
        return Grants(names, "all")


@dataclasses.dataclass(frozen=True)
class Bearer:
    """Asks callers for a good access token: `Bearer(roles=Grants.any("librarian", "admin"))`.

    Names have up to 255 visible ASCII characters, without quotation mark and backslash; there are at most 32 in each list.
    """

    roles: Grants | None = None
    scopes: Grants | None = None
    #: Leaves the token in the headers, for a handler that sends it on to another service.
    forwards_token: bool = False


@dataclasses.dataclass(frozen=True)
class Principal:
    """The sender of a request, by an access token that the runtime has verified."""

    #: Identifies the caller for all time, among those of the same issuer.
    subject: str
    #: URL of the identity provider.
    issuer: str
    #: Name for people; None when the token has none. It is not unique, and its owner may choose it.
    name: str | None
    #: None unless the identity provider has verified that the address is the caller's.
    email: str | None
    roles: tuple[str, ...]
    scopes: tuple[str, ...]
    #: All claims of the token, as JSON text.
    claims: str


def checked_bearer(bearer: Bearer | None, location: str) -> Bearer | None:
    """Raises DefinitionError for what is no rule."""
    if bearer is None or isinstance(bearer, Bearer):
        return bearer
    raise DefinitionError(f"{location}: bearer is {bearer!r}: write bearer=Bearer(), or Bearer(roles=Grants.any(...))")


def bearer_rule(bearer: Bearer) -> dict[str, Any]:
    """Returns the rule for the descriptor."""
    rule: dict[str, Any] = {}
    if bearer.roles is not None:
        rule["roles"] = _requirement(bearer.roles)
    if bearer.scopes is not None:
        rule["scopes"] = _requirement(bearer.scopes)
    if bearer.forwards_token:
        rule["forwardsToken"] = True
    return rule


def bearer_refusal(bearer: Bearer | None, principal: Principal | None) -> Refusal | None:
    """Returns the refusal of a caller whom the runtime would refuse; None if the rule admits it."""
    if bearer is None:
        return None
    if principal is None:
        return Refusal("the route asks for an access token: give a principal", "UNAUTHENTICATED")
    for noun, grants, had in (("roles", bearer.roles, principal.roles), ("scopes", bearer.scopes, principal.scopes)):
        if grants is not None and not _meets(grants, had):
            return Refusal(f"the principal needs {grants.match} of the {noun} {', '.join(grants.names)}", "FORBIDDEN")
    return None


def principal_field(principal: Principal) -> tuple[str, str]:
    """Returns the header by which a handler is told of the principal."""
    return _PRINCIPAL_FIELD, json.dumps(dataclasses.asdict(principal))


def principal_of(headers: Sequence[tuple[str, str]]) -> Principal | None:
    """Returns the principal of a request; None if its route has no bearer rule."""
    text = next((value for name, value in headers if name == _PRINCIPAL_FIELD), None)
    if text is None:
        return None
    found = json.loads(text)
    return Principal(
        found["subject"],
        found["issuer"],
        found.get("name"),
        found.get("email"),
        tuple(found["roles"]),
        tuple(found["scopes"]),
        found["claims"],
    )


def _requirement(grants: Grants) -> dict[str, Any]:
    return {"match": grants.match, "names": list(grants.names)}


def _meets(grants: Grants, had: Sequence[str]) -> bool:
    missing = [name for name in grants.names if name not in had]
    return not missing if grants.match == "all" else len(missing) < len(grants.names)
