// The order of rows in PostgreSQL: that of the values, whatever the collation of the database, and while rows come and go.
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  columnText,
  keyOfText,
  keyText,
} from '../../../../../host/storage/postgres/views/column-text.ts';
import {
  type ColumnValue,
  NULL_VALUE,
  compareTexts,
  compareValues,
} from '../../../../../host/storage/view-walk/column-value.ts';
import { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer, ROLE } from '../../../../support/postgres/postgres-server.ts';
import {
  ALL_KEYS,
  failureOf,
  finish,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
} from '../../../../suites/view-store/views-under-test.ts';
import * as fc from 'fast-check';
import { emptyDatabase, migrate, viewsIn } from './support/views-database.ts';

/** Two values of a column, or null. */
function pairs(values: fc.Arbitrary<ColumnValue>): fc.Arbitrary<[ColumnValue, ColumnValue]> {
  const value = fc.oneof(values, fc.constant<ColumnValue>(NULL_VALUE));
  return fc.tuple(value, value);
}

function nameOf(n: number): string {
  return `k${String(n).padStart(5, '0')}`;
}

describe('the text of a value', () => {
  const text = fc
    .array(fc.constantFrom('\0', '\u0001', '\u0002', 'a', 'B', 'é', '\uffff', '\u{10FFFF}'))
    .map((parts) => parts.join(''));
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  test.each([
    ['texts', text],
    ['integers', int64],
    ['numbers', number],
  ] as const)('has the order of %s, and of null before them', (_, values) => {
    fc.assert(
      fc.property(pairs(values), ([a, b]) => {
        const order = Buffer.compare(Buffer.from(columnText(a)), Buffer.from(columnText(b)));
        expect(Math.sign(order)).toBe(Math.sign(compareValues(a, b)));
      }),
      { numRuns: 2_000 },
    );
  });

  test('of a key has its order and its prefixes, no U+0000, and is read back', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const order = Buffer.compare(Buffer.from(keyText(a)), Buffer.from(keyText(b)));
        expect(Math.sign(order)).toBe(Math.sign(compareTexts(a, b)));
        expect(keyText(a + b).startsWith(keyText(a))).toBe(true);
        expect(keyText(a)).not.toContain('\0');
        expect(keyOfText(keyText(a))).toBe(a);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  const texts = ['', 'A', 'B', 'Z', 'a', 'a b', 'a-b', 'ab', 'b', 'ä', 'é', 'ﬀ', '\u{1F600}'];

  test.each([
    ['of English', "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"],
    ['that ignores case', "LOCALE_PROVIDER icu ICU_LOCALE 'en-US-u-ks-level2' LOCALE 'C'"],
  ])('a database with a collation %s has the order of code points', async (_, locale) => {
    const server = await PostgresServer.shared(version);
    const name = `views_${locale.includes('level2') ? 'level2' : 'english'}`;
    await server.sql(`CREATE DATABASE ${name} OWNER ${ROLE} TEMPLATE template0 ${locale}`);
    const database = new FreshDatabase(server, name);
    onTestFinished(() => database.end());
    // The collation of the database is another one.
    const [compared] = await database.sql("SELECT 'a' < 'B' AS is_less");
    expect(compared).toEqual({ is_less: true });
    await migrate(database);
    const store = viewsIn(database);
    const view = viewOf(indexOn(['text', 'text'], ['n', 'integer']));
    const writer = await store.openWriter(view);
    const rows = texts.map((text, n) => row(text, { text, n: n % 2 }));
    await writer.put(rows.toReversed(), folded(1));
    await writer.put([row('b', { text: 'b', n: 0 })], folded(2));
    await finish(writer);
    expect(writer.rowCount).toBe(texts.length);
    const reader = store.reader(view);
    expect(await keysOf(reader, ALL_KEYS)).toEqual(texts);
    expect(await keysOf(reader, planned({}))).toEqual(texts);
    expect(await keysOf(reader, planned({ descending: true }))).toEqual(texts.toReversed());
    const range = { kind: 'prefix', parameter: 'p' } as const;
    expect(await keysOf(reader, planned({ range }, { p: 'a' }))).toEqual(['a', 'a b', 'a-b', 'ab']);
    expect(await reader.get('a-b')).toBeDefined();
    await store.close();
  });

  test('10,000 rows are paged while others come and go: none twice, and none that stays is left out', async () => {
    const database = await emptyDatabase(await PostgresServer.shared(version));
    const store = viewsIn(database);
    onTestFinished(async () => {
      await store.close();
      await database.end();
    });
    const view = viewOf(indexOn(['n', 'integer']));
    const writer = await store.openWriter(view);
    const all = Array.from({ length: 10_000 }, (_, n) => row(nameOf(n), { n: (n * 7919) % 500 }));
    await writer.put(all, folded(0));
    await finish(writer);
    const reader = store.reader(view);
    const done = new AbortController();
    const changing = (async () => {
      for (let round = 1; !done.signal.aborted; round++) {
        // Rows whose number is divisible by 10 go, and come back with another value.
        const changes = Array.from({ length: 50 }, (_, at) => {
          const n = ((round * 50 + at) * 10) % 10_000;
          return round % 2 === 0
            ? row(nameOf(n), { n: (n + round) % 500 })
            : { key: nameOf(n), json: undefined };
        });
        const added = [row(`new${round}`, { n: round % 500 })];
        await writer.put([...changes, ...added], folded(round));
      }
    })();
    for (const descending of [false, true])
      for (const index of [0, 'key'] as const) {
        const seen = await keysOf(reader, planned({ index, descending }), 250);
        const unique = new Set(seen);
        // In the order of its values, a row that goes may come back after the page that had it.
        expect(index === 'key' ? unique.size : seen.length).toBe(seen.length);
        const stays = all.filter((_, n) => n % 10 !== 0).map(({ key }) => key);
        expect(stays.filter((key) => !unique.has(key))).toEqual([]);
        const stayed = seen.filter((key) => key.startsWith('k') && !key.endsWith('0'));
        expect(stayed).toHaveLength(stays.length);
      }
    done.abort();
    await changing;
  }, 120_000);

  test('a row whose entry in an index would be too long is refused, before and after the index is made', async () => {
    const database = await emptyDatabase(await PostgresServer.shared(version));
    const store = viewsIn(database, { keyBytesMax: 8_192 });
    onTestFinished(async () => {
      await store.close();
      await database.end();
    });
    const view = viewOf(indexOn(['a', 'text'], ['b', 'text']));
    const writer = await store.openWriter(view);
    const refused = { code: 'SVC_VIEW_ROW_INVALID' };
    const put = (...changes: Parameters<typeof writer.put>[0][number][]) =>
      failureOf(() => writer.put(changes, folded(1)));
    // Texts that repeat themselves would fit when they are compressed.
    const text = 'x'.repeat(1_299);
    expect(await put(row('k'.repeat(2_601), {}))).toMatchObject(refused);
    expect(await put(row('a', { a: text, b: text }))).toMatchObject(refused);
    expect(await put(row('', { a: text, b: text }))).toBeUndefined();
    expect(await put(row('a\0', { a: text, b: text.slice(1) }))).toMatchObject(refused);
    expect(await put({ key: 'a', json: '{"a":"\0"}' })).toMatchObject(refused);
    await finish(writer);
    expect(await keysOf(store.reader(view), planned({}))).toEqual(['']);
    writer.close();
    // Both fields have columns already, and fit alone.
    const apart = viewOf(indexOn(['a', 'text']), indexOn(['b', 'text']));
    const second = await store.openWriter(apart);
    while (!(await second.prepareIndexes(10)));
    await second.put([row('long', { a: text, b: text })], folded(2));
    second.close();
    const third = await store.openWriter(view);
    const failure = await failureOf(async () => {
      while (!(await third.prepareIndexes(10)));
    });
    expect(failure).toMatchObject(refused);
    expect((failure as Error).message).toContain('"long"');
  });
});
