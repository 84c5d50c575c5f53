"""The program of the SDK for Python for the conformance suite: the tally of test/process-sdk/typescript/support/tally.ts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from svc_process import (
    DONE,
    CallFailed,
    CommandContext,
    Consumer,
    ConsumerContext,
    Context,
    Due,
    Effect,
    Endpoint,
    Entity,
    EventContext,
    FoldContext,
    Int32,
    PlainText,
    QueryContext,
    Refusal,
    Response,
    RowChange,
    Verdict,
    View,
    retry,
    serve,
    skip,
)


@dataclass(frozen=True)
class Add:
    amount: Int32


@dataclass(frozen=True)
class AddAll:
    amounts: tuple[Int32, ...]


@dataclass(frozen=True)
class Note:
    text: str


@dataclass(frozen=True)
class TextOf:
    length: int


@dataclass(frozen=True)
class State:
    total: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tally:
    id: str
    total: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Added:
    amount: Int32


@dataclass(frozen=True)
class Noted:
    text: str


@dataclass(frozen=True)
class Broken:
    pass


Event = Added | Noted | Broken

tally = Entity("tally", State, events=Event, state_manifest="tally-state", event_manifest="tally-event")


@tally.apply
def apply(state: State, event: Event) -> State:
    match event:
        case Added(amount):
            return replace(state, total=state.total + amount)
        case Noted(text):
            return replace(state, notes=(*state.notes, text))
        case Broken():
            raise RuntimeError("this event cannot be applied")


@tally.command("add")
def add(state: State, input: Add, context: CommandContext) -> Effect[int]:
    if input.amount <= 0:
        raise Refusal("amount: must be positive")
    return context.persist(Added(input.amount)).then_reply(state.total + input.amount)


@tally.command("add-all")
def add_all(_state: State, input: AddAll, context: CommandContext) -> Effect[None]:
    return context.persist(*(Added(amount) for amount in input.amounts)).then_reply()


@tally.command("note")
def note(_state: State, input: Note, context: CommandContext) -> Effect[None]:
    return context.persist(Noted(input.text)).then_reply()


@tally.command("draw")
def draw(_state: State, context: CommandContext) -> Effect[None]:
    text = f"{context.now_ms} {context.metadata('traceparent') or 'none'} {context.random.random()}"
    return context.persist(Noted(text)).then_reply()


@tally.command("close")
def close(_state: State, _context: CommandContext) -> Effect[None]:
    raise Refusal("the tally is open", "OTHER", other_code="open", details={"limit": 3})


@tally.command("remind")
def remind(_state: State, context: CommandContext) -> Effect[None]:
    call = note.deferred(context.entity_id, Note("reminded"))
    return context.set_timer("remind", Due.after(timedelta(minutes=1)), call).then_cancel_timer("other").then_reply()


@tally.command("nothing")
def nothing(_state: State, context: CommandContext) -> Effect[None]:
    return context.reply()


@tally.command("remove")
def remove(_state: State, context: CommandContext) -> Effect[None]:
    return context.delete_entity().then_reply()


@tally.command("fail")
def fail(_state: State, _context: CommandContext) -> Effect[None]:
    raise RuntimeError("this command fails")


@tally.command("break")
def break_(_state: State, context: CommandContext) -> Effect[None]:
    return context.persist(Broken()).then_reply()


@tally.query("get")
def get(state: State, context: QueryContext) -> Tally:
    return Tally(context.entity_id, state.total, state.notes)


@tally.query("text")
def text(_state: State, input: TextOf, _context: QueryContext) -> str:
    return "x" * input.length


@dataclass(frozen=True)
class TotalRow:
    total: int


@dataclass(frozen=True)
class Least:
    least: int


totals: View[TotalRow] = View("totals", TotalRow, version="1", indexes=[["total"]])
large = totals.query("large", "total > :least", Least)


@totals.keys(tally)
def keys(event: Event, context: EventContext) -> list[str]:
    return [context.entity_id, "all"] if isinstance(event, Added) else []


@totals.fold(tally)
def fold(row: TotalRow | None, event: Event, context: FoldContext) -> RowChange[TotalRow]:
    if not isinstance(event, Added):
        return context.keep()
    return context.put(TotalRow((row.total if row else 0) + event.amount))


mirror = Consumer("mirror", start="beginning")


@mirror.on(tally)
async def mirrored(event: Event, context: ConsumerContext) -> Verdict:
    if isinstance(event, Noted):
        return skip(f"note '{event.text}'")
    if isinstance(event, Broken):
        raise Refusal("it is broken", "CONFLICT")
    try:
        await context.entity(tally, "mirror").call(add, Add(event.amount))
    except Refusal as refusal:
        return retry(refusal.message, timedelta(seconds=5))
    return DONE


tallies = Endpoint("/tallies", name="TallyEndpoint", access="internet")


@tallies.get("/{id}")
async def get_tally(id: str, context: Context) -> Tally:
    return await context.entity(tally, id).call(get)


@tallies.post("/{id}/add")
async def post_add(id: str, body: Add, context: Context) -> Response[int]:
    return Response(await context.entity(tally, id).call(add, body), status=201, headers={"x-id": id})


@tallies.get("/{id}/pair")
async def get_pair(id: str, context: Context) -> tuple[int, ...]:
    pair = await asyncio.gather(context.entity(tally, id).call(get), context.entity(tally, "other").call(get))
    return tuple(one.total for one in pair)


@tallies.get("/{id}/twice")
async def get_twice(id: str, context: Context) -> None:
    await context.entity(tally, id).call(add, Add(1))
    await context.entity(tally, id).call(add, Add(2))


@tallies.get("/{id}/caught")
async def get_caught(id: str, context: Context) -> PlainText:
    try:
        await context.entity(tally, id).call(get)
    except CallFailed:
        return "it failed"
    return "it did not fail"


@tallies.get("/{id}/history")
async def get_history(id: str, context: Context) -> tuple[int, ...]:
    return tuple(one.seq for one in await context.entity(tally, id).events(2, 10))


@tallies.put("/{id}/reminder")
async def put_reminder(id: str, context: Context) -> None:
    await context.set_timer("remind", Due.after(timedelta(minutes=1)), note.deferred(id, Note("reminded")))


@tallies.get("/{id}/time")
async def get_time(id: str, context: Context) -> tuple[int, ...]:
    before = context.now_ms
    await context.entity(tally, id).call(get)
    return (before, context.now_ms)


@tallies.get("/{id}/rate")
async def get_rate(id: str, context: Context) -> PlainText:
    response = await context.service("rates").request("GET", f"/rates/{id}")
    return f"{response.status} {response.text()}"


@tallies.get("/{id}/large")
async def get_large(id: str, context: Context) -> int:
    return len((await context.find(large, Least(2), limit=5)).rows)


@tallies.get("/{id}/fail")
async def get_fail(id: str) -> None:
    raise RuntimeError("this handler fails")


@tallies.get("/{id}/scoped")
async def get_scoped(id: str, context: Context) -> None:
    try:
        await context.entity(tally, id).call(get)
    finally:
        context.scope_idempotency_key("late")


serve(entities=[tally], endpoints=[tallies], views=[totals], consumers=[mirror], version="1")
