// The shopping cart of fixtures/shopping-cart in TypeScript: the same component, events and routes.
import { Type } from 'typebox';
import { defineEndpoint } from '../../../components/endpoint-definition.ts';
import { del, get, post } from '../../../components/route-definition.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { defineEntity } from '../../../components/entity-definition.ts';
import type { ReadonlyDeep } from '../../../components/entity-context.ts';

const Int32 = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 });
const Item = Type.Object({ sku: Type.String(), quantity: Int32 });
const AddItem = Type.Object({
  sku: Type.String(),
  quantity: Int32,
  note: Type.String({ default: '' }),
});
const RemoveItem = Type.Object({ sku: Type.String() });
const Cart = Type.Object({
  id: Type.String(),
  items: Type.Array(Item),
  checkedOut: Type.Boolean(),
});
const CartState = Type.Object({ items: Type.Array(Item), checkedOut: Type.Boolean() });
type CartState = Type.Static<typeof CartState>;
const CartEvent = Type.Union([
  Type.Object({ type: Type.Literal('item-added'), sku: Type.String(), quantity: Int32 }),
  Type.Object({ type: Type.Literal('item-removed'), sku: Type.String() }),
  Type.Object({ type: Type.Literal('checked-out') }),
  Type.Object({ type: Type.Literal('removed') }),
]);
type CartEvent = Type.Static<typeof CartEvent>;

function apply(state: CartState, event: CartEvent): CartState {
  switch (event.type) {
    case 'item-added': {
      const { sku, quantity } = event;
      const isThere = state.items.some((item) => item.sku === sku);
      const items = isThere
        ? state.items.map((item) =>
            item.sku === sku ? { sku, quantity: item.quantity + quantity } : item,
          )
        : [...state.items, { sku, quantity }];
      return { ...state, items };
    }
    case 'item-removed':
      return { ...state, items: state.items.filter(({ sku }) => sku !== event.sku) };
    case 'checked-out':
      return { ...state, checkedOut: true };
    case 'removed':
      return state;
  }
}

const after = (state: ReadonlyDeep<CartState>, event: CartEvent): CartState =>
  apply(state as CartState, event);

export const cart = defineEntity({
  component: 'shopping-cart',
  state: { manifest: 'cart-state', schema: CartState },
  event: { manifest: 'cart-event', schema: CartEvent },
  empty: () => ({ items: [], checkedOut: false }),
  apply,
  commands: {
    addItem: {
      input: AddItem,
      reply: Cart,
      handle(state, { sku, quantity }, context) {
        if (state.checkedOut) return context.refuse('the cart is checked out', 'CONFLICT');
        if (sku === '') return context.refuse('sku: must not be empty');
        if (quantity <= 0) return context.refuse('quantity: must be positive');
        const event = { type: 'item-added', sku, quantity } as const;
        return context.persist(event).thenReply({ id: context.entityId, ...after(state, event) });
      },
    },
    removeItem: {
      input: RemoveItem,
      reply: Cart,
      handle(state, { sku }, context) {
        if (state.checkedOut) return context.refuse('the cart is checked out', 'CONFLICT');
        if (!state.items.some((item) => item.sku === sku))
          return context.refuse(`the cart has no '${sku}'`, 'NOT_FOUND');
        const event = { type: 'item-removed', sku } as const;
        return context.persist(event).thenReply({ id: context.entityId, ...after(state, event) });
      },
    },
    checkOut: {
      handle(state, context) {
        if (state.checkedOut) return context.reply();
        if (state.items.length === 0) return context.refuse('the cart is empty', 'CONFLICT');
        return context.persist({ type: 'checked-out' }).thenReply();
      },
    },
    remove: {
      handle: (_state, context) => context.persist({ type: 'removed' }).thenDelete().thenReply(),
    },
  },
  queries: {
    get: { reply: Cart, handle: (state, { entityId }) => ({ id: entityId, ...state }) },
    item: {
      input: RemoveItem,
      reply: Item,
      handle: (state, { sku }, context) =>
        state.items.find((item) => item.sku === sku) ??
        context.refuse(`the cart has no '${sku}'`, 'NOT_FOUND'),
    },
  },
});

export const cartEndpoint = defineEndpoint({
  name: 'CartEndpoint',
  prefix: '/carts',
  access: 'internet',
  routes: {
    get: get('/{id}', { reply: Cart }, ({ parameters: { id } }, { call }) => call(cart, id).get()),
    addItem: post(
      '/{id}/items',
      { body: AddItem, reply: Cart },
      ({ parameters: { id }, body }, { call }) => call(cart, id).addItem(body),
    ),
    item: get('/{id}/items/{sku}', { reply: Item }, ({ parameters: { id, sku } }, { call }) =>
      call(cart, id).item({ sku }),
    ),
    removeItem: del('/{id}/items/{sku}', { reply: Cart }, ({ parameters: { id, sku } }, { call }) =>
      call(cart, id).removeItem({ sku }),
    ),
    checkOut: post('/{id}/check-out', {}, ({ parameters: { id } }, { call }) =>
      call(cart, id).checkOut(),
    ),
    remove: del('/{id}', {}, ({ parameters: { id } }, { call }) => call(cart, id).remove()),
  },
});

/** `version`: version of its behaviour; without one it stores no snapshots. */
export const cartGuest = (version?: string) =>
  createEmbeddedGuest({
    entities: [cart],
    endpoints: [cartEndpoint],
    ...(version === undefined ? {} : { version }),
  });
