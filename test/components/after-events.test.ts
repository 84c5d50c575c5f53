// The program of docs/reference/embedding.md with a timer, a view, a consumer and a schedule, and the queries of its view.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  callOf,
  type Components,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  defineView,
  Due,
  get,
  post,
} from '../../host/embed.ts';
import type { HostCalls } from '../../model/guest.ts';
import type { CallingContext } from '../../components/calling-context.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import type { EntityEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';
import { handledByRoute } from './support/one-route.ts';

const Place = Type.Object({ customer: Type.String() });
const order = defineEntity({
  component: 'order',
  state: { manifest: 'order', schema: Type.Object({ paid: Type.Boolean() }) },
  event: {
    manifest: 'order-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('placed'), customer: Type.String() }),
      Type.Object({ type: Type.Literal('paid') }),
      Type.Object({ type: Type.Literal('expired') }),
    ]),
  },
  empty: () => ({ paid: false }),
  apply: (state, event) => (event.type === 'paid' ? { paid: true } : state),
  commands: {
    place: {
      input: Place,
      handle: (_state, { customer }, { persist, self }) =>
        persist({ type: 'placed', customer })
          .thenSetTimer('expire', Due.after(900_000), self.expire())
          .thenReply(),
    },
    pay: {
      handle: (_state, { persist }) =>
        persist({ type: 'paid' }).thenCancelTimer('expire').thenReply(),
    },
    expire: {
      handle: (state, { persist, reply }) =>
        state.paid ? reply() : persist({ type: 'expired' }).thenReply(),
    },
  },
});

const customer = defineEntity({
  component: 'customer',
  state: { manifest: 'customer', schema: Type.Integer() },
  event: {
    manifest: 'customer-event',
    schema: Type.Object({ type: Type.Literal('thanked'), order: Type.String() }),
  },
  empty: () => 0,
  apply: (state) => state + 1,
  commands: {
    thank: {
      input: Type.Object({ order: Type.String() }),
      handle: (_state, input, { persist }) => persist({ type: 'thanked', ...input }).thenReply(),
    },
    greet: { handle: (_state, { reply }) => reply() },
  },
});

const OrderRow = Type.Object({
  customer: Type.String(),
  status: Type.Enum(['placed', 'paid']),
  placedAt: Type.String({ format: 'date-time' }),
});

const orders = defineView({
  id: 'orders',
  version: '1',
  row: OrderRow,
  from: [
    {
      entity: order,
      fold(row, event, { put, remove, keep, timeMs }) {
        if (event.type === 'placed') {
          const placedAt = new Date(timeMs).toISOString();
          return put({ customer: event.customer, status: 'placed', placedAt });
        }
        if (row === undefined) return keep();
        return event.type === 'paid' ? put({ ...row, status: 'paid' }) : remove();
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

const thanks = defineConsumer({
  id: 'thanks',
  start: 'now',
  on: [
    {
      entity: order,
      async handle(event, { call, entityId, done, retry }) {
        if (event.type !== 'placed') return done();
        const thanked = await call(customer, event.customer).thank({ order: entityId });
        return thanked.isOk ? done() : retry(thanked.message);
      },
    },
  ],
});

const endpoint = defineEndpoint({
  name: 'orders',
  prefix: '/orders',
  access: 'internet',
  routes: {
    list: get(
      '/of/{name}',
      {
        query: Type.Object({ cursor: Type.Optional(Type.String()) }),
        reply: Type.Object({ orders: Type.Array(OrderRow), next: Type.String() }),
      },
      async ({ parameters: { name }, query: { cursor } }, { view }) => {
        const since = '2026-01-01T00:00:00Z';
        const page = await view(orders).ofCustomer({ customer: name, since }, 50, cursor);
        if (!page.isOk) return page;
        return { orders: page.value.rows, next: page.value.cursor ?? '' };
      },
    ),
    remind: post('/{id}/reminder', {}, ({ parameters: { id } }, { timers }) =>
      timers.set('expire', Due.after(3_600_000), callOf(order, id).expire()),
    ),
  },
});

const components: Components = {
  entities: [order, customer],
  endpoints: [endpoint],
  views: [orders],
  consumers: [thanks],
  schedules: [
    { id: 'greeting', due: Due.cron('0 9 * * MON-FRI'), call: callOf(customer, 'ann').greet() },
  ],
};

const context = { nowMs: 5, seed: 7n, metadata: [] } as const;
const wanted = { customer: 'ann', since: '2026-01-01T00:00:00Z' };
const calls: HostCalls = {
  nowMs: () => 6,
  call: () => ({ kind: 'reply', json: 'null' }),
  readEvents: () => [],
  ...WITHOUT_TIMERS,
};

describe('the descriptor', () => {
  test('has the views, consumers and schedules', () => {
    const { views, consumers, schedules } = createEmbeddedGuest(components).descriptor;
    const text = { type: 'string' };
    const time = { ...text, format: 'date-time' };
    expect(views).toMatchObject([
      {
        id: 'orders',
        sources: ['order'],
        definition: '1',
        row: {
          type: 'object',
          properties: { customer: text, status: { enum: ['placed', 'paid'] }, placedAt: time },
        },
        indexes: [['customer', 'placedAt']],
        queries: [
          {
            name: 'of-customer',
            where: 'customer = :customer and placedAt >= :since order by placedAt desc',
            parameters: { type: 'object', properties: { customer: text, since: time } },
          },
        ],
      },
    ]);
    expect(views![0]).not.toHaveProperty('computesKeys');
    expect(consumers).toEqual([{ id: 'thanks', sources: ['order'], start: 'now' }]);
    expect(schedules).toEqual([
      {
        id: 'greeting',
        target: { component: 'customer', id: 'ann' },
        command: 'greet',
        due: { kind: 'cron', expression: '0 9 * * MON-FRI', zone: 'UTC' },
      },
    ]);
  });

  test('has a computed key, and a query without parameters', () => {
    const byName = defineView({
      id: 'by-name',
      version: '2',
      row: OrderRow,
      from: [{ entity: order, keys: () => ['all'], fold: (_row, _event, { keep }) => keep() }],
      queries: { all: { where: '', name: 'everything' } },
    });
    expect(
      createEmbeddedGuest({ entities: [order], views: [byName] }).descriptor.views,
    ).toMatchObject([
      { computesKeys: true, indexes: [], queries: [{ name: 'everything', where: '' }] },
    ]);
  });

  test('has none of them for a program without', () => {
    const { descriptor } = createEmbeddedGuest({ entities: [order], views: [], schedules: [] });
    expect(Object.keys(descriptor)).toEqual(['protocol', 'sdk', 'types', 'entities', 'endpoints']);
  });

  const shown: object = {
    id: 'shown',
    version: '1',
    row: OrderRow,
    from: orders.sources.values().toArray(),
  };
  const viewed = (other: object): Components => ({
    entities: [order],
    views: [defineView({ ...shown, ...other } as never)],
  });
  const scheduled = (due: unknown, call: unknown, id = 'daily'): Components => ({
    entities: [order, customer],
    schedules: [{ id, due, call } as never],
  });
  const daily = Due.cron('@daily');
  const greet = callOf(customer, 'ann').greet();
  const ofStatus = {
    where: 'status = :status',
    parameters: Type.Object({ status: Type.Enum(['placed', 'paid']) }),
  };
  test.each<[string, () => Components, RegExp]>([
    [
      'a query without an index',
      () => viewed({ queries: { ofStatus } }),
      /of-status.*index.*status/,
    ],
    [
      'an unknown field',
      () => viewed({ queries: { all: { where: 'order by state' } } }),
      /'all', at character 10: the row has no field 'state'/,
    ],
    ['an index of no field', () => viewed({ indexes: [['age']] }), /the index \["age"\]: 'age'/],
    ['the id of an entity', () => viewed({ id: 'order' }), /view 'order' has the id of an entity/],
    ['a row that is no record', () => viewed({ row: Type.String() }), /its row is not a record/],
    [
      'a timer that is due once',
      () => scheduled(Due.after(1), greet),
      /'daily': it is due only once/,
    ],
    ['a period that is too short', () => scheduled(Due.every(1), greet), /schedule/],
    [
      'an expression that is none',
      () => scheduled(Due.cron('x'), greet),
      /expression 'x' has 1 field/,
    ],
    [
      'a zone that is none',
      () => scheduled(Due.cron('@daily', 'Nowhere'), greet),
      /zone 'Nowhere'/,
    ],
    [
      'no call',
      () => scheduled(daily, undefined),
      /'daily': it does not say when it is due, or what/,
    ],
    ['no due time', () => scheduled({ kind: 'every' }, greet), /'daily': it does not say when/],
    [
      'a call of nobody',
      () => ({ ...scheduled(daily, greet), entities: [order] }),
      /there is no entity 'customer'/,
    ],
  ])('is refused with %s', (_what, parts, problem) => {
    expect(() => createEmbeddedGuest(parts())).toThrow(
      expect.objectContaining({
        code: 'SVC_DEFINITION_INVALID',
        message: expect.stringMatching(problem),
      }),
    );
  });
});

const listed = async (given: Partial<HostCalls>, query = '') =>
  createEmbeddedGuest(components).endpoints.handle(
    context,
    {
      route: 0,
      parameters: ['ann'],
      query,
      headers: [],
      caller: 'local',
      body: { kind: 'none' },
    },
    { ...calls, ...given },
  );

const unreadable = () => ({ rows: ['{}'], cursor: undefined, asOfMs: undefined });
const nothing = () => ({ rows: [], cursor: undefined, asOfMs: undefined });

describe('the queries of a view', () => {
  const rowText = '{"customer":"ann","status":"paid","placedAt":"2026-02-01T00:00:00.000Z"}';

  test('are asked for with their parameters as JSON, and answer decoded rows', async () => {
    const made: unknown[] = [];
    const find: HostCalls['find'] = (...query) => {
      made.push(query);
      return { rows: [rowText], cursor: 'c2', asOfMs: undefined };
    };
    const input = '{"customer":"ann","since":"2026-01-01T00:00:00.000Z"}';
    expect(await listed({ find })).toMatchObject({
      body: { text: `{"orders":[${rowText}],"next":"c2"}` },
    });
    await listed({ find }, 'cursor=c2');
    expect(made).toEqual([
      ['orders', 'of-customer', input, 50, undefined],
      ['orders', 'of-customer', input, 50, 'c2'],
    ]);
  });

  test('pass a refusal on', async () => {
    const refusal = {
      kind: 'refusal',
      code: 'BAD_REQUEST',
      message: 'the cursor is wrong',
    } as const;
    expect(await listed({ find: async () => refusal })).toEqual(refusal);
  });

  test('are a fault where no views are served, and for a row that does not decode', async () => {
    await expect(listed({})).rejects.toMatchObject({
      guestMessage: expect.stringContaining("view 'orders' is not served here"),
    });
    await expect(listed({ find: unreadable })).rejects.toThrow('customer: is missing');
  });

  const refused: readonly [string, (given: CallingContext) => Promise<unknown>, string][] = [
    ['a limit of 0', ({ view }) => view(orders).ofCustomer(wanted, 0), 'limit is a whole number'],
    ['a fraction', ({ view }) => view(orders).ofCustomer(wanted, 1.5), 'limit is a whole number'],
    [
      'a parameter that does not fit',
      ({ view }) => view(orders).ofCustomer({ ...wanted, since: 'never' }),
      'since: must be a date and time',
    ],
    ['a view of others', async ({ view }) => view({ ...orders }), "none of this service's views"],
  ];
  test.each(refused)('are a fault for %s', async (_what, handle, problem) => {
    const { entities = [], views = [] } = components;
    const fault: unknown = await handledByRoute({ entities, views }, handle, {
      find: nothing,
    }).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(GuestFault);
    const { message, guestMessage } = fault as GuestFault;
    expect(`${message} ${guestMessage}`).toContain(problem);
  });
});

test('the consumer of the page calls the customer of a placed order', async () => {
  const made: unknown[] = [];
  const placed: EntityEvent = {
    entity: { component: 'order', id: 'o1' },
    seq: 1,
    timeMs: 5,
    event: { manifest: 'order-event', json: '{"type":"placed","customer":"ann"}' },
  };
  const call: HostCalls['call'] = ({ id }, name, input) => {
    made.push([id, name, input]);
    return { kind: 'reply', json: 'null' };
  };
  const { consumers } = createEmbeddedGuest(components);
  expect(await consumers!.handle(context, 'thanks', placed, { ...calls, call })).toEqual({
    kind: 'done',
  });
  expect(made).toEqual([['ann', 'thank', '{"order":"o1"}']]);
});
