// The program of docs/how-to/views.md, and that it does what the page says.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEndpoint,
  defineEntity,
  defineView,
  get,
  post,
} from '../../host/embed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const iso = (timeMs: number) => new Date(timeMs).toISOString();
const Amount = Type.Object({ cents: Type.Integer() });
const Place = Type.Object({ customer: Type.String(), cents: Type.Integer() });
const OrderRow = Type.Object({
  id: Type.String(),
  customer: Type.String(),
  cents: Type.Integer(),
  placedAt: Type.String({ format: 'date-time' }),
});
const Cursor = Type.Object({ cursor: Type.Optional(Type.String()) });
const OrderPage = Type.Object({ orders: Type.Array(OrderRow), next: Type.String() });

const order = defineEntity({
  component: 'order',
  state: { manifest: 'order', schema: Type.Object({ cents: Type.Integer() }) },
  event: {
    manifest: 'order-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('placed'), customer: Type.String(), cents: Type.Integer() }),
      Type.Object({ type: Type.Literal('changed'), cents: Type.Integer() }),
      Type.Object({ type: Type.Literal('cancelled') }),
    ]),
  },
  empty: () => ({ cents: 0 }),
  apply: (state, event) => (event.type === 'cancelled' ? state : { cents: event.cents }),
  commands: {
    place: {
      input: Place,
      handle: (_state, input, { persist }) => persist({ type: 'placed', ...input }).thenReply(),
    },
    change: {
      input: Amount,
      handle: (_state, input, { persist }) => persist({ type: 'changed', ...input }).thenReply(),
    },
    cancel: {
      handle: (_state, { persist }) => persist({ type: 'cancelled' }).thenReply(),
    },
  },
});

const orders = defineView({
  id: 'orders',
  version: '1',
  row: OrderRow,
  from: [
    {
      entity: order,
      fold(row, event, { put, remove, keep, entityId, timeMs }) {
        if (event.type === 'placed') {
          const { customer, cents } = event;
          return put({ id: entityId, customer, cents, placedAt: iso(timeMs) });
        }
        if (row === undefined) return keep();
        return event.type === 'changed' ? put({ ...row, cents: event.cents }) : remove();
      },
    },
  ],
  indexes: [['customer', 'placedAt']],
  queries: {
    ofCustomer: {
      where: 'customer = :customer and placedAt >= :since order by placedAt desc',
      parameters: Type.Object({
        customer: Type.String(),
        since: Type.String({ format: 'date-time' }),
      }),
    },
  },
});

const customers = defineEndpoint({
  prefix: '/customers',
  access: 'internet',
  routes: {
    place: post(
      '/{customer}/orders/{id}',
      { body: Amount, reply: OrderPage },
      async ({ parameters: { customer, id }, body }, { call, view }) => {
        await call(order, id).place({ customer, cents: body.cents });
        const since = '2000-01-01T00:00:00Z';
        const page = await view(orders).ofCustomer({ customer, since });
        if (!page.isOk) return page;
        return { orders: page.value.rows, next: page.value.cursor ?? '' };
      },
    ),
    list: get(
      '/{customer}/orders',
      { query: Cursor, reply: OrderPage },
      async ({ parameters: { customer }, query: { cursor } }, { view }) => {
        const since = '2000-01-01T00:00:00Z';
        const page = await view(orders).ofCustomer({ customer, since }, 50, cursor);
        if (!page.isOk) return page;
        return { orders: page.value.rows, next: page.value.cursor ?? '' };
      },
    ),
  },
});

test('the list of a customer has each order, its changes, and what a later request asks for', async () => {
  const dataFolder = temporaryFolder();
  const service = await createService({
    name: 'shop',
    dataFolder,
    entities: [order],
    endpoints: [customers],
    views: [orders],
    http: false,
    log: 'none',
  });
  onTestFinished(() => service.stop(0));
  const since = { customer: 'ada', since: '2000-01-01T00:00:00Z' };
  const placed = await service.fetch('/customers/ada/orders/o1', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"cents":1250}',
  });
  const row = { id: 'o1', customer: 'ada', cents: 1250, placedAt: expect.any(String) };
  expect([placed.status, await placed.json()]).toEqual([200, { orders: [row], next: '' }]);

  const position = placed.headers.get('svc-position')!;
  const headers = { 'svc-after': position };
  const listed = await service.fetch('/customers/ada/orders', { headers });
  expect(await listed.json()).toEqual({ orders: [row], next: '' });
  expect((await service.fetch('/customers/ada/orders?cursor=forged')).status).toBe(400);

  await service.call(order, 'o1').change({ cents: 900 });
  const rows = await service.view(orders, { after: service.position() }).ofCustomer(since);
  expect(rows).toMatchObject({ value: { rows: [{ ...row, cents: 900 }], cursor: undefined } });
  const one = await service.view(orders).get('o1');
  const counted = await service.view(orders).count('ofCustomer', since);
  expect(one).toMatchObject({ value: { row: { cents: 900 } } });
  expect(counted).toMatchObject({ value: { count: 1, hasMore: false } });
  await service.call(order, 'o1').cancel();
  expect(await service.view(orders, { after: service.position() }).ofCustomer(since)).toMatchObject(
    { value: { rows: [] } },
  );
});
