// What the compiler makes of views: their descriptor, and the client by which handlers find rows.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import type { EndpointRequest } from '../../model/endpoint.ts';
import { answering, context, request, routeOf } from '../suites/hosting-suite.ts';
import { compileFixture } from '../support/compile-fixture.ts';

async function openGuest() {
  const guest = await createWasmGuest(await compileFixture('order-list'));
  onTestFinished(async () => guest.close());
  return guest;
}

const ROW = '{"status":"paid","cents":7,"placedAt":"2026-02-01T00:00:00.000Z","reminders":2}';
const page = { rows: [ROW], cursor: 'c2', asOfMs: undefined };
const SEARCH: Partial<EndpointRequest> = { body: { kind: 'json', text: '{"status":"paid"}' } };

/** Sends a request to the list of orders, whose rows `find` gives. */
async function listed(
  [method, path]: readonly [string, string],
  other: Partial<EndpointRequest>,
  find: NonNullable<HostCalls['find']>,
) {
  const guest = await openGuest();
  const route = request(routeOf(guest, method, path), { parameters: [], ...other });
  const calls = answering({ kind: 'reply', json: 'null' });
  return guest.endpoints.handle(context, route, { ...calls, find });
}
const LIST = ['GET', '/orders'] as const;
const FOUND = ['POST', '/orders/search'] as const;

test('the descriptor has the views, with their sources, indexes and queries', async () => {
  const { descriptor } = await openGuest();
  expect(descriptor.views).toEqual([
    {
      id: 'orders',
      sources: ['order'],
      row: { $ref: '#/types/OrderRow' },
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      indexes: [['status', 'placedAt']],
      queries: [
        {
          name: 'of-status',
          where: 'status = :status order by placedAt desc',
          parameters: { $ref: '#/types/OfStatus' },
        },
        { name: 'all', where: '', parameters: { $ref: '#/types/AllOrders' } },
      ],
    },
    {
      id: 'amounts',
      sources: ['order', 'account'],
      row: { $ref: '#/types/AmountRow' },
      computesKeys: true,
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      indexes: [],
      queries: [],
    },
  ]);
});

test('the descriptor of a module without views has no member for them', async () => {
  const guest = await createWasmGuest(await compileFixture('shopping-cart'));
  onTestFinished(async () => guest.close());
  expect(Object.keys(guest.descriptor)).not.toContain('views');
  expect(guest.views).toBeUndefined();
});

describe('the client of a view', () => {
  test('asks with the parameters as JSON, a limit and a cursor', async () => {
    const made: unknown[] = [];
    const find: NonNullable<HostCalls['find']> = (...query) => {
      made.push(query);
      return page;
    };
    await listed(FOUND, SEARCH, find);
    await listed(LIST, { query: 'limit=2&cursor=c1%20%F0%9F%8E%89' }, find);
    expect(made).toEqual([
      ['orders', 'of-status', '{"status":"paid"}', 100, undefined],
      ['orders', 'all', '{}', 2, 'c1 🎉'],
    ]);
  });

  test('decodes the rows', async () => {
    expect(await listed(FOUND, SEARCH, async () => page)).toMatchObject({
      body: { kind: 'json', text: `[${ROW}]` },
    });
  });

  test('gives a page, which has a JSON form', async () => {
    expect(await listed(LIST, {}, () => page)).toMatchObject({
      body: { text: `{"rows":[${ROW}],"cursor":"c2","asOf":null}` },
    });
    const last = { rows: [], cursor: undefined, asOfMs: 1_700_000_000_001 };
    expect(await listed(LIST, {}, async () => last)).toMatchObject({
      body: { text: '{"rows":[],"cursor":null,"asOf":"2023-11-14T22:13:20.001Z"}' },
    });
    const { descriptor } = await openGuest();
    expect(descriptor.types['Page<OrderRow>']).toEqual({
      type: 'object',
      properties: {
        rows: { type: 'array', items: { $ref: '#/types/OrderRow' } },
        cursor: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        asOf: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
      },
      required: ['rows'],
    });
  });

  test('passes a refusal on, also that of a wrong limit', async () => {
    const refused = {
      kind: 'refusal',
      code: 'BAD_REQUEST',
      message: 'the cursor is wrong',
    } as const;
    expect(await listed(LIST, {}, async () => refused)).toEqual(refused);
    expect(await listed(LIST, { query: 'limit=0' }, () => page)).toMatchObject({
      kind: 'refusal',
      message: 'the limit must be 1 to 1000',
    });
  });

  test('finds the row of a key, and counts the rows of a query', async () => {
    const asked: unknown[] = [];
    const answer =
      (...rows: readonly string[]): NonNullable<HostCalls['find']> =>
      (...query) => {
        asked.push(query);
        return { rows, cursor: undefined, asOfMs: rows.length > 1 ? 1 : undefined };
      };
    const byId = ['GET', '/orders/by-id/{id}'] as const;
    const COUNT = ['POST', '/orders/count'] as const;
    const parameters = ['o"1 🎉'];
    expect(await listed(byId, { parameters }, answer(ROW))).toMatchObject({ body: { text: ROW } });
    expect(await listed(byId, { parameters }, answer())).toMatchObject({ code: 'NOT_FOUND' });
    const some = answer('{"count":12,"hasMore":false}');
    expect(await listed(COUNT, SEARCH, some)).toMatchObject({ body: { text: '12' } });
    const many = answer('{"count":10000,"hasMore":true}', '');
    expect(await listed(COUNT, SEARCH, many)).toMatchObject({
      body: { text: '10000 and more frozen' },
    });
    expect(asked).toEqual([
      ['orders', 'by key', '{"key":"o\\"1 🎉"}', 1, undefined],
      ['orders', 'by key', '{"key":"o\\"1 🎉"}', 1, undefined],
      ['orders', 'count of-status', '{"status":"paid"}', 1, undefined],
      ['orders', 'count of-status', '{"status":"paid"}', 1, undefined],
    ]);
    const refused = { kind: 'refusal', code: 'BAD_REQUEST', message: 'no' } as const;
    expect(await listed(byId, { parameters }, () => refused)).toEqual(refused);
    expect(await listed(COUNT, SEARCH, () => refused)).toEqual(refused);
  });

  test('refuses rows that do not decode', async () => {
    expect(
      await listed(FOUND, SEARCH, () => ({ ...page, rows: [ROW, '{"status":"lost"}'] })),
    ).toMatchObject({
      kind: 'refusal',
      message: expect.stringContaining("a row of view 'orders' does not decode"),
    });
  });
});
