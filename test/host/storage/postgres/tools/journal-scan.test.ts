// The records of a journal in a database in the one order that tools show.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JournalLocation } from '../../../../../host/storage/journal-location.ts';
import type {
  RecordFilter,
  ScannedDamage,
  ScannedRecord,
} from '../../../../../host/storage/journal-scan.ts';
import { scanJournal } from '../../../../../host/storage/journal-tools.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { TIME_MS, TRACE } from '../../../../support/damaged-journal.ts';
import { FilledDatabase } from '../../../../support/postgres/filled-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';

type Entry = ScannedRecord | ScannedDamage;

function scanOf(location: JournalLocation, filter?: RecordFilter) {
  const scan = scanJournal(location, filter);
  onTestFinished(() => scan.close());
  return scan;
}

/** Reads all entries by pages of a limit. */
async function all(location: JournalLocation, limit: number, filter?: RecordFilter) {
  const scan = scanOf(location, filter);
  const entries: Entry[] = [];
  for (let at = scan.start, isLast = false; !isLast;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await scan.page(at, limit);
    entries.push(...page.entries);
    ({ lastPos: at, isLast } = page);
  }
  return entries;
}

const numbersOf = (entries: readonly Entry[]) =>
  entries.map((entry) => (entry.kind === 'record' ? entry.record.seq : entry.problem));

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let filled: FilledDatabase;
  beforeAll(async () => {
    filled = await FilledDatabase.make(await PostgresServer.shared(version), 2_000, 300);
  });

  test('a scan shows each record once, in the order of transactions and slices', async () => {
    const entries = await all(filled.location, 100_000);
    const rows = await filled.database.sql(
      `SELECT tx::text || '.' || slice || '.' || off AS pos, component, id FROM svc.journal
        ORDER BY tx, slice, off`,
    );
    expect(entries.map(({ pos, component, id }) => ({ pos, component, id }))).toEqual(rows);
    expect(entries.every(({ kind }) => kind === 'record')).toBe(true);
  });

  test('pages of any size, also of another scan each, come to the same', async () => {
    const entries = await all(filled.location, 100_000);
    expect(await all(filled.location, 333)).toEqual(entries);
    const scan = scanOf(filled.location);
    const { lastPos } = await scan.page(scan.start, 700);
    expect(lastPos).toBe(entries[699]!.pos);
    const other = scanOf(filled.location);
    expect(other.parse(String(lastPos))).toBe(lastPos);
    const page = await other.page(lastPos, 200);
    expect(page.entries).toEqual(entries.slice(700, 900));
  });

  test.each([
    [{ component: 'wallet', id: 'e1' }, 7],
    [{ component: 'cart' }, 1_000],
    [{ manifest: 'none' }, 0],
    [{ type: 'added', component: 'cart' }, 850],
    [{ trace: TRACE }, 2_000],
    [{ keyPrefix: 'key-199' }, 11],
    [{ by: 'Käthe 24' }, 1],
    [{ sinceMs: TIME_MS + 10, untilMs: TIME_MS + 20 }, 10],
  ] as const)('a filter selects records: %j', async (filter, count) => {
    const entries = await all(filled.location, 100, filter);
    expect(entries).toHaveLength(count);
    expect(entries.every(({ kind }) => kind === 'record')).toBe(true);
  });
});

describe('a scan of a journal in a database', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
  });

  test('goes on with what is stored meanwhile, and begins after the last record', async () => {
    const filled = await FilledDatabase.make(server, 20, 10);
    const scan = scanOf(filled.location);
    const last = await scan.lastPos();
    expect(await scan.page(last, 10)).toEqual({ entries: [], lastPos: last, isLast: true });
    const entity = { component: 'new', id: 'one' };
    await filled.use((journal) => append(journal, entity, recordOf(1), recordOf(2)));
    const page = await scan.page(last, 10);
    expect(numbersOf(page.entries)).toEqual([1, 2]);
    expect(page.isLast).toBe(true);
    scan.rest();
    expect((await scan.page(page.lastPos, 10)).entries).toEqual([]);
  });

  test('leaves out no record that an earlier transaction stores later', async () => {
    const filled = await FilledDatabase.make(server, 20, 10);
    const scan = scanOf(filled.location);
    const last = await scan.lastPos();
    await filled.use((journal) => append(journal, { component: 'c', id: 'a' }, recordOf(1)));
    await filled.database.sql("UPDATE svc.journal SET tx = '5' WHERE component = 'c'");
    expect(numbersOf((await scan.page(last, 10)).entries)).toEqual([1]);
  });

  test('keeps the order of a slice where transactions count anew', async () => {
    const filled = await FilledDatabase.make(server, 40, 4);
    await filled.database.sql("UPDATE svc.journal SET tx = '4' WHERE seq > 5");
    const entries = await all(filled.location, 7);
    expect(entries).toHaveLength(40);
    for (const id of ['e0', 'e1', 'e2', 'e3'])
      expect(numbersOf(entries.filter((entry) => entry.id === id))).toEqual(
        Array.from({ length: 10 }, (_, n) => n + 1),
      );
  });

  test('names what is damaged and what is missing, and shows the others', async () => {
    const filled = await FilledDatabase.make(server, 10, 1);
    const slice = sliceOf('cart', 'e0');
    await filled.database.sql("UPDATE svc.journal SET event = '{}' WHERE off = 2");
    await filled.database.sql('DELETE FROM svc.journal WHERE off IN (5, 6, 10)');
    expect(numbersOf(await all(filled.location, 3))).toEqual([
      1,
      'it is not what was written',
      3,
      4,
      `of slice ${slice}, records 5 to 6 are missing`,
      7,
      8,
      9,
      `of slice ${slice}, record 10 is missing`,
    ]);
    expect(await all(filled.location, 3, { component: 'cart' })).toHaveLength(7);
  });

  test.each(['', '1', '-1.2.3', '1.1024.3', '1.2.3.4', 'last', '99999999999999999.1.1', 'c.1.1'])(
    "takes no position like '%s'",
    (text) => {
      const source = { kind: 'file', path: '/nowhere' } as const;
      expect(scanOf({ kind: 'postgres', source }).parse(text)).toBeUndefined();
    },
  );
});
