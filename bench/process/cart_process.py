"""CartProcess: the cart of cart.ts in Python, in a process of its own, at the port of the variable SVC_PROCESS_PORT."""

from __future__ import annotations

from dataclasses import dataclass

from svc_process import CommandContext, Context, Effect, Endpoint, Entity, Int32, QueryContext, Refusal, serve


@dataclass(frozen=True)
class Item:
    sku: str
    quantity: Int32


@dataclass(frozen=True)
class Cart:
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class ItemAdded:
    sku: str
    quantity: Int32


cart = Entity(
    "shopping-cart",
    Cart,
    events=ItemAdded,
    empty=lambda _id: Cart(()),
    state_manifest="cart-state",
    event_manifest="cart-event",
)


@cart.apply
def apply(state: Cart, event: ItemAdded) -> Cart:
    old = next((item.quantity for item in state.items if item.sku == event.sku), 0)
    others = tuple(item for item in state.items if item.sku != event.sku)
    return Cart((*others, Item(event.sku, old + event.quantity)))


@cart.command("add-item")
def add_item(state: Cart, input: Item, context: CommandContext) -> Effect[Cart]:
    if input.quantity <= 0:
        raise Refusal("quantity: must be positive")
    return context.persist(ItemAdded(input.sku, input.quantity)).then_reply_from(lambda after: after)


@cart.query("get")
def get(state: Cart, _context: QueryContext) -> Cart:
    return state


@cart.query("echo")
def echo(_state: Cart, input: Text, _context: QueryContext) -> Text:
    return input


carts = Endpoint("/carts", name="CartEndpoint", access="internet")


@carts.get("/{id}")
async def get_cart(id: str, context: Context) -> Cart:
    return await context.entity(cart, id).call(get)


@carts.post("/{id}/items")
async def post_item(id: str, body: Item, context: Context) -> Cart:
    return await context.entity(cart, id).call(add_item, body)


serve(entities=[cart], endpoints=[carts], version="1")
