// rowTests: what every store of views keeps of rows and their writer.
import { describe, expect, test } from 'vitest';
import {
  ALL_KEYS,
  OTHER,
  failureOf,
  finish,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
  type ViewsUnderTest,
} from './views-under-test.ts';

const skipped = (seq: number) => ({
  entity: { component: 'order', id: 'a"b' },
  seq,
  reason: `why ${seq}`,
  timeMs: 1_700_000_000_000 + seq,
});

export function rowTests(views: ViewsUnderTest): void {
  describe('rows', () => {
    test('are read by key once the view is live, and as they were stored', async () => {
      const json = '{"text":"ä\\u0000\u{1F600}","list":[1,2]}';
      const { writer, reader } = await views.live(viewOf(), { key: 'a\0"b\'', json });
      expect(await reader.get('a\0"b\'')).toEqual({ key: 'a\0"b\'', json });
      expect(await reader.get('a')).toBeUndefined();
      expect(await writer.rows(['missing', 'a\0"b\''])).toEqual([undefined, json]);
    });

    test('are stored with the place up to which events are folded', async () => {
      const view = viewOf();
      const { writer, reader } = await views.live(view, row('a', { n: 1 }));
      expect(await reader.status()).toEqual({ state: 'live', foldedTo: folded(1) });
      await writer.put([row('a', { n: 2 }), { key: 'b', json: undefined }], folded(2));
      expect(writer.foldedTo).toEqual(folded(2));
      expect(await reader.status()).toEqual({ state: 'live', foldedTo: folded(2) });
      await writer.put([], folded(3));
      expect(await reader.status()).toEqual({ state: 'live', foldedTo: folded(3) });
      expect(await reader.get('a')).toEqual({ key: 'a', json: '{"n":2}' });
    });

    test('are there for the next writer, which goes on', async () => {
      const view = viewOf(indexOn(['n', 'integer']));
      const first = await views.writer(view);
      expect([first.foldedTo, first.rowCount, first.isLive]).toEqual([undefined, 0, false]);
      await first.put([row('a', { n: 1 }), row('b', { n: 2 })], folded(7));
      first.close();
      const second = await views.writer(view);
      expect([second.foldedTo, second.rowCount, second.isLive]).toEqual([folded(7), 2, false]);
      await second.put([row('c', { n: 0 })], folded(8));
      await finish(second);
      expect(await keysOf(views.reader(view), planned({}))).toEqual(['c', 'a', 'b']);
    });

    test('have skipped events, which stay when the rows are removed', async () => {
      const view = viewOf();
      const { writer: first } = await views.live(view, row('a', {}));
      expect(first.skips).toEqual([]);
      await first.skip(skipped(1));
      await first.skip(skipped(2));
      await first.clear();
      expect([first.skips, first.rowCount]).toEqual([[skipped(1), skipped(2)], 0]);
      first.close();
      const second = await views.writer(view);
      expect(second.skips).toEqual([skipped(1), skipped(2)]);
      await second.skip(skipped(3));
      expect(second.skips).toHaveLength(3);
      const other = await views.writer({ ...view, definition: OTHER });
      expect(other.skips).toEqual([]);
    });

    test('are counted as they come and go', async () => {
      const { writer } = await views.live(viewOf(), row('a', {}), row('b', {}));
      expect(writer.rowCount).toBe(2);
      await writer.put(
        [row('a', { again: 1 }), { key: 'b', json: undefined }, row('c', {})],
        folded(2),
      );
      expect(writer.rowCount).toBe(2);
      await writer.put([{ key: 'nobody', json: undefined }], folded(3));
      await writer.put([{ key: 'c', json: undefined }], folded(4));
      await writer.put([row('c', {}), row('d', {})], folded(5));
      expect(writer.rowCount).toBe(3);
    });

    test('are removed by clearing, with the place', async () => {
      const view = viewOf(indexOn(['n', 'integer']));
      const { writer, reader } = await views.live(view, row('a', { n: 1 }));
      expect(await reader.get('a')).toBeDefined();
      await writer.clear();
      expect([writer.foldedTo, writer.rowCount, writer.isLive]).toEqual([undefined, 0, false]);
      expect(await reader.status()).toEqual({ state: 'building', foldedTo: undefined });
      expect(await failureOf(() => reader.get('a'))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      await writer.put([row('b', { n: 2 })], folded(1));
      await finish(writer);
      expect(await keysOf(reader, planned({}))).toEqual(['b']);
    });

    test.each([
      ['its JSON text', { rowBytesMax: 64 }, row('k', { text: 'ä'.repeat(30) })],
      ['its key', { keyBytesMax: 64 }, row('ä'.repeat(33), {})],
      ['a text in an indexed field', { keyBytesMax: 64 }, row('k', { name: 'ä'.repeat(33) })],
    ])('too large are refused for %s, with the whole put', async (_, limits, large) => {
      await views.use(limits);
      const { writer, reader } = await views.live(viewOf(indexOn(['name', 'text'])));
      const failure = await failureOf(() => writer.put([row('a', {}), large], folded(2)));
      expect(failure).toMatchObject({ code: 'SVC_VIEW_ROW_INVALID' });
      expect(writer.foldedTo).toEqual(folded(1));
      expect(await keysOf(reader, planned({}))).toEqual([]);
    });

    test.each([
      ['text', 1],
      ['boolean', 'true'],
      ['integer', 1.5],
      ['integer', '9223372036854775808'],
      ['uint64', '-1'],
      ['uint64', '18446744073709551616'],
      ['number', '1'],
      ['decimal', '1e3'],
      ['time', '2026-02-30T00:00:00Z'],
      ['duration', '1h'],
      ['text', ['a']],
    ] as const)('with an indexed field of another type are refused: %s %j', async (kind, value) => {
      const { writer } = await views.live(viewOf(indexOn(['field', kind])));
      const failure = await failureOf(() => writer.put([row('a', { field: value })], folded(2)));
      expect(failure).toMatchObject({ code: 'SVC_VIEW_ROW_INVALID' });
      expect((failure as Error).message).toContain('"field"');
    });

    test.each(['[1]', 'null', '"text"', '{', ''])(
      'that are no objects are refused: %s',
      async (json) => {
        const { writer } = await views.live(viewOf(indexOn(['field', 'text'])));
        expect(await failureOf(() => writer.put([{ key: 'a', json }], folded(2)))).toMatchObject({
          code: 'SVC_VIEW_ROW_INVALID',
        });
      },
    );

    test('with half of a surrogate pair in the key are refused', async () => {
      const { writer, reader } = await views.live(viewOf());
      expect(await failureOf(() => writer.put([row('a\ud83d', {})], folded(2)))).toMatchObject({
        code: 'SVC_VIEW_ROW_INVALID',
      });
      expect(await failureOf(() => reader.get('a\ud83d'))).toMatchObject({
        code: 'SVC_FIND_INVALID',
      });
    });
  });

  describe('a view that is not live', () => {
    test('answers no query, and says what it is', async () => {
      const view = viewOf(indexOn(['n', 'integer']));
      const reader = views.reader(view);
      expect(await reader.status()).toEqual({ state: 'missing', reason: undefined });
      expect(await failureOf(() => reader.get('a'))).toMatchObject({
        code: 'SVC_VIEW_REBUILDING',
      });
      const writer = await views.writer(view);
      await writer.put([row('a', { n: 1 })], folded(4));
      expect(await reader.status()).toEqual({ state: 'building', foldedTo: folded(4) });
      for (const call of [
        () => reader.get('a'),
        () => reader.find(planned({}), 10),
        () => reader.count(ALL_KEYS),
      ])
        expect(await failureOf(call)).toMatchObject({
          code: 'SVC_VIEW_REBUILDING',
          retryAfterMs: 1_000,
        });
      await finish(writer);
      expect(await keysOf(reader, planned({}))).toEqual(['a']);
    });

    test('has one writer at a time', async () => {
      const writer = await views.writer(viewOf());
      expect(await failureOf(() => views.store.openWriter(viewOf()))).toMatchObject({
        code: 'SVC_VIEW_IN_USE',
      });
      await views.writer({ ...viewOf(), definition: OTHER });
      writer.close();
      await views.writer(viewOf());
    });
  });
}
