"""Declared: what a route, or a check before it, declares about its refusals: their reasons, and how callers show who they are.

It is a description for the OpenAPI document. The code of the check or the handler judges what callers send.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, Mapping, Sequence

from .errors import DefinitionError


@dataclasses.dataclass(frozen=True)
class Security:
    """How callers show who they are: `Security.bearer(realm="shop")`, `Security.basic()` or `Security.header("x-key")`. A 401 without
    `WWW-Authenticate` is given that of the scheme.
    """

    scheme: Literal["bearer", "basic", "header"]
    #: Header that has the key, of the scheme `header`.
    name: str | None = None
    #: Realm in `WWW-Authenticate`. Without it: `svc`.
    realm: str | None = None
    description: str | None = None

    @staticmethod
    def bearer(*, realm: str | None = None, description: str | None = None) -> Security:
        """A token in the header `Authorization`."""
        return Security("bearer", None, realm, description)

    @staticmethod
    def basic(*, realm: str | None = None, description: str | None = None) -> Security:
        """A name and a password in the header `Authorization`."""
        return Security("basic", None, realm, description)

    @staticmethod
    def header(name: str, *, description: str | None = None) -> Security:
        """A key in a header of its own."""
        return Security("header", name, None, description)


@dataclasses.dataclass(frozen=True)
class Declared:
    """The declarations of a route or a check."""

    #: Reasons by status.
    refusals: Mapping[int, str]
    security: Security | None


def declared_of(refusals: Mapping[int, str] | None, security: Security | None, location: str) -> Declared:
    """Checks declarations. Raises DefinitionError."""
    for status, reason in (refusals or {}).items():
        if type(status) is not int or not 400 <= status <= 599 or not isinstance(reason, str) or reason == "":
            raise DefinitionError(f"{location}: a refusal is {status!r}: {reason!r}. Write a status from 400 to 599 and its reason: {{409: \"it was sold\"}}")
    if security is not None and not isinstance(security, Security):
        raise DefinitionError(f"{location}: security is {security!r}: write Security.bearer(), Security.basic() or Security.header(\"x-key\")")
    return Declared(dict(refusals or {}), security)


def merged(all: Sequence[Declared]) -> Declared:
    """Merges declarations: the last security counts, and different reasons for one status are joined."""
    reasons: dict[int, list[str]] = {}
    for one in all:
        for status, reason in one.refusals.items():
            known = reasons.setdefault(status, [])
            if reason not in known:
                known.append(reason)
    security = next((one.security for one in reversed(all) if one.security is not None), None)
    return Declared({status: "; ".join(reasons[status]) for status in sorted(reasons)}, security)


def declared_rules(declared: Declared) -> dict[str, Any]:
    """Returns the declarations for the descriptor of a route."""
    rules: dict[str, Any] = {}
    if declared.refusals:
        rules["refusals"] = [{"status": status, "reason": reason} for status, reason in declared.refusals.items()]
    if declared.security is not None:
        given = {name: value for name, value in dataclasses.asdict(declared.security).items() if value is not None}
        # Names of headers ignore case.
        rules["security"] = {**given, "name": given["name"].lower()} if "name" in given else given
    return rules
