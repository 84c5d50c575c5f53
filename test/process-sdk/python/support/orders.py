"""The order of fixtures/expiring-order in Python, with its views and its consumer: the same components, events, timers and routes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Literal

from svc_process import (
    DONE,
    BlockingContext,
    CommandContext,
    Consumer,
    ConsumerContext,
    Due,
    Effect,
    Endpoint,
    Entity,
    EventContext,
    FoldContext,
    Int64,
    QueryContext,
    Refusal,
    RowChange,
    Verdict,
    View,
    retry,
    skip,
)


@dataclass(frozen=True)
class Place:
    cents: Int64


@dataclass(frozen=True)
class Reminder:
    text: str


@dataclass(frozen=True)
class Order:
    status: Literal["New", "Placed", "Paid", "Expired"] = "New"
    cents: Int64 = 0
    reminders: int = 0


@dataclass(frozen=True)
class Placed:
    cents: Int64


@dataclass(frozen=True)
class Paid:
    pass


@dataclass(frozen=True)
class Reminded:
    text: str


@dataclass(frozen=True)
class Expired:
    pass


OrderEvent = Placed | Paid | Reminded | Expired

order = Entity("order", Order, events=OrderEvent)


@order.apply
def apply(state: Order, event: OrderEvent) -> Order:
    match event:
        case Placed(cents):
            return replace(state, status="Placed", cents=cents)
        case Paid():
            return replace(state, status="Paid")
        case Reminded():
            return replace(state, reminders=state.reminders + 1)
        case Expired():
            return replace(state, status="Expired")


@order.command("place")
def place(state: Order, input: Place, context: CommandContext) -> Effect[None]:
    if state.status != "New":
        raise Refusal("the order is placed already", "CONFLICT")
    change = context.persist(Placed(input.cents))
    return change.then_set_timer("expire", Due.after(timedelta(minutes=15)), expire.deferred(context.entity_id)).then_reply()


@order.command("pay")
def pay(state: Order, context: CommandContext) -> Effect[None]:
    if state.status != "Placed":
        raise Refusal("the order cannot be paid now", "CONFLICT")
    return context.persist(Paid()).then_cancel_timer("expire").then_cancel_timer("remind").then_reply()


@order.command("expire")
def expire(state: Order, context: CommandContext) -> Effect[None]:
    if state.status != "Placed":
        return context.reply()
    return context.persist(Expired()).then_cancel_timer("remind").then_reply()


@order.command("remind")
def remind(_state: Order, input: Reminder, context: CommandContext) -> Effect[None]:
    return context.persist(Reminded(input.text)).then_reply()


@order.command("extend")
def extend(state: Order, until: datetime, context: CommandContext) -> Effect[None]:
    if state.status != "Placed":
        raise Refusal("the order has no deadline", "CONFLICT")
    return context.set_timer("expire", Due.at(until), expire.deferred(context.entity_id)).then_reply()


@order.command("cancel")
def cancel(_state: Order, context: CommandContext) -> Effect[None]:
    return context.delete_entity().then_reply()


@order.query("get")
def get(state: Order, _context: QueryContext) -> Order:
    return state


orders_endpoint = Endpoint("/orders", name="OrderEndpoint", access="internet")


# The handlers of this endpoint are not async: they run in threads.
@orders_endpoint.put("/{id}")
def put_order(id: str, body: Place, context: BlockingContext) -> None:
    context.entity(order, id).call(place, body)


@orders_endpoint.get("/{id}")
def get_order(id: str, context: BlockingContext) -> Order:
    return context.entity(order, id).call(get)


@orders_endpoint.post("/{id}/payment")
def post_payment(id: str, context: BlockingContext) -> None:
    context.entity(order, id).call(pay)


@orders_endpoint.put("/{id}/reminders")
def put_reminders(id: str, body: Reminder, context: BlockingContext) -> None:
    context.set_timer("remind", Due.cron("0 9 * * *", "Europe/Berlin"), remind.deferred(id, body))


@orders_endpoint.delete("/{id}/reminders")
def delete_reminders(id: str, context: BlockingContext) -> None:
    context.cancel_timer(order, id, "remind")


@dataclass(frozen=True)
class Booking:
    order: str


@dataclass(frozen=True)
class Booked:
    order: str


@dataclass(frozen=True)
class Account:
    orders: tuple[str, ...] = ()


account = Entity("account", Account, events=Booked)


@account.apply
def apply_booking(state: Account, event: Booked) -> Account:
    return Account((*state.orders, event.order))


@account.command("book")
def book(_state: Account, input: Booking, context: CommandContext) -> Effect[None]:
    return context.persist(Booked(input.order)).then_reply()


@dataclass(frozen=True)
class OrderRow:
    status: Literal["placed", "paid", "expired"]
    cents: Int64
    placed_at: datetime
    reminders: int = 0


@dataclass(frozen=True)
class ByStatus:
    status: Literal["placed", "paid", "expired"]


orders = View("orders", OrderRow, version="1", indexes=[["status", "placedAt"]])
of_status = orders.query("of-status", "status = :status order by placedAt desc", ByStatus)
all_orders = orders.query("all")


@orders.fold(order)
def fold_order(row: OrderRow | None, event: OrderEvent, context: FoldContext) -> RowChange[OrderRow]:
    if isinstance(event, Placed):
        placed_at = datetime.fromtimestamp(context.time_ms / 1000, timezone.utc)
        return context.put(OrderRow("placed", event.cents, placed_at))
    if row is None:
        return context.keep()
    if isinstance(event, Reminded):
        return context.put(replace(row, reminders=row.reminders + 1))
    return context.put(replace(row, status="paid")) if isinstance(event, Paid) else context.remove()


@dataclass(frozen=True)
class AmountRow:
    orders: tuple[str, ...]


amounts = View("amounts", AmountRow, version="1")


@amounts.keys(order)
def amount_keys(event: OrderEvent, _context: EventContext) -> list[str]:
    return [str(event.cents), "all"] if isinstance(event, Placed) else []


@amounts.fold(order)
def fold_amount(row: AmountRow | None, _event: OrderEvent, context: FoldContext) -> RowChange[AmountRow]:
    return context.put(AmountRow((*(row.orders if row else ()), context.entity_id)))


@amounts.fold(account)
def fold_booking(row: AmountRow | None, event: Booked, context: FoldContext) -> RowChange[AmountRow]:
    return context.put(AmountRow((*(row.orders if row else ()), event.order)))


bookkeeping = Consumer("bookkeeping", start="beginning")


@bookkeeping.on(order)
async def book_payment(event: OrderEvent, context: ConsumerContext) -> Verdict:
    if isinstance(event, Reminded):
        return skip(f"reminder '{event.text}'")
    if isinstance(event, Expired):
        raise Refusal("no order expires here", "CONFLICT")
    if not isinstance(event, Paid):
        return DONE
    try:
        await context.entity(account, "main").call(book, Booking(context.entity_id))
    except Refusal as refusal:
        return retry(refusal.message, timedelta(seconds=5))
    return DONE
