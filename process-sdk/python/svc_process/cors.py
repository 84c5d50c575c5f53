"""Cors: which pages of other origins may call the routes of an endpoint, within what the operator allows."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import DefinitionError


@dataclasses.dataclass(frozen=True)
class Cors:
    """Lets pages of other origins call, within the settings `svc.http.cors.*`. `Cors()` allows all that they allow, and each field allows less:
    `Cors(origins=("https://shop.example.com",))`. Without one no page of another origin reads the responses.
    """

    #: Some of the allowed origins: `https://shop.example.com`, `https://*.example.com`.
    origins: tuple[str, ...] | None = None
    #: Some of the allowed request headers.
    headers: tuple[str, ...] | None = None
    #: Some of the allowed response headers.
    exposed_headers: tuple[str, ...] | None = None
    #: False: pages never send cookies, HTTP authentication or client certificates.
    credentials: bool | None = None


def checked_cors(cors: Cors | None, location: str) -> Cors | None:
    """Raises DefinitionError for what is no declaration."""
    if cors is None:
        return None
    if not isinstance(cors, Cors):
        raise DefinitionError(f"{location}: cors is {cors!r}: write cors=Cors(), or Cors(origins=(\"https://shop.example.com\",))")
    for name in ("origins", "headers", "exposed_headers"):
        given = getattr(cors, name)
        if given is not None and not (isinstance(given, tuple) and all(isinstance(one, str) for one in given)):
            raise DefinitionError(f"{location}: the {name} of its cors are {given!r}: write a tuple of texts, such as (\"x-trace\",)")
    if cors.credentials is not None and not isinstance(cors.credentials, bool):
        raise DefinitionError(f"{location}: the credentials of its cors are {cors.credentials!r}: write True or False")
    return cors


def cors_rule(cors: Cors) -> dict[str, Any]:
    """Returns the declaration for the descriptor, in lower case: origins and names of headers ignore case."""
    texts = {"origins": cors.origins, "headers": cors.headers, "exposedHeaders": cors.exposed_headers}
    rule: dict[str, Any] = {name: [one.lower() for one in given] for name, given in texts.items() if given is not None}
    return rule if cors.credentials is None else {**rule, "credentials": cors.credentials}
