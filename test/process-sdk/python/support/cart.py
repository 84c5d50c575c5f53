"""The shopping cart of fixtures/shopping-cart in Python: the same component, events and routes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from svc_process import CommandContext, Context, Effect, Endpoint, Entity, Int32, QueryContext, Refusal


@dataclass(frozen=True)
class Item:
    sku: str
    quantity: Int32


@dataclass(frozen=True)
class AddItem:
    sku: str
    quantity: Int32
    note: str = ""


@dataclass(frozen=True)
class RemoveItem:
    sku: str


@dataclass(frozen=True)
class Cart:
    id: str
    items: tuple[Item, ...]
    checked_out: bool


@dataclass(frozen=True)
class CartState:
    items: tuple[Item, ...]
    checked_out: bool


@dataclass(frozen=True)
class ItemAdded:
    sku: str
    quantity: Int32


@dataclass(frozen=True)
class ItemRemoved:
    sku: str


@dataclass(frozen=True)
class CheckedOut:
    pass


@dataclass(frozen=True)
class Removed:
    pass


CartEvent = ItemAdded | ItemRemoved | CheckedOut | Removed

cart = Entity(
    "shopping-cart",
    CartState,
    events=CartEvent,
    empty=lambda _id: CartState((), False),
    state_manifest="cart-state",
    event_manifest="cart-event",
)


@cart.apply
def apply(state: CartState, event: CartEvent) -> CartState:
    match event:
        case ItemAdded(sku, quantity):
            if any(item.sku == sku for item in state.items):
                items = tuple(
                    Item(sku, item.quantity + quantity) if item.sku == sku else item for item in state.items
                )
            else:
                items = (*state.items, Item(sku, quantity))
            return replace(state, items=items)
        case ItemRemoved(sku):
            return replace(state, items=tuple(item for item in state.items if item.sku != sku))
        case CheckedOut():
            return replace(state, checked_out=True)
        case Removed():
            return state


def view(state: CartState, id: str) -> Cart:
    return Cart(id, state.items, state.checked_out)


@cart.command("add-item")
def add_item(state: CartState, input: AddItem, context: CommandContext) -> Effect[Cart]:
    if state.checked_out:
        raise Refusal("the cart is checked out", "CONFLICT")
    if input.sku == "":
        raise Refusal("sku: must not be empty")
    if input.quantity <= 0:
        raise Refusal("quantity: must be positive")
    event = ItemAdded(input.sku, input.quantity)
    return context.persist(event).then_reply(view(apply(state, event), context.entity_id))


@cart.command("remove-item")
def remove_item(state: CartState, input: RemoveItem, context: CommandContext) -> Effect[Cart]:
    if state.checked_out:
        raise Refusal("the cart is checked out", "CONFLICT")
    if all(item.sku != input.sku for item in state.items):
        raise Refusal(f"the cart has no '{input.sku}'", "NOT_FOUND")
    id = context.entity_id
    return context.persist(ItemRemoved(input.sku)).then_reply_from(lambda after: view(after, id))


@cart.command("check-out")
def check_out(state: CartState, context: CommandContext) -> Effect[None]:
    if state.checked_out:
        return context.reply()
    if not state.items:
        raise Refusal("the cart is empty", "CONFLICT")
    return context.persist(CheckedOut()).then_reply()


@cart.command("remove")
def remove(_state: CartState, context: CommandContext) -> Effect[None]:
    return context.persist(Removed()).then_delete().then_reply()


@cart.query("get")
def get(state: CartState, context: QueryContext) -> Cart:
    return view(state, context.entity_id)


@cart.query("item")
def item(state: CartState, input: RemoveItem, _context: QueryContext) -> Item:
    for one in state.items:
        if one.sku == input.sku:
            return one
    raise Refusal(f"the cart has no '{input.sku}'", "NOT_FOUND")


carts = Endpoint("/carts", name="CartEndpoint", access="internet")


@carts.get("/{id}")
async def get_cart(id: str, context: Context) -> Cart:
    return await context.entity(cart, id).call(get)


@carts.post("/{id}/items")
async def post_item(id: str, body: AddItem, context: Context) -> Cart:
    return await context.entity(cart, id).call(add_item, body)


@carts.get("/{id}/items/{sku}")
async def get_item(id: str, sku: str, context: Context) -> Item:
    return await context.entity(cart, id).call(item, RemoveItem(sku))


@carts.delete("/{id}/items/{sku}")
async def delete_item(id: str, sku: str, context: Context) -> Cart:
    return await context.entity(cart, id).call(remove_item, RemoveItem(sku))


@carts.post("/{id}/check-out")
async def post_check_out(id: str, context: Context) -> None:
    await context.entity(cart, id).call(check_out)


@carts.delete("/{id}")
async def delete_cart(id: str, context: Context) -> None:
    await context.entity(cart, id).call(remove)
