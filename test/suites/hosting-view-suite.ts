// What every hosting has to keep of views, with two views of the order of fixtures/: `orders`, each under its id, and
// `amounts`, whose keys are computed from events of two components.
import { describe, expect, test } from 'vitest';
import type { Guest, GuestViews } from '../../model/guest.ts';
import type { EntityEvent } from '../../model/entity.ts';
import type { KeyedEvent, RowState } from '../../model/view.ts';
import { Random } from '../support/random.ts';
import { opened } from './hosting-suite.ts';

const orderEvent = (id: string, seq: number, json: string, timeMs = seq): EntityEvent => ({
  entity: { component: 'order', id },
  seq,
  timeMs,
  event: { manifest: 'order-event', json },
});
const placed = (id: string, seq = 1, cents = 5) =>
  orderEvent(id, seq, `{"type":"placed","cents":${cents}}`);
const paid = (id: string, seq = 2) => orderEvent(id, seq, '{"type":"paid"}');
const reminded = (id: string, seq = 2) => orderEvent(id, seq, '{"type":"reminded","text":"pay"}');
const expired = (id: string, seq = 3) => orderEvent(id, seq, '{"type":"expired"}');
const booked: EntityEvent = {
  entity: { component: 'account', id: 'main' },
  seq: 1,
  timeMs: 1,
  event: { manifest: 'account-event', json: '{"type":"booked","order":"a"}' },
};

const row = (status: string, reminders = 0, cents = 5): string =>
  JSON.stringify({ status, cents, placedAt: '1970-01-01T00:00:00.001Z', reminders });

const empty = (key: string): RowState => ({ key, json: undefined });

/** Folds the events as the runtime does, in batches of the given sizes, and returns the rows that there are then. */
async function foldedIn(
  views: GuestViews,
  events: readonly EntityEvent[],
  sizeOf: () => number,
): Promise<Record<string, string>> {
  const rows = new Map<string, string>();
  for (let at = 0; at < events.length;) {
    const batch = events.slice(at, at + sizeOf());
    at += batch.length;
    const keys = [...new Set(batch.map(({ entity }) => entity.id))];
    const before = keys.map((key) => ({ key, json: rows.get(key) }));
    const keyed = batch.map((event) => ({ event, rows: [keys.indexOf(event.entity.id)] }));
    const changed = await views.fold('orders', before, keyed);
    if (typeof changed === 'string') throw new Error(changed);
    for (const { key, json } of changed)
      if (json === undefined) rows.delete(key);
      else rows.set(key, json);
  }
  return Object.fromEntries([...rows].toSorted(([one], [two]) => (one < two ? -1 : 1)));
}

/** `openOrders` gives a fresh guest that serves the order with its views. */
export function hostingViewSuite(hosting: string, openOrders: () => Promise<Guest>): void {
  const viewsOf = async (): Promise<GuestViews> => (await opened(openOrders)).views!;
  const fold = async (rows: readonly RowState[], events: readonly EntityEvent[]) =>
    (await viewsOf()).fold(
      'orders',
      rows,
      events.map((event): KeyedEvent => ({
        event,
        rows: [rows.findIndex(({ key }) => key === event.entity.id)],
      })),
    );

  describe(`${hosting}: keys of a view`, () => {
    test('are computed for each event, and are the id of the entity where the source has none', async () => {
      const views = await viewsOf();
      expect(
        await views.keys('amounts', [placed('a'), paid('a'), booked, placed('b', 1, 7)]),
      ).toEqual([['5', 'all'], [], ['main'], ['7', 'all']]);
      expect(await views.keys('amounts', [])).toEqual([]);
    });

    test('name an event that does not decode', async () => {
      const views = await viewsOf();
      const events = [placed('a'), orderEvent('b', 7, '{"type":"exploded"}')];
      expect(await views.keys('amounts', events)).toEqual(expect.stringContaining('7'));
    });
  });

  describe(`${hosting}: the fold of a view`, () => {
    test('returns the rows after the last event, and those alone that have changed', async () => {
      const rows = [
        empty('a'),
        { key: 'b', json: row('placed') },
        { key: 'c', json: row('paid', 2) },
      ];
      const events = [placed('a'), paid('b'), reminded('a'), reminded('b', 3), expired('c')];
      expect(await fold(rows, events)).toEqual([
        { key: 'a', json: row('placed', 1) },
        { key: 'b', json: row('paid', 1) },
        { key: 'c', json: undefined },
      ]);
      expect(await fold([empty('a'), { key: 'b', json: row('paid') }], [paid('a')])).toEqual([]);
    });

    test('does not return a row that is as it was, whatever happened in between', async () => {
      expect(await fold([empty('a')], [placed('a'), expired('a', 2)])).toEqual([]);
      const before = { key: 'a', json: row('placed') };
      expect(await fold([before], [expired('a', 2), placed('a', 1)])).toEqual([]);
      expect(await fold([empty('a')], [placed('a'), expired('a', 2), placed('a', 1)])).toEqual([
        { key: 'a', json: row('placed') },
      ]);
    });

    test('folds an event into each of its rows', async () => {
      const views = await viewsOf();
      const rows = [
        { key: 'all', json: '{"orders":["x"]}' },
        empty('5'),
        empty('7'),
        empty('main'),
      ];
      const events = [
        { event: placed('a'), rows: [1, 0] },
        { event: placed('b', 1, 7), rows: [2, 0] },
        { event: booked, rows: [3] },
      ];
      expect(await views.fold('amounts', rows, events)).toEqual([
        { key: 'all', json: '{"orders":["x","a","b"]}' },
        { key: '5', json: '{"orders":["a"]}' },
        { key: '7', json: '{"orders":["b"]}' },
        { key: 'main', json: '{"orders":["a"]}' },
      ]);
    });

    test('gives the same rows whatever the batches', async () => {
      const views = await viewsOf();
      const random = new Random(15);
      const ids = ['a', 'b', 'ä 漢 🎉', 'd'];
      const makers = [placed, reminded, reminded, paid, expired];
      const events = Array.from({ length: 300 }, (_, index) => {
        const make = random.pick(makers);
        return { ...make(random.pick(ids)), seq: index + 1 };
      });
      const one = await foldedIn(views, events, () => 1);
      expect(Object.keys(one).length).toBeGreaterThan(1);
      expect(await foldedIn(views, events, () => events.length)).toEqual(one);
      for (let round = 0; round < 10; round++)
        expect(await foldedIn(views, events, () => 1 + random.below(20))).toEqual(one);
    });

    test.each([
      ['an event of an unknown case', empty('a'), orderEvent('a', 7, '{"type":"exploded"}'), '7'],
      ['an event that is cut off', empty('a'), orderEvent('a', 7, '{"type":"placed","ce'), '7'],
      ['a row of another type', { key: 'row-1', json: '{"status":1}' }, paid('row-1'), 'row-1'],
      ['a row that is cut off', { key: 'row-1', json: '{"stat' }, paid('row-1'), 'row-1'],
    ])('names %s, and folds the next batch', async (_what, before, event, name) => {
      const views = await viewsOf();
      expect(await views.fold('orders', [before], [{ event, rows: [0] }])).toEqual(
        expect.stringContaining(name),
      );
      expect(await views.fold('orders', [empty('b')], [{ event: placed('b'), rows: [0] }])).toEqual(
        [{ key: 'b', json: row('placed') }],
      );
    });
  });
}
