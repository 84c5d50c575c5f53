// What the callers of a service see of its hosting, with the modules of the suites for hostings: the same sentences as there, over HTTP.
// A service may have several nodes, of which each request goes to another one.
//
// These sentences of the suites for hostings are about calls from the runtime into one guest, and have no meaning for a caller:
// - A command leaves the state as it is, and a batch is folded as its events one by one: the runtime stores and folds what a command has
//   decided before it answers.
// - A command or query that the module does not have, and an event or row that does not decode: no route leads there, and no request
//   stores such an event.
// - The metadata of a handler's call, the keys of a view and a fold of no events: they never leave the runtime.
import { describe, expect, test } from 'vitest';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import { Random } from '../support/random.ts';

export interface ServiceUnderTest {
  /** Sends a request with a body in JSON. A service with several nodes gets it at another one than the request before. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** The number of nodes: so many requests that follow each other come to different ones. */
  readonly nodes: number;
  records(entity: EntityRef): Promise<readonly JournalRecord[]>;
  /** Whether a snapshot of an entity is stored. */
  hasSnapshot(entity: EntityRef): Promise<boolean>;
  /** Ends all nodes but one, which takes their entities over. */
  gather(): Promise<void>;
  /** The timers of an entity, in the order of their names. */
  timers(entity: EntityRef): Promise<readonly TimerUnderTest[]>;
}

export interface TimerUnderTest {
  readonly name: string;
  readonly command: string;
  readonly input: string;
  /** When it is due, in milliseconds after it was set. */
  readonly afterMs: number;
  /** The JSON text of a schedule; null: the timer is fired once. */
  readonly schedule: string | null;
}

const SOON = { timeout: 30_000, interval: 50 };
/** Events after which the services store a snapshot. */
export const SNAPSHOT_EVENTS = 2;
/** UTF-8 bytes of an event for which the services are set. */
export const EVENT_BYTES_MAX = 4_096;

async function answered(answer: Promise<Response>): Promise<readonly [status: number, unknown]> {
  const response = await answer;
  const text = await response.text();
  return [response.status, text === '' ? undefined : JSON.parse(text)];
}

/** The stored event of items that were added. */
function added(sku: string, quantity: number): string {
  return JSON.stringify({ type: 'item-added', sku, quantity });
}

/** The service has the shopping cart of fixtures/, with `EVENT_BYTES_MAX` and `SNAPSHOT_EVENTS`. */
export function cartServiceSuite(hosting: string, service: () => ServiceUnderTest): void {
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    answered(service().request(method, `/carts/${path}`, body, headers));
  const records = (id: string) => service().records({ component: 'shopping-cart', id });
  const events = async (id: string) =>
    (await records(id)).map((record) => (record.kind === 'event' ? record.event.json : 'deleted'));
  /** What each node answers to a query. */
  const everywhere = async (path: string) => {
    const answers: (readonly [number, unknown])[] = [];
    for (let node = 0; node < service().nodes; node++) answers.push(await send('GET', path));
    return answers;
  };
  const all = (status: number, body: unknown) =>
    Array.from({ length: service().nodes }, () => [status, body]);

  describe(`${hosting}: an entity`, () => {
    test('begins in its empty state, which knows its id', async () => {
      const empty = { id: 'new', items: [], checkedOut: false };
      expect(await everywhere('new')).toEqual(all(200, empty));
    });

    test('answers a command with its reply, and has stored its event', async () => {
      const items = [{ sku: 'a', quantity: 2 }];
      expect(await send('POST', 'replied/items', items[0])).toEqual([
        200,
        { id: 'replied', items, checkedOut: false },
      ]);
      expect(await events('replied')).toEqual([added('a', 2)]);
    });

    test('folds events in their order, whoever reads it', async () => {
      for (const [sku, quantity] of [
        ['a', 2],
        ['b', 1],
        ['a', 3],
      ])
        expect((await send('POST', 'folded/items', { sku, quantity }))[0]).toBe(200);
      expect((await send('POST', 'folded/check-out'))[0]).toBe(204);
      const items = [
        { sku: 'a', quantity: 5 },
        { sku: 'b', quantity: 1 },
      ];
      expect(await everywhere('folded')).toEqual(
        all(200, { id: 'folded', items, checkedOut: true }),
      );
      expect(await events('folded')).toEqual([
        added('a', 2),
        added('b', 1),
        added('a', 3),
        '{"type":"checked-out"}',
      ]);
    });

    test('refuses on purpose with status and message, and stores nothing', async () => {
      await send('POST', 'closed/items', { sku: 'a', quantity: 1 });
      await send('POST', 'closed/check-out');
      const refused = { status: 409, error: 'the cart is checked out' };
      for (let node = 0; node < service().nodes; node++)
        expect(await send('POST', 'closed/items', { sku: 'b', quantity: 1 })).toEqual([
          409,
          refused,
        ]);
      expect(await everywhere('closed/items/none')).toEqual(
        all(404, { status: 404, error: "the cart has no 'none'" }),
      );
      expect(await events('closed')).toHaveLength(2);
    });

    test.each([
      ['{"sku":"a","quantity":2.5}', 'quantity'],
      ['{"sku":"a","quantity":99999999999}', 'quantity'],
      ['{"sku":"a"}', 'quantity'],
      ['{"sku":null,"quantity":1}', 'sku'],
    ])('refuses an input that does not decode, with its path: %s', async (input, path) => {
      const refused = { status: 400, error: expect.stringContaining(path) as string };
      expect(await send('POST', 'undecoded/items', JSON.parse(input))).toEqual([400, refused]);
      expect(await events('undecoded')).toEqual([]);
    });

    test('is deleted after its last event, and begins again', async () => {
      await send('POST', 'deleted/items', { sku: 'a', quantity: 1 });
      expect((await send('DELETE', 'deleted'))[0]).toBe(204);
      const empty = { id: 'deleted', items: [], checkedOut: false };
      expect(await everywhere('deleted')).toEqual(all(200, empty));
      expect(await events('deleted')).toEqual([added('a', 1), '{"type":"removed"}', 'deleted']);
    });

    test('shares nothing with another one', async () => {
      await send('POST', 'one/items', { sku: 'ä 漢 🎉', quantity: 1 });
      expect(await everywhere('two')).toEqual(
        all(200, { id: 'two', items: [], checkedOut: false }),
      );
    });

    test('refuses what is too large, with a key each time, and goes on', async () => {
      await send('POST', 'large/items', { sku: 'a', quantity: 1 });
      const large = { sku: 'x'.repeat(EVENT_BYTES_MAX), quantity: 1 };
      const error = expect.stringContaining('(SVC_EVENT_TOO_LARGE)') as string;
      for (const headers of [{}, { 'idempotency-key': 'k' }, { 'idempotency-key': 'k' }])
        expect(await send('POST', 'large/items', large, headers)).toMatchObject([422, { error }]);
      expect(await everywhere('large')).toMatchObject(
        all(200, { items: [{ sku: 'a', quantity: 1 }] }),
      );
      expect(await events('large')).toHaveLength(1);
    });

    test('executes a command once for its key, whoever repeats it', async () => {
      for (let node = 0; node <= service().nodes; node++)
        expect(
          await send(
            'POST',
            'keyed/items',
            { sku: 'a', quantity: 1 },
            { 'idempotency-key': 'once' },
          ),
        ).toMatchObject([200, { items: [{ sku: 'a', quantity: 1 }] }]);
      expect(await events('keyed')).toEqual([added('a', 1)]);
    });

    test('refuses a key that was used with another input, whoever sends it', async () => {
      const headers = { 'idempotency-key': 'reused' };
      await send('POST', 'reused/items', { sku: 'a', quantity: 1 }, headers);
      const error = expect.stringContaining('SVC_IDEMPOTENCY_KEY_REUSED') as string;
      for (let node = 0; node < service().nodes; node++)
        expect(
          await send('POST', 'reused/items', { sku: 'b', quantity: 1 }, headers),
        ).toMatchObject([422, { error }]);
      expect(await events('reused')).toEqual([added('a', 1)]);
      // Another entity has keys of its own.
      expect((await send('POST', 'unused/items', { sku: 'b', quantity: 1 }, headers))[0]).toBe(200);
    });

    test('executes one of several requests with the same key at the same time, and answers all', async () => {
      const headers = { 'idempotency-key': 'at-once' };
      const item = { sku: 'a', quantity: 1 };
      const answers = await Promise.all(
        Array.from({ length: 9 }, () => send('POST', 'together/items', item, headers)),
      );
      expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
      expect(await events('together')).toEqual([added('a', 1)]);
    });

    test('keeps a refusal for its key, and stores nothing else', async () => {
      const headers = { 'idempotency-key': 'refused' };
      const error = 'the cart is empty';
      expect(await send('POST', 'kept/check-out', undefined, headers)).toMatchObject([
        409,
        { error },
      ]);
      await send('POST', 'kept/items', { sku: 'a', quantity: 1 });
      expect(await send('POST', 'kept/check-out', undefined, headers)).toMatchObject([
        409,
        { error },
      ]);
      expect(await events('kept')).toEqual([added('a', 1)]);
    });
  });

  test(`${hosting}: an endpoint serves requests at the same time, each with its own answer`, async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `cart-${index}`);
    const item = { sku: 'a', quantity: 1 };
    const answers = await Promise.all(ids.map((id) => send('POST', `${id}/items`, item)));
    expect(answers).toEqual(ids.map((id) => [200, { id, items: [item], checkedOut: false }]));
  });

  test(`${hosting}: entities come back from their snapshots as they were`, async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `moved-${index}`);
    const items = [{ sku: 'ä 漢 🎉', quantity: SNAPSHOT_EVENTS }];
    for (const id of ids) {
      for (let event = 0; event < SNAPSHOT_EVENTS; event++)
        await send('POST', `${id}/items`, { ...items[0], quantity: 1 });
      const entity = { component: 'shopping-cart', id };
      await expect.poll(() => service().hasSnapshot(entity), SOON).toBe(true);
    }
    await service().gather();
    for (const id of ids)
      expect(await send('GET', id)).toEqual([200, { id, items, checkedOut: false }]);
  });
}

/** The service has the order of fixtures/expiring-order. */
export function timerServiceSuite(hosting: string, service: () => ServiceUnderTest): void {
  const send = async (method: string, path: string, body?: unknown) =>
    (await answered(service().request(method, `/orders/${path}`, body)))[0];
  const timers = (id: string) => service().timers({ component: 'order', id });

  describe(`${hosting}: timers`, () => {
    test('a command sets a timer of its entity with its events', async () => {
      expect(await send('PUT', 'placed', { cents: 1 })).toBe(204);
      expect(await timers('placed')).toEqual([
        { name: 'expire', command: 'expire', input: 'null', afterMs: 900_000, schedule: null },
      ]);
    });

    test('a handler sets and cancels a timer of the entity that it calls', async () => {
      await send('PUT', 'reminded', { cents: 1 });
      expect(await send('PUT', 'reminded/reminders', { text: 'ä 漢 🎉' })).toBe(204);
      expect(await timers('reminded')).toMatchObject([
        { name: 'expire' },
        { name: 'remind', command: 'remind', input: '{"text":"ä 漢 🎉"}' },
      ]);
      const [, { schedule }] = (await timers('reminded')) as [unknown, TimerUnderTest];
      expect(JSON.parse(schedule!)).toMatchObject({
        kind: 'cron',
        expression: '0 9 * * *',
        zone: 'Europe/Berlin',
      });
      expect(await send('DELETE', 'reminded/reminders')).toBe(204);
      expect(await timers('reminded')).toMatchObject([{ name: 'expire' }]);
    });

    test('a command cancels timers, and one that is refused leaves them', async () => {
      await send('PUT', 'paid', { cents: 1 });
      await send('PUT', 'paid/reminders', { text: 'pay' });
      expect(await send('PUT', 'paid', { cents: 2 })).toBe(409);
      expect(await timers('paid')).toHaveLength(2);
      expect(await send('POST', 'paid/payment')).toBe(204);
      expect(await timers('paid')).toEqual([]);
    });
  });
}

/** The service has the orders of fixtures/customer-orders. */
export function viewServiceSuite(hosting: string, service: () => ServiceUnderTest): void {
  /** Sends a command, and returns the position from which on a view has its events. */
  const change = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await service().request(method, `/customers/${path}`, body);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    return answer.headers.get('svc-position')!;
  };
  /** The rows of a customer, the last one first, with what is before a position. */
  const rowsOf = async (customer: string, after?: string) => {
    const path = `/customers/${customer}/orders`;
    const headers: Readonly<Record<string, string>> =
      after === undefined ? {} : { 'svc-after': after };
    let body: unknown;
    // A view that is behind for longer than a request waits is a 503, after which a caller tries again.
    const status = async () => {
      const [found, text] = await answered(service().request('GET', path, undefined, headers));
      body = text;
      return found;
    };
    await expect.poll(status, SOON).toBe(200);
    return (body as { rows: { id: string; cents: number | string }[] }).rows.map(
      ({ id, cents }) => [id, Number(cents)] as const,
    );
  };

  describe(`${hosting}: a view`, () => {
    test('has the row after the last event, whoever asks for it', async () => {
      await change('PUT', 'ada/orders/o1?cents=5');
      const after = await change('PUT', 'ada/orders/o2?cents=7');
      for (let node = 0; node < service().nodes; node++)
        expect(new Map(await rowsOf('ada', after)).get('o2')).toBe(7);
    });

    test('has no row that an event has removed, and the one that came back', async () => {
      await change('PUT', 'bob/orders/o3?cents=5');
      const removed = await change('DELETE', 'bob/orders/o3');
      for (let node = 0; node < service().nodes; node++)
        expect(await rowsOf('bob', removed)).toEqual([]);
      const again = await change('PUT', 'bob/orders/o3?cents=6');
      for (let node = 0; node < service().nodes; node++)
        expect(await rowsOf('bob', again)).toEqual([['o3', 6]]);
    });

    test('has the same rows, whatever happened to the orders in between', async () => {
      const random = new Random(15);
      const expected = new Map<string, number>();
      for (let step = 0; step < 60; step++) {
        const id = `m${random.below(8)}`;
        const isThere = expected.has(id);
        const path = `cleo/orders/${id}`;
        const after = isThere
          ? await change('DELETE', path)
          : await change('PUT', `${path}?cents=${step}`);
        if (isThere) expected.delete(id);
        else expected.set(id, step);
        // The position of a command covers the events of its own order.
        expect(new Map(await rowsOf('cleo', after)).get(id)).toBe(expected.get(id));
      }
      for (let node = 0; node < service().nodes; node++) {
        const rows = async () => new Map(await rowsOf('cleo'));
        await expect.poll(rows, SOON).toEqual(expected);
      }
    });
  });
}

/** The service has the orders with the consumer `bookkeeping` of fixtures/order-bookkeeping. */
export function consumerServiceSuite(hosting: string, service: () => ServiceUnderTest): void {
  const send = async (method: string, path: string): Promise<void> =>
    expect(await answered(service().request(method, path))).toEqual([204, undefined]);
  const booked = async (): Promise<readonly string[]> => {
    const [status, body] = await answered(service().request('GET', '/account'));
    expect(status).toBe(200);
    return (body as { orders: string[] }).orders;
  };
  const paid = async (id: string) => {
    await send('PUT', `/orders/${id}`);
    await send('POST', `/orders/${id}/payment`);
  };

  describe(`${hosting}: a consumer`, () => {
    test('calls an entity for an event once, and settles others without a call', async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `order-${index}`);
      await Promise.all(ids.map(paid));
      await expect.poll(async () => (await booked()).toSorted(), SOON).toEqual(ids.toSorted());
    });

    test('skips an event, and handles the next one of its entity', async () => {
      await send('PUT', '/orders/skipped');
      await send('POST', '/orders/skipped/reminders?text=later');
      await send('POST', '/orders/skipped/payment');
      await expect.poll(booked, SOON).toContain('skipped');
    });

    test('has an event handled again until its call succeeds, with those of its entity behind it', async () => {
      await send('PUT', '/account/closed?isClosed=true');
      await paid('retried');
      // The reminder that opens the account is of another entity: its own events wait for no other.
      await send('POST', '/orders/opener/reminders?text=open%20the%20account');
      await expect.poll(booked, SOON).toContain('retried');
      expect((await booked()).filter((id) => id === 'retried')).toHaveLength(1);
    });

    test('that refuses an event for good holds up its entity, and no other', async () => {
      await send('PUT', '/orders/refused');
      await send('DELETE', '/orders/refused');
      await send('POST', '/orders/refused/payment');
      await paid('other');
      await expect.poll(booked, SOON).toContain('other');
      expect(await booked()).not.toContain('refused');
    });
  });
}
