// indexTests: indexes, and the definitions of a store, in every store of views.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ViewWriter } from '../../../host/engine/needs/views.ts';
import {
  ALL_KEYS,
  DEFINITION,
  OTHER,
  failureOf,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
  type ViewsUnderTest,
} from './views-under-test.ts';

const DAY_MS = 86_400_000;

export function indexTests(views: ViewsUnderTest): void {
  describe('indexes', () => {
    const byN = indexOn(['n', 'integer']);
    const byText = indexOn(['text', 'text'], ['n', 'integer']);
    const byTime = indexOn(['time', 'time']);
    const changes = Array.from({ length: 25 }, (_, n) =>
      row(`k${n + 10}`, {
        n: 25 - n,
        text: `t${n % 3}`,
        time: new Date(n * 7_919_000).toISOString(),
      }),
    );

    test('are made in place when they are declared, while rows are read and written', async () => {
      const before = await views.live(viewOf(byN), ...changes);
      const byNumber = await keysOf(before.reader, planned({}));
      before.writer.close();
      const view = viewOf(byText, byN);
      const writer = await views.writer(view);
      const reader = views.reader(view);
      expect([writer.isLive, writer.rowCount, writer.foldedTo]).toEqual([true, 25, folded(1)]);
      expect(await failureOf(() => reader.find(planned({}), 1))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      expect(await failureOf(() => reader.count(planned({})))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      // Rows are found by the index that stays, and written, between the steps.
      let steps = 0;
      for (; !(await writer.prepareIndexes(4)); steps++) {
        expect(await keysOf(reader, planned({ index: 1 }), 100)).toHaveLength(
          byNumber.length + steps,
        );
        await writer.put([row(`new${steps}`, { text: 't1', n: 100 + steps })], folded(steps + 2));
      }
      const found = await keysOf(reader, planned({ equals: ['t'] }, { t: 't1' }));
      const expected = byNumber.filter((key) => (Number(key.slice(1)) - 10) % 3 === 1);
      expect(found.filter((key) => key.startsWith('k'))).toEqual(expected);
      expect(found.filter((key) => key.startsWith('new'))).toHaveLength(steps);
    });

    test('are finished by the next writer', async () => {
      const { writer: first } = await views.live(viewOf(), ...changes);
      first.close();
      const view = viewOf(byText, byTime);
      const second = await views.writer(view);
      await second.prepareIndexes(5);
      second.close();
      const third = await views.writer(view);
      await third.put([row('k10', { n: 1, text: 't9', time: '2030-01-01T00:00:00Z' })], folded(2));
      await third.prepareIndexes(5);
      third.close();
      const last = await views.writer(viewOf(byTime, byN));
      while (!(await last.prepareIndexes(5)));
      const reader = views.reader(viewOf(byTime, byN));
      const keys = changes.map(({ key }) => key);
      expect(await keysOf(reader, planned({ index: 0 }))).toEqual([...keys.slice(1), 'k10']);
      expect(await keysOf(reader, planned({ index: 1 }))).toEqual([
        'k10',
        ...keys.slice(1).toReversed(),
      ]);
      const former = views.reader(view);
      expect(await failureOf(() => former.find(planned({ index: 0 }), 1))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
    });

    test('are dropped for a reader that has used them', async () => {
      const { writer, reader } = await views.live(viewOf(byN, byTime), ...changes);
      const [byNumber, timed] = [planned({ index: 0 }), planned({ index: 1 })];
      expect(await keysOf(reader, byNumber)).toHaveLength(25);
      expect(await keysOf(reader, timed)).toHaveLength(25);
      writer.close();
      const second = await views.writer(viewOf(byText, byTime));
      while (!(await second.prepareIndexes(100)));
      expect(await failureOf(() => reader.find(byNumber, 1))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      expect(await failureOf(() => reader.count(byNumber))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      expect(await keysOf(reader, timed)).toEqual(changes.map(({ key }) => key));
    });

    test('over rows that no index may have are refused, with the key', async () => {
      await views.use({ keyBytesMax: 64 });
      const { writer: first } = await views.live(viewOf(), row('long', { text: 'x'.repeat(65) }));
      first.close();
      const writer = await views.writer(viewOf(byText));
      const failure = await failureOf(async () => {
        while (!(await writer.prepareIndexes(10)));
      });
      expect(failure).toMatchObject({ code: 'SVC_VIEW_ROW_INVALID' });
      expect((failure as Error).message).toContain('"long"');
    });
  });

  describe('a store', () => {
    test('lists its definitions, and deletes those that were not used for long', async () => {
      const stored = [DEFINITION, OTHER, 'f2'.repeat(16)].map((definition) => ({
        ...viewOf(),
        definition,
      }));
      for (const view of stored) {
        const { writer } = await views.live(view, row('a', {}));
        if (view.definition !== OTHER) writer.close();
      }
      const listed = await views.store.list();
      expect(listed.map(({ definition }) => definition).toSorted()).toEqual(
        stored.map(({ definition }) => definition).toSorted(),
      );
      for (const { bytes, usedMs } of listed) {
        expect(bytes).toBeGreaterThan(0);
        expect(Math.abs(usedMs - Date.now())).toBeLessThan(DAY_MS / 2);
      }
      const used = Math.max(...listed.map(({ usedMs }) => usedMs));
      expect(await views.store.removeUnused(new Set(), used + DAY_MS - 60_000)).toEqual([]);
      expect(await views.store.removeUnused(new Set([DEFINITION]), used + DAY_MS + 1_000)).toEqual([
        'f2'.repeat(16),
      ]);
      expect((await views.store.list()).map(({ definition }) => definition).toSorted()).toEqual([
        DEFINITION,
        OTHER,
      ]);
      const [gone, kept] = [stored[2]!, stored[0]!].map((view) => views.reader(view));
      expect(await gone!.status()).toEqual({ state: 'missing', reason: undefined });
      expect(await kept!.get('a')).toBeDefined();
      // What was in use then is old a day after that.
      const later = used + 2 * DAY_MS;
      expect(await views.store.removeUnused(new Set(), later)).toEqual([]);
      expect(await views.store.removeUnused(new Set(), later + 2_000)).toEqual([DEFINITION]);
      expect(await views.store.removeUnused(new Set([OTHER, 'f2'.repeat(16)]), later)).toEqual([]);
    });

    test('lists the live rows that other definitions of a view have left', async () => {
      const view = viewOf();
      expect(await views.store.former(view)).toEqual([]);
      const other = { ...view, definition: OTHER };
      const { writer } = await views.live(other, row('a', {}));
      await writer.put([], { ...folded(5), latestMs: 17 });
      await views.live({ ...view, definition: 'a1'.repeat(16), rowType: 'type 2' }, row('a', {}));
      await views.live({ ...view, definition: 'a2'.repeat(16), id: 'carts' }, row('a', {}));
      const building = await views.writer({ ...view, definition: 'a3'.repeat(16) });
      await building.put([row('a', {})], folded(9));
      await views.live(view, row('a', {}));
      const left = { definition: OTHER, foldedTo: { ...folded(5), latestMs: 17 } };
      expect(await views.store.former(view)).toEqual([left]);
      // A writer of another process may have it.
      writer.close();
      expect(await views.store.former(view)).toEqual([left]);
      expect(await views.store.former(other)).toEqual([
        { definition: view.definition, foldedTo: folded(1) },
      ]);
    });

    test('that is full stores no row more, but removes some and goes on', async () => {
      await views.use({ bytesMax: 200_000 });
      const { writer: first, reader } = await views.live(viewOf());
      let writer: ViewWriter = first;
      // A store may compress what repeats itself.
      const text = randomBytes(2_000).toString('hex');
      let stored = 0;
      let failure: unknown;
      while (failure === undefined && stored < 100) {
        failure = await failureOf(() =>
          writer.put([row(`k${stored}`, { text })], folded(stored + 2)),
        );
        if (failure === undefined) stored++;
      }
      expect(failure).toMatchObject({ code: 'SVC_VIEWS_FULL' });
      expect((failure as Error).message).toContain('svc.views.bytes-max');
      expect(stored).toBeGreaterThan(5);
      expect(writer.foldedTo).toEqual(folded(stored + 1));
      expect(await keysOf(reader, ALL_KEYS, 100)).toHaveLength(stored);
      writer.close();
      const other = await views.writer({ ...viewOf(), definition: OTHER });
      const large = row('k', { text: text.repeat(10) });
      expect(await failureOf(() => other.put([large], folded(1)))).toMatchObject({
        code: 'SVC_VIEWS_FULL',
      });
      writer = await views.writer(viewOf());
      const removals = Array.from({ length: stored }, (_, n) => ({
        key: `k${n}`,
        json: undefined,
      }));
      await writer.put(removals, folded(500));
      await writer.put([row('again', { text })], folded(501));
      expect(await keysOf(reader, ALL_KEYS)).toEqual(['again']);
    });
  });
}
