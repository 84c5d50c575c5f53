// Looking at a journal in a database: it shows what a journal in a folder shows that has the same records, and names damage.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { journalIn, type JournalLocation } from '../../../../../host/storage/journal-location.ts';
import {
  inspectJournal,
  inspectTimers,
  scanHistories,
} from '../../../../../host/storage/journal-reading.ts';
import type { ScannedHistory } from '../../../../../host/storage/journal-inspection.ts';
import { append, answerTo, keep, recordOf } from '../../../../suites/journal-suite.ts';
import { fillJournal } from '../../../../support/damaged-journal.ts';
import { FilledDatabase } from '../../../../support/postgres/filled-database.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';
import { sliceOf } from '../../../../../model/slice.ts';

const folder = journalIn(temporaryFolderOfFile());

beforeAll(async () => {
  await fillJournal(folder.dir, 400, 60);
});

function inspected(location: JournalLocation) {
  const inspection = inspectJournal(location);
  onTestFinished(() => inspection.close());
  return inspection;
}

async function historiesIn(location: JournalLocation, component: string) {
  const scan = scanHistories(location);
  onTestFinished(() => scan.close());
  const all: ScannedHistory[] = [];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await scan.page(component, all.at(-1)?.id ?? '', '\u{10ffff}');
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let filled: FilledDatabase;
  beforeAll(async () => {
    filled = await FilledDatabase.make(await PostgresServer.shared(version), 400, 60);
  });

  test('components, entities and records are those of a folder with the same records', async () => {
    const [here, there] = [inspected(filled.location), inspected(folder)];
    expect(await here.components()).toEqual(await there.components());
    const all = await there.entities('cart', '', 100);
    expect(await here.entities('cart', '', 100)).toEqual(all);
    expect(await here.entities('cart', '', 7)).toEqual(all.slice(0, 7));
    expect(await here.entities('cart', all[6]!.id, 7)).toEqual(all.slice(7, 14));
    expect(await here.entities('cart', 'e2', 100, 'e2')).toEqual(
      await there.entities('cart', 'e2', 100, 'e2'),
    );
    expect(await here.countEntities('cart', 'e2', 100)).toBe(
      await there.countEntities('cart', 'e2', 100),
    );
    expect(await here.countEntities('cart', 'e2', 3)).toBe(3);
    for (const { id } of all) {
      const entity = { component: 'cart', id };
      // oxlint-disable-next-line no-await-in-loop -- one after the other is enough
      expect(await here.records(entity, 0, 100)).toEqual(await there.records(entity, 0, 100));
    }
    expect(await here.records({ component: 'cart', id: 'e2' }, 2, 2)).toEqual(
      await there.records({ component: 'cart', id: 'e2' }, 2, 2),
    );
  });

  test('the histories of a component are those of a folder with the same records', async () => {
    expect(await historiesIn(filled.location, 'wallet')).toEqual(
      await historiesIn(folder, 'wallet'),
    );
  });

  test('what does not exist is not there', async () => {
    const here = inspected(filled.location);
    expect(await here.hasComponent('cart')).toBe(true);
    expect(await here.hasComponent('car')).toBe(false);
    expect(await here.hasEntity({ component: 'cart', id: 'e2' })).toBe(true);
    expect(await here.hasEntity({ component: 'cart', id: 'e1' })).toBe(false);
    expect(await here.entities('none', '', 10)).toEqual([]);
    expect(await here.records({ component: 'cart', id: 'e1' }, 0, 10)).toEqual({
      records: [],
      lastSeq: 0,
      storedCount: 0,
    });
    const timers = inspectTimers(filled.location);
    expect(await timers.list({}, 0, 10)).toEqual({ timers: [], damaged: [], last: undefined });
    timers.close();
    expect(await here.hasComponent('cart')).toBe(true);
  });
});

describe('a journal in a database', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
  });

  test('shows an entity that has only refused commands, as one without records', async () => {
    const filled = await FilledDatabase.make(server, 3, 3);
    const entity = { component: 'cart', id: 'refused' };
    await filled.use((journal) => keep(journal, entity, [], answerTo('k', 1)));
    const here = inspected(filled.location);
    expect(await here.hasEntity(entity)).toBe(true);
    expect((await here.entities('cart', '', 10)).map(({ id, events }) => [id, events])).toEqual([
      ['e0', 1],
      ['e2', 1],
      ['refused', 0],
    ]);
    expect(await here.components()).toEqual([
      { component: 'cart', entities: 3, events: 2 },
      { component: 'wallet', entities: 1, events: 1 },
    ]);
  });

  test('names records that are damaged or missing, and shows the others', async () => {
    const filled = await FilledDatabase.make(server, 8, 1);
    const entity = { component: 'cart', id: 'e0' };
    await filled.database.sql("UPDATE svc.journal SET event = '{}' WHERE seq = 2");
    await filled.database.sql('DELETE FROM svc.journal WHERE seq IN (4, 5)');
    await filled.database.sql('UPDATE svc.journal SET time_ms = 9223372036854775807 WHERE seq = 7');
    const { records, lastSeq, storedCount } = await inspected(filled.location).records(
      entity,
      0,
      100,
    );
    expect(records.map((record) => [record.seq, record.kind])).toEqual([
      [1, 'event'],
      [2, 'damaged'],
      [3, 'event'],
      [4, 'damaged'],
      [6, 'event'],
      [7, 'damaged'],
      [8, 'event'],
    ]);
    expect(records[3]).toEqual({
      kind: 'damaged',
      seq: 4,
      problem: 'records 4 to 5 are missing',
    });
    expect({ lastSeq, storedCount }).toEqual({ lastSeq: 8, storedCount: 6 });
    const [history] = await historiesIn(filled.location, 'cart');
    expect(history).toMatchObject({ id: 'e0', records, isWhole: true });
  });

  test('shows a record in the slice of another entity as damaged', async () => {
    const filled = await FilledDatabase.make(server, 1, 1);
    await filled.database.sql("UPDATE svc.journal SET id = 'other'");
    const here = inspected(filled.location);
    expect(await here.records({ component: 'cart', id: 'other' }, 0, 9)).toMatchObject({
      storedCount: 0,
    });
    await filled.database.sql('UPDATE svc.journal SET slice = $1', [sliceOf('cart', 'other')]);
    expect((await here.records({ component: 'cart', id: 'other' }, 0, 9)).records).toEqual([
      { kind: 'damaged', seq: 1, problem: 'it is not what was written' },
    ]);
  });

  test('finds entities of one slice, of many, and in the order of their bytes', async () => {
    const filled = await FilledDatabase.make(server, 1, 1);
    const ids = Array.from({ length: 5_000 }, (_, n) => `x${n}`).filter(
      (id) => sliceOf('c', id) === 7,
    );
    const all = [...ids, '\u{10000}', '\u{ffff}', 'ä', 'z', 'Z'];
    await filled.use((journal) =>
      Promise.all(all.map((id) => append(journal, { component: 'c', id }, recordOf(1)))),
    );
    const sorted = all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const here = inspected(filled.location);
    expect((await here.entities('c', '', 1_000)).map(({ id }) => id)).toEqual(sorted);
    expect((await here.entities('c', '', 3)).map(({ id }) => id)).toEqual(sorted.slice(0, 3));
  });

  test('is missing in a database without one, and its location is named', async () => {
    const { source } = await server.freshDatabase();
    const here = inspected({ kind: 'postgres', source });
    await expect(here.components()).rejects.toMatchObject({ code: 'SVC_JOURNAL_MISSING' });
  });

  test('cannot be changed by the connection of a tool', async () => {
    const filled = await FilledDatabase.make(server, 1, 1);
    const { connectForReading } =
      await import('../../../../../host/storage/postgres/tools/database-reading.ts');
    const session = await connectForReading(filled.location);
    onTestFinished(() => session.abort());
    await expect(session.query({ text: 'DELETE FROM svc.journal' })).rejects.toMatchObject({
      sqlState: '25006',
    });
  });
});
