// FakeDescription: a service description with a route for each kind of type, as a service would send it.
import type { ServiceDescription, ServiceRoute } from '@svc/contract';

export const INSTANCE = 'a1b2c3d4e5f60718';
export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
export const FAILED_TRACE = '0af7651916cd43dd8448eb211c80319c';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 1, maximum: 999 } as const;
const reference = (name: string) => ({ $ref: `#/types/${name}` }) as const;

export const TYPES: ServiceDescription['types'] = {
  Item: {
    type: 'object',
    properties: {
      sku: { type: 'string', description: 'As printed on the article' },
      quantity: count,
      price: { type: 'number', format: 'double' },
      note: { anyOf: [text, { type: 'null' }] },
    },
    required: ['sku', 'quantity', 'price', 'note'],
  },
  Cart: {
    type: 'object',
    properties: {
      id: text,
      items: { type: 'array', items: reference('Item') },
      total: { type: ['integer', 'string'], format: 'int64' },
    },
    required: ['id', 'items', 'total'],
  },
  Card: {
    type: 'object',
    properties: {
      type: { const: 'card' },
      number: text,
      validTo: { type: 'string', format: 'date-time' },
    },
    required: ['type', 'number', 'validTo'],
  },
  Invoice: {
    type: 'object',
    properties: { type: { const: 'invoice' }, days: { type: 'integer', minimum: 0, maximum: 90 } },
    required: ['type', 'days'],
  },
  Payment: {
    oneOf: [reference('Card'), reference('Invoice')],
    discriminator: { propertyName: 'type' },
  },
  Category: {
    type: 'object',
    properties: {
      name: text,
      parent: { anyOf: [reference('Category'), { type: 'null' }] },
      children: { type: 'array', items: reference('Category') },
    },
    required: ['name', 'parent', 'children'],
  },
  Order: {
    type: 'object',
    properties: {
      customer: text,
      express: { type: 'boolean' },
      placedAt: { type: 'string', format: 'date-time' },
      colour: { type: 'string', enum: ['red', 'green', 'blue'] },
      points: { type: ['integer', 'string'], format: 'uint64' },
      weight: { type: 'number', format: 'float' },
      payment: reference('Payment'),
      items: { type: 'array', items: reference('Item') },
      labels: { type: 'object', additionalProperties: text },
      signature: { type: 'string', contentEncoding: 'base64' },
      coupon: text,
      category: reference('Category'),
      nothing: { type: 'null' },
    },
    required: [
      'customer',
      'express',
      'placedAt',
      'colour',
      'points',
      'weight',
      'payment',
      'items',
      'labels',
      'signature',
      'category',
      'nothing',
    ],
  },
};

const cartId = [{ name: 'cartId', schema: text }];
const cart = { kind: 'json', schema: reference('Cart') } as const;

const route = (
  method: string,
  path: string,
  handler: string,
  more: Partial<ServiceRoute> = {},
): ServiceRoute => ({
  method,
  path,
  endpoint: path.startsWith('/carts') ? 'CartEndpoint' : 'OrderEndpoint',
  handler,
  access: 'internet',
  parameters: path.includes('{cartId}') ? cartId : [],
  ...more,
});

export const ROUTES: ServiceRoute[] = [
  route('GET', '/carts/{cartId}', 'get', { reply: cart }),
  route('POST', '/carts/{cartId}/items', 'addItem', {
    body: { kind: 'json', schema: reference('Item') },
    reply: cart,
  }),
  route('DELETE', '/carts/{cartId}/items/{sku}', 'removeItem', {
    parameters: [...cartId, { name: 'sku', schema: text }],
  }),
  route('POST', '/carts/{cartId}/checkout', 'checkout', { access: 'services shop/till' }),
  route('POST', '/orders', 'place', { body: { kind: 'json', schema: reference('Order') } }),
  route('PUT', '/orders/note', 'note', { body: { kind: 'text' } }),
  route('PUT', '/orders/photo', 'photo', { body: { kind: 'bytes' }, access: 'local' }),
];

export const DESCRIPTION: ServiceDescription = {
  name: 'cart',
  instanceId: INSTANCE,
  runtimeVersion: '0.1.0',
  startedAt: new Date(Date.now() - 192_000).toISOString(),
  pid: 41_873,
  instances: [{ address: 'http://127.0.0.1:9000', shards: 2 }],
  components: [
    {
      component: 'shopping-cart',
      kind: 'event-sourced-entity',
      commands: [{ name: 'addItem' }, { name: 'removeItem' }, { name: 'checkout' }],
      queries: [
        { name: 'getCart', reply: reference('Cart') },
        { name: 'quantityOf', input: text, reply: count },
      ],
      state: { manifest: 'ShoppingCartState/1' },
      event: { manifest: 'ShoppingCartEvent/2' },
    },
    {
      component: 'customer',
      kind: 'event-sourced-entity',
      commands: [{ name: 'rename' }],
      queries: [],
      state: { manifest: 'Customer/1' },
      event: { manifest: 'CustomerEvent/1' },
    },
  ],
  routes: ROUTES,
  types: TYPES,
  module: { fingerprint: '9c1185a5c5e9fc54612808977ee8f548b2258d31', sdk: '0.1.0' },
  dev: true,
  control: null,
};
