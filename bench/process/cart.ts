// Cart: the shopping cart whose hostings are compared. The same definitions run embedded and in a process of their own; cart_process.py has
// the same component, events and routes in Python.
import { defineEndpoint, defineEntity, get, post } from '@svc/process';
import { Type } from 'typebox';

const Item = Type.Object({ sku: Type.String(), quantity: Type.Integer() });
const Cart = Type.Object({ items: Type.Array(Item) });
const Text = Type.Object({ text: Type.String() });

const cart = defineEntity({
  component: 'shopping-cart',
  state: { manifest: 'cart-state', schema: Cart },
  event: {
    manifest: 'cart-event',
    schema: Type.Union([
      Type.Object({
        type: Type.Literal('item-added'),
        sku: Type.String(),
        quantity: Type.Integer(),
      }),
    ]),
  },
  empty: () => ({ items: [] }),
  apply({ items }, { sku, quantity }) {
    const old = items.find((item) => item.sku === sku);
    const others = items.filter((item) => item.sku !== sku);
    return { items: [...others, { sku, quantity: (old?.quantity ?? 0) + quantity }] };
  },
  commands: {
    addItem: {
      input: Item,
      reply: Cart,
      handle(_state, { sku, quantity }, context) {
        if (quantity <= 0) return context.refuse('quantity: must be positive');
        return context.persist({ type: 'item-added', sku, quantity }).thenReplyState();
      },
    },
  },
  queries: {
    get: { reply: Cart, handle: (state) => state },
    echo: { input: Text, reply: Text, handle: (_state, text) => text },
  },
});

const endpoint = defineEndpoint({
  name: 'CartEndpoint',
  prefix: '/carts',
  access: 'internet',
  routes: {
    get: get('/{id}', { reply: Cart }, ({ parameters: { id } }, { call }) => call(cart, id).get()),
    addItem: post(
      '/{id}/items',
      { body: Item, reply: Cart },
      ({ parameters: { id }, body }, { call }) => call(cart, id).addItem(body),
    ),
  },
});

export const CART_COMPONENTS = { entities: [cart], endpoints: [endpoint], version: '1' };
