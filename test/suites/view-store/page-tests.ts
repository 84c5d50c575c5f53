// pageTests: pages and cursors of every store of views.
import { describe, expect, test } from 'vitest';
import { type ViewQuery, type ViewReader } from '../../../host/engine/needs/views.ts';
import {
  ALL_KEYS,
  OTHER,
  failureOf,
  finish,
  folded,
  indexOn,
  planned,
  row,
  viewOf,
  type ViewsUnderTest,
} from './views-under-test.ts';

const fields = (length: number) => ({ text: 'ä'.repeat(length) });
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const failureWith = (reader: ViewReader, of: ViewQuery, cursor: string) =>
  failureOf(() => reader.find(of, 10, cursor));

export function pageTests(views: ViewsUnderTest): void {
  describe('a page', () => {
    test.each([0, -1, 1.5, 1_001, Number.NaN, Infinity])('cannot have %s rows', async (limit) => {
      const { reader } = await views.live(viewOf());
      const failure = await failureOf(() => reader.find(ALL_KEYS, limit));
      expect(failure).toMatchObject({ code: 'SVC_FIND_INVALID' });
      expect((failure as Error).message).toContain('from 1 to 1000');
    });

    test('ends at its limit, and has a cursor only where rows follow', async () => {
      const { reader } = await views.live(viewOf(), row('a', {}), row('b', {}), row('c', {}));
      const first = await reader.find(ALL_KEYS, 2);
      expect(first.rows.map(({ key }) => key)).toEqual(['a', 'b']);
      const second = await reader.find(ALL_KEYS, 2, first.cursor);
      expect(second).toEqual({ rows: [{ key: 'c', json: '{}' }], cursor: undefined });
      expect((await reader.find(ALL_KEYS, 3)).cursor).toBeUndefined();
    });

    test('ends before the row that would exceed its bytes, but has one', async () => {
      await views.use({ pageBytesMax: 1_024 });
      const { reader } = await views.live(
        viewOf(),
        row('a', fields(200)),
        row('b', fields(200)),
        row('c', fields(200)),
        row('d', fields(2_000)),
        row('e', fields(1)),
      );
      const sizes: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await reader.find(ALL_KEYS, 100, cursor);
        sizes.push(page.rows.length);
        ({ cursor } = page);
      } while (cursor !== undefined);
      expect(sizes).toEqual([2, 1, 1, 1]);
    });

    test('follows the one before although rows have come and gone', async () => {
      const changes = Array.from({ length: 20 }, (_, n) => row(`k${n + 10}`, { n: n >> 2 }));
      for (const descending of [false, true]) {
        const view = viewOf(indexOn(['n', 'integer']));
        const { writer, reader } = await views.live(view, ...changes);
        const query = planned({ descending });
        const seen: string[] = [];
        let cursor: string | undefined;
        for (let step = 0; ; step++) {
          const page = await reader.find(query, 3, cursor);
          seen.push(...page.rows.map(({ key }) => key));
          if (page.cursor === undefined) break;
          ({ cursor } = page);
          const last = page.rows.at(-1)!.key;
          // The row at the place goes, and rows come before and after it and between those of the same value.
          await writer.put(
            [
              { key: last, json: undefined },
              row(`k1${step}x`, { n: step }),
              row(`j${step}`, { n: 2 }),
            ],
            folded(step + 2),
          );
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(changes.map(({ key }) => key)));
        writer.close();
        await views.use({});
      }
    });
  });

  describe('a cursor', () => {
    const view = viewOf(indexOn(['a', 'text'], ['n', 'integer']), indexOn(['n', 'integer']));
    const query = planned(
      {
        equals: ['a'],
        range: { kind: 'between', lower: { parameter: 'from', isInclusive: true } },
      },
      { a: 'x', from: 0 },
    );
    const rows = ['x', 'x', 'x', 'y'].map((a, n) => row(`k${n}`, { a, n }));
    const cursorOf = async (reader: ViewReader, of = query): Promise<string> =>
      (await reader.find(of, 1)).cursor!;
    const REFUSED = {
      code: 'SVC_CURSOR_INVALID',
      message: expect.stringContaining('Ask for the first page') as string,
    };

    test('can be used in a URL', async () => {
      const { reader } = await views.live(view, ...rows);
      expect(await cursorOf(reader)).toMatch(/^[\w-]{1,500}$/);
    });

    test('is refused with other parameters', async () => {
      const { reader } = await views.live(view, ...rows);
      const cursor = await cursorOf(reader);
      expect(
        await failureWith(reader, { ...query, parameters: { a: 'y', from: 0 } }, cursor),
      ).toMatchObject(REFUSED);
      expect(
        await failureWith(reader, { ...query, parameters: { a: 'x', from: 1 } }, cursor),
      ).toMatchObject(REFUSED);
      expect(await failureWith(reader, { ...query, parameters: {} }, cursor)).toMatchObject(
        REFUSED,
      );
      expect(
        (await reader.find({ ...query, parameters: { from: '0', a: 'x' } }, 9, cursor)).rows,
      ).toHaveLength(2);
    });

    test('is refused with another query', async () => {
      const { reader } = await views.live(view, ...rows);
      const cursor = await cursorOf(reader);
      const { plan, parameters } = query;
      const upper = { parameter: 'from', isInclusive: true };
      expect(
        await failureWith(reader, { plan: { ...plan, descending: true }, parameters }, cursor),
      ).toMatchObject(REFUSED);
      expect(
        await failureWith(reader, { plan: { ...plan, range: undefined }, parameters }, cursor),
      ).toMatchObject(REFUSED);
      expect(
        await failureWith(
          reader,
          { plan: { ...plan, range: { kind: 'between', upper } }, parameters },
          cursor,
        ),
      ).toMatchObject(REFUSED);
      expect(await failureWith(reader, ALL_KEYS, cursor)).toMatchObject(REFUSED);
      expect(await failureWith(reader, planned({ index: 1 }), cursor)).toMatchObject(REFUSED);
    });

    test('is refused by another definition', async () => {
      const { reader } = await views.live(view, ...rows);
      const cursor = await cursorOf(reader);
      const other = await views.live({ ...view, definition: OTHER }, ...rows);
      expect(await failureWith(other.reader, query, cursor)).toMatchObject(REFUSED);
    });

    test('is good after the rows were built again', async () => {
      const { writer, reader } = await views.live(view, ...rows);
      const cursor = await cursorOf(reader);
      await writer.clear();
      await writer.put(rows, folded(1));
      await finish(writer);
      expect(await reader.status()).toMatchObject({ state: 'live' });
      const next = await reader.find(query, 10, cursor);
      expect(next.rows.map(({ key }) => key)).toEqual(['k1', 'k2']);
    });

    test('that is not one is refused', async () => {
      const { reader } = await views.live(view, ...rows);
      const cursor = await cursorOf(reader);
      const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
      const [version, digest, , key] = parts;
      for (const forged of [
        '',
        '%%%',
        'a'.repeat(600_000),
        `${cursor}=`,
        `${cursor} `,
        cursor.slice(1),
        cursor.slice(0, -4),
        encoded(null),
        encoded({}),
        encoded([]),
        encoded([version]),
        encoded([2, ...parts.slice(1)]),
        encoded([version, 'x', '1', key]),
        encoded([version, digest]),
        encoded([version, digest, '1']),
        encoded([version, digest, '1', key, 'more']),
        // 1, as JSON should not have it; beyond 64 bits; with a sign; another type; before the range.
        encoded([version, digest, 1, key]),
        encoded([version, digest, '9223372036854775808', key]),
        encoded([version, digest, '-0', key]),
        encoded([version, digest, '01', key]),
        encoded([version, digest, true, key]),
        encoded([version, digest, '-1', key]),
        encoded([version, digest, null, key]),
        encoded([version, digest, '1', 7]),
        encoded([version, digest, '1', null]),
        encoded([version, digest, '1', '\ud83d']),
      ])
        expect(await failureWith(reader, query, forged)).toMatchObject(REFUSED);
    });

    test('that is forged reaches only rows of its query', async () => {
      const { reader } = await views.live(view, ...rows, row('k9', { a: 'x', n: -5 }));
      const parts = JSON.parse(
        Buffer.from(await cursorOf(reader), 'base64url').toString(),
      ) as unknown[];
      const forged = Buffer.from(JSON.stringify([parts[0], parts[1], '1', 'zzz'])).toString(
        'base64url',
      );
      const page = await reader.find(query, 10, forged);
      expect(page.rows.map(({ key }) => key)).toEqual(['k2']);
    });
  });
}
