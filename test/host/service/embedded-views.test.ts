// The views of an embedded service, on a real folder: what a handler finds, restarts, other definitions, damaged files, and
// events that cannot be folded.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isInDatabase, orDatabase, storages } from '../../support/postgres/journal-tier.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { order, orderService, type OrderService, ordersView } from './support/order-service.ts';

const BUILT_AGAIN = 'the rows of the view are built again';

async function start(...options: Parameters<typeof orderService>): Promise<OrderService> {
  const started = await orderService(...options);
  onTestFinished(() => started.service.stop(0));
  return started;
}

const place = ({ service }: OrderService, id: string, cents: number, customer = 'ada') =>
  service.fetch(`/customers/${customer}/orders/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ cents }),
  });
const list = ({ service }: OrderService, headers: Record<string, string> = {}) =>
  service.fetch('/customers/ada/orders', { headers });
const allRows = async ({ service, orders }: OrderService) => {
  const page = await service.view(orders, { after: service.position() }).all(1_000);
  return page.isOk ? page.value.rows : page;
};
const viewFiles = (dataFolder: string) =>
  readdirSync(join(dataFolder, 'views')).filter((name) => name.endsWith('.sqlite'));
const errorOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { readonly error: string }).error,
];

describe.each(storages(() => ({ dataFolder: temporaryFolder() })))('views %s', (_name, storage) => {
  test('have what the handler has just stored, each time', async () => {
    const started = await start(await storage());
    const expected: { customer: string; cents: number }[] = [];
    for (let at = 0; at < 50; at++) {
      expected.unshift({ customer: 'ada', cents: at });
      const placed = await place(started, `o${at}`, at);
      expect([placed.status, await placed.json()]).toEqual([200, expected]);
    }
    // A page has 100 rows, and none of another customer.
    await place(started, 'other', 1, 'bob');
    expect(await (await list(started)).json()).toEqual(expected);
  });

  test('have what Svc-After names, and not the rows of what was deleted before', async () => {
    const started = await start(await storage());
    const placed = await place(started, 'o1', 5);
    const token = placed.headers.get('svc-position')!;
    expect(token).toMatch(/^p1-/);
    const found = await list(started, { 'svc-after': token });
    expect([found.status, await found.json()]).toEqual([200, [{ customer: 'ada', cents: 5 }]]);
    // Rows in PostgreSQL are those of every node: whoever has found them finds them without a position.
    expect(found.headers.get('svc-position')).toBe(isInDatabase ? 'p1-0' : token);
    await started.service.call(order, 'o1').cancel();
    const after = await list(started, { 'svc-after': started.service.position() });
    expect(await after.json()).toEqual([]);
  });

  test('show nobody how much is stored, if the program says so', async () => {
    const started = await start(await storage(), undefined, {}, { position: false });
    const placed = await place(started, 'o1', 5);
    expect([placed.status, placed.headers.has('svc-position')]).toEqual([200, false]);
    const found = await list(started, { 'svc-after': started.service.position() });
    expect([found.status, await found.json()]).toEqual([200, [{ customer: 'ada', cents: 5 }]]);
  });

  test('give the row of a key, and the number of rows', async () => {
    const started = await start(await storage());
    for (let at = 0; at < 12; at++) await place(started, `o${at}`, at);
    await place(started, 'other', 1, 'bob');
    const { service, orders } = started;
    const client = service.view(orders, { after: service.position() });
    const found = { row: { customer: 'ada', cents: 3 }, asOfMs: undefined };
    expect(await client.get('o3')).toMatchObject({ value: found });
    expect(await client.get('none')).toMatchObject({ value: { row: undefined } });
    expect(await client.get('x'.repeat(2_000))).toMatchObject({ code: 'BAD_REQUEST' });
    const counted = { count: 12, hasMore: false, asOfMs: undefined };
    expect(await client.count('ofCustomer', { customer: 'ada' })).toMatchObject({ value: counted });
    expect(await client.count('all')).toMatchObject({ value: { count: 13 } });
    await expect(client.count('ofCustomer', { customer: 7 as never })).rejects.toThrow(TypeError);
    const untyped = client as unknown as { count(query: string): Promise<unknown> };
    await expect(untyped.count('none')).rejects.toThrow("no query 'none'");
  });

  test('refuse a token that this service has not given', async () => {
    const started = await start(await storage());
    for (const token of [
      '',
      'p1-',
      'p1-x',
      'p2-0',
      'p1-1',
      'p1-99999999999999999999',
      '0',
      'p1--1',
    ])
      expect(await errorOf(await list(started, { 'svc-after': token }))).toEqual([
        400,
        expect.stringContaining('Svc-After'),
      ]);
    expect(() => started.service.view(started.orders, { after: 'p1-7' })).toThrow(
      expect.objectContaining({ code: 'SVC_FIND_INVALID' }),
    );
    expect(() => started.service.view(ordersView())).toThrow("none of this service's views");
  });

  test('stop at an event that they cannot fold, and say so once', async () => {
    const started = await start(await storage(), ordersView('1', 1, 13));
    await place(started, 'o1', 5);
    const unlucky = await place(started, 'o2', 13);
    expect(await errorOf(unlucky)).toEqual([503, expect.stringContaining('SVC_VIEW_STOPPED')]);
    expect(unlucky.headers.get('retry-after')).toBe('30');
    await place(started, 'o3', 6);
    // Rows from before the event are found by whom they suffice.
    expect(await (await list(started)).json()).toEqual([{ customer: 'ada', cents: 5 }]);
    const stops = started.logged.filter(({ fields }) => fields?.['code'] === 'SVC_VIEW_STOPPED');
    expect(stops).toEqual([
      {
        level: 'error',
        message: 'the view has stopped at an event',
        fields: {
          code: 'SVC_VIEW_STOPPED',
          view: 'orders',
          component: 'order',
          entity: 'o2',
          event: 1,
          reason: expect.stringContaining("the fold of view 'orders' at event 1 of entity 'o2'"),
          guestMessage: expect.stringContaining('a bad fold'),
        },
      },
    ]);
    // Entities are not affected.
    expect(await started.service.call(order, 'o3').get()).toMatchObject({
      value: { isPlaced: true },
    });
  });
});

describe('views that are stored', () => {
  test.skipIf(isInDatabase)(
    'go on where they were, and are built again with another version',
    async () => {
      const dataFolder = temporaryFolder();
      const first = await start({ dataFolder });
      for (let at = 0; at < 20; at++) await place(first, `o${at}`, at);
      const rows = await allRows(first);
      expect(rows).toHaveLength(20);
      await first.service.stop();
      const again = await start({ dataFolder });
      expect(await allRows(again)).toEqual(rows);
      expect(again.logged.map(({ message }) => message)).not.toContain('the view is built');
      await again.service.stop();

      const next = await start({ dataFolder }, ordersView('2', 10));
      expect(await allRows(next)).toEqual(
        (rows as readonly { customer: string; cents: number }[]).map(({ customer, cents }) => ({
          customer,
          cents: cents * 10,
        })),
      );
      // The rows of the former version stay for a day, so that one can go back to it.
      expect(viewFiles(dataFolder)).toHaveLength(2);
      await next.service.stop();
      const later = await start({ dataFolder }, ordersView('2', 10), { 'svc.views.kept-ms': 0 });
      await expect.poll(() => viewFiles(dataFolder)).toHaveLength(1);
      expect(await allRows(later)).toHaveLength(20);
    },
  );

  test('of the former version answer, with their time, until those of the next are built', async () => {
    const storage = await orDatabase(() => ({ dataFolder: temporaryFolder() }));
    const first = await start(storage);
    const before = Date.now();
    for (const [id, cents] of [
      ['o1', 5],
      ['o2', 13],
    ] as const)
      await place(first, id, cents);
    const after = Date.now();
    await first.service.stop();

    // The next version stops before its rows are built, so it is seen for as long as the test takes.
    const next = await start(storage, ordersView('2', 10, 13));
    const expected = [
      { customer: 'ada', cents: 13 },
      { customer: 'ada', cents: 5 },
    ];
    const listed = await list(next);
    expect([listed.status, await listed.json()]).toEqual([200, expected]);
    const page = await next.service.view(next.orders).ofCustomer({ customer: 'ada' });
    const { asOfMs, rows } = page.isOk ? page.value : { asOfMs: 0, rows: [] };
    expect(rows).toEqual(expected);
    expect(asOfMs).toBeGreaterThanOrEqual(before);
    expect(asOfMs).toBeLessThanOrEqual(after);
    // They do not have what the handler has just stored, and nobody waits for it.
    expect(await (await place(next, 'o3', 7)).json()).toEqual(expected);
    expect(await errorOf(await list(next, { 'svc-after': next.service.position() }))).toEqual([
      503,
      expect.stringContaining('SVC_VIEW_STOPPED'),
    ]);
    await next.service.stop();

    const corrected = await start(storage, ordersView('3', 10));
    expect(await allRows(corrected)).toHaveLength(3);
    const current = await corrected.service.view(corrected.orders).ofCustomer({ customer: 'ada' });
    expect(current).toMatchObject({ value: { asOfMs: undefined, rows: { length: 3 } } });
  });

  test.skipIf(isInDatabase)('are built again when a query finds a damaged row', async () => {
    const dataFolder = temporaryFolder();
    const started = await start({ dataFolder });
    for (let at = 0; at < 5; at++) await place(started, `o${at}`, at);
    const rows = await allRows(started);
    const [file] = viewFiles(dataFolder);
    const database = new DatabaseSync(join(dataFolder, 'views', file!));
    database.exec(`UPDATE row SET json = '{"customer":"ada","cents":1000}' WHERE key = 'o3'`);
    database.close();
    expect((await list(started)).status).toBe(500);
    await expect.poll(() => allRows(started).catch(() => []), { timeout: 10_000 }).toEqual(rows);
    expect((await list(started)).status).toBe(200);
    expect(started.logged.filter(({ message }) => message === BUILT_AGAIN)).toEqual([
      expect.objectContaining({ fields: { view: 'orders', reason: 'they are damaged' } }),
    ]);
  });

  test.skipIf(isInDatabase)('are built again when their file is torn', async () => {
    const dataFolder = temporaryFolder();
    const first = await start({ dataFolder });
    for (let at = 0; at < 5; at++) await place(first, `o${at}`, at);
    const rows = await allRows(first);
    await first.service.stop();
    const [file] = viewFiles(dataFolder);
    writeFileSync(join(dataFolder, 'views', file!), 'torn'.repeat(5_000));
    const again = await start({ dataFolder });
    expect(await allRows(again)).toEqual(rows);
    expect(again.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: BUILT_AGAIN }),
    );
  });
});
