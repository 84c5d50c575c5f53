"""Serves routes that ask for access tokens, and read the configuration: the same as members-program.ts."""

from __future__ import annotations

from dataclasses import dataclass

from svc_process import Bearer, Configuration, Context, Endpoint, Grants, Int32, Request, serve


@dataclass(frozen=True)
class Values:
    fee: str
    api_key: str


@dataclass(frozen=True)
class Member:
    subject: str
    roles: tuple[str, ...]
    fee: str
    key_length: Int32
    saw_token: bool


@dataclass(frozen=True)
class Visitor:
    is_known: bool


configuration = Configuration(Values, secrets=("api_key",))
members = Endpoint("/members", access="internet", bearer=Bearer())
visitors = Endpoint("/visitors", access="internet")


@members.get("/me")
async def me(request: Request, context: Context) -> Member:
    values = await context.settings(configuration)
    principal = request.principal
    assert principal is not None
    saw_token = request.header("authorization") is not None
    return Member(principal.subject, principal.roles, values.fee, len(values.api_key), saw_token)


@members.get("/admin", bearer=Bearer(roles=Grants.any("admin", "owner")))
async def admin(request: Request) -> Visitor:
    return Visitor(request.principal is not None)


@visitors.get("/me")
async def visitor(request: Request) -> Visitor:
    return Visitor(request.principal is not None)


if __name__ == "__main__":
    serve(endpoints=[members, visitors], configuration=configuration)
