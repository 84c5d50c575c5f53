"""Routes with CORS, checks and declared refusals: the same as guarded-routes.ts."""

from __future__ import annotations

from dataclasses import dataclass

from svc_process import CheckRequest, Context, Cors, Endpoint, PlainText, Refusal, Response, Security, serve


@dataclass(frozen=True)
class Caller:
    name: str


guarded = Endpoint("/guarded", access="internet", cors=Cors())
inner = Endpoint("/inner", access="services", cors=Cors(origins=("https://example.com",)))


async def caller_of(request: CheckRequest, context: Context) -> Caller:
    authorization = request.header("Authorization")
    if authorization is None:
        raise Refusal("log in", "UNAUTHENTICATED")
    return Caller(authorization.removeprefix("Bearer "))


def owner_of(given: Caller, request: CheckRequest) -> Caller | Response[None]:
    if request.header("if-none-match") == "1":
        return Response(None, status=304, headers={"x-query": request.query_text})
    if request.parameter("id") != given.name:
        raise Refusal("it is not yours", "FORBIDDEN")
    return given


def broken_check(request: CheckRequest) -> str:
    return request.parameter("nothing")


logged_in = guarded.before(
    caller_of,
    refusals={403: "it is not yours", 401: "there is no valid token"},
    security=Security.bearer(realm="shop", description="a token of the shop"),
)
owner = logged_in.before(owner_of, refusals={403: "somebody else has it"})


@guarded.get(
    "/open",
    cors=Cors(
        origins=("https://Shop.example.com", "https://*.example.com"), headers=("X-Trace",), exposed_headers=(), credentials=False
    ),
)
async def open() -> None:
    pass


@owner.get("/mine/{id}", refusals={409: "it was sold", 401: "there is no valid token"})
def mine(given: Caller) -> PlainText:
    return given.name


@guarded.get("/keyed", security=Security.header("X-Key"), refusals={429: "too often"})
async def keyed() -> None:
    pass


@logged_in.post("/basic", security=Security.basic(description="a name and a password"))
async def basic() -> None:
    pass


@guarded.before(broken_check).get("/broken")
async def broken() -> None:
    pass


@inner.post("/all", access="internet", cors=Cors(credentials=True))
async def all() -> None:
    pass


if __name__ == "__main__":
    serve(endpoints=[guarded, inner])
