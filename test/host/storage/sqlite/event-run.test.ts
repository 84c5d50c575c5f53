// What `eventsAfter` answers are the events that `read` answers, and it ends before whatever is not one of them.
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { EntityRef, JournalRecord, StoredEvent } from '../../../../model/entity.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { JOURNAL_LIMITS_DEFAULT } from '../../../../host/storage/journal-limits.ts';
import { JournalReader } from '../../../../host/storage/sqlite/journal-reader.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, deletionAt, recordOf } from '../../../suites/journal-suite.ts';
import { TRACE, edit, editFile, numberIn } from '../../../support/damaged-journal.ts';
import { PAST_FORMATS, journalOfFormat } from '../../../support/journal-of-format.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const cart = (id: string): EntityRef => ({ component: 'Cart', id });

const eventsOf = (records: readonly JournalRecord[]): StoredEvent[] =>
  records.flatMap((record) => (record.kind === 'event' ? [record.event] : []));

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => recordOf(index + 1));

const withEvent = (event: StoredEvent): JournalRecord => ({
  kind: 'event',
  seq: 3,
  timeMs: 3,
  event,
});

const BY = '["https://login.example.com","user-1"]';

/** Some that have little in common, and what may be taken for the end of something. */
const ODD = [
  { seed: 1n, trace: TRACE, key: 'a\n0\nE\n{}' },
  { seed: 2n ** 64n - 1n, key: 'Käse, ÿ' },
  { seed: 2n ** 63n, timeMs: -1, by: BY },
  { seed: 3n, key: 'k', by: `["https://ä","\\"\\\\"]` },
  { timeMs: 0, event: { manifest: 'ÿ €\n,', json: '"ÿ"' } },
  { event: { manifest: '', json: '' } },
  { event: { manifest: 'E'.repeat(2_000), json: '"\ufeff,\n😀\u0001"' } },
  { event: { manifest: 'E', json: `"${'x'.repeat(1_022)}"` } },
].map((odd, index) => ({ ...recordOf(index + 1), ...odd }));
const ODD_ID = '😀 / ä';

const NO_AUTHOR = 'an author that is lost';
const NO_JSON = 'an event that is lost';
const NO_MANIFEST = 'a manifest that is lost';

/** What is done to record 3 of an entity of this name, which has five. */
const DAMAGE: Readonly<Record<string, string>> = {
  'an event': `json = replace(json, '"n":3', '"n":4')`,
  'an event that is longer': `json = json || ' '`,
  'an event that is no text': `json = CAST(json || x'ff' AS TEXT)`,
  [NO_JSON]: 'json = NULL',
  'a manifest': `manifest = 'F'`,
  [NO_MANIFEST]: 'manifest = NULL',
  'a time': 'time_ms = time_ms + 1',
  'a time beyond what a number holds': 'time_ms = 9223372036854775807',
  'a kind': 'kind = 1',
  'a seed': 'seed = 5',
  'a trace': `trace = 'x'`,
  'a key': `key = 'x'`,
  'an author of a record without one': `by = '${BY}'`,
  [NO_AUTHOR]: 'by = NULL',
  'a checksum with an author': 'crc = crc + 4294967296',
  'a checksum': 'crc = crc + 1',
  'a checksum of another form': 'crc = crc - 4294967296',
  'its number': 'seq = 9',
  'its entity': 'eno = 900 + eno',
};
const OF_THIRD = (id: string) =>
  `WHERE seq = 3 AND eno = (SELECT eno FROM entity WHERE id = '${id}')`;
const JSON_BYTES = '{"type":"E","n":3,"of":"XXXXX"}';
/** The bytes of an event's text, from the one before it on, each of which is changed in an entity of its own. */
const OFFSETS = Array.from({ length: JSON_BYTES.length + 1 }, (_, index) => index - 1);
const marked = (offset: number) => JSON_BYTES.replace('XXXXX', `byte${offset + 10}`);

/** Entities that have nothing to do with one another, each record beside one of another entity. */
async function fill(
  dir: string,
  histories: ReadonlyMap<string, readonly JournalRecord[]>,
): Promise<void> {
  await withJournal(dir, async (journal) => {
    const longest = Math.max(...[...histories.values()].map(({ length }) => length));
    const failures = await Promise.all(
      Array.from({ length: longest }, (_, index) =>
        [...histories].flatMap(([id, records]) =>
          records[index] === undefined ? [] : [append(journal, cart(id), records[index])],
        ),
      ).flat(),
    );
    expect(new Set(failures)).toEqual(new Set([undefined]));
  });
}

function readerOf(dir: string): JournalReader {
  const reader = new JournalReader(join(dir, 'journal.sqlite'));
  onTestFinished(() => reader.close());
  return reader;
}

describe('a run of events', () => {
  const dir = temporaryFolderOfFile();

  beforeAll(async () => {
    await fill(
      dir,
      new Map<string, readonly JournalRecord[]>([
        [ODD_ID, ODD],
        ['nine', numbered(9)],
        ['deleted', numbered(5).with(2, deletionAt(3))],
        ['large', numbered(5).with(2, recordOf(3, `"${'x'.repeat(1_023)}"`))],
        ['another place', numbered(5)],
        ['no entry', numbered(5)],
        ...Object.keys(DAMAGE).map((what) => [what, numbered(5)] as const),
        // Of which nothing else would be missed.
        [NO_MANIFEST, numbered(5).with(2, withEvent({ manifest: '', json: '{}' }))],
        [NO_AUTHOR, numbered(5).with(2, { ...recordOf(3), by: BY })],
        [NO_JSON, numbered(5).with(2, withEvent({ manifest: 'E', json: '' }))],
        ...OFFSETS.map(
          (offset) => [`byte ${offset}`, numbered(5).with(2, recordOf(3, marked(offset)))] as const,
        ),
      ]),
    );
    edit(
      dir,
      `BEGIN;
      ${Object.entries(DAMAGE)
        .map(([what, change]) => `UPDATE journal SET ${change} ${OF_THIRD(what)};`)
        .join('')}
      UPDATE place_new SET pos = pos + 1 ${OF_THIRD('another place')};
      DELETE FROM place_new ${OF_THIRD('no entry')};
      COMMIT`,
    );
    editFile(dir, (bytes) => {
      for (const offset of OFFSETS) {
        // Pages that SQLite has divided may have a text twice.
        const places: number[] = [];
        for (let at = -1; (at = bytes.indexOf(marked(offset), at + 1)) >= 0;) places.push(at);
        for (const at of places) bytes[at + offset]! ^= 0x80;
      }
    });
  });

  test('is what was stored, whatever is in it', () => {
    const reader = readerOf(dir);
    expect(reader.eventsAfter(cart(ODD_ID), 0, 100)).toEqual(eventsOf(ODD));
    expect(reader.read(cart(ODD_ID), 0, 100)).toEqual(ODD);
  });

  test('begins after a record, and has at most so many', () => {
    const reader = readerOf(dir);
    const after = (seq: number) => reader.eventsAfter(cart('nine'), seq, 3);
    expect(after(2)).toEqual(eventsOf(numbered(9).slice(2, 5)));
    expect(after(8)).toEqual(eventsOf(numbered(9).slice(8)));
    expect(after(9)).toEqual([]);
    expect(reader.eventsAfter(cart('none'), 0, 9)).toEqual([]);
  });

  test.each(['deleted', 'large'])('ends before a record that is %s', (id) => {
    const reader = readerOf(dir);
    expect(reader.eventsAfter(cart(id), 0, 100)).toEqual(eventsOf(numbered(2)));
    expect(reader.eventsAfter(cart(id), 2, 100)).toEqual([]);
    expect(reader.eventsAfter(cart(id), 3, 100)).toEqual(eventsOf(numbered(5).slice(3)));
    expect(reader.read(cart(id), 0, 100)).toHaveLength(5);
  });

  /** What is told of the five records of an entity whose third is damaged. */
  const told = (id: string): unknown => {
    const reader = readerOf(dir);
    const [all, third, others] = [0, 2, 3].map((seq) => reader.eventsAfter(cart(id), seq, 100));
    let failure: unknown;
    try {
      reader.read(cart(id), 2, 100);
    } catch (error) {
      failure = (error as SvcError).code;
    }
    return { all, third, others, failure };
  };
  const NAMED = {
    all: eventsOf(numbered(2)),
    third: [],
    others: eventsOf(numbered(5).slice(3)),
    failure: 'SVC_JOURNAL_CORRUPT',
  };

  test.each([...Object.keys(DAMAGE), 'another place'])(
    'ends before a record that is damaged, and reading on names it: %s',
    (id) => {
      expect(told(id)).toEqual(NAMED);
    },
  );

  test('ends before a record of which a byte has changed, whichever of its text', () => {
    const ids = OFFSETS.map((offset) => `byte ${offset}`);
    expect(ids.map((id) => [id, told(id)])).toEqual(ids.map((id) => [id, NAMED]));
  });

  test('ends where a record has no index entry', () => {
    const reader = readerOf(dir);
    expect(reader.eventsAfter(cart('no entry'), 0, 100)).toEqual(eventsOf(numbered(2)));
    expect(reader.read(cart('no entry'), 2, 1)).toMatchObject([{ seq: 4 }]);
  });
});

test('a run of events goes on from one level of the index to the next', async () => {
  const dir = temporaryFolder();
  const opened = await openSqliteJournal(dir, JOURNAL_LIMITS_DEFAULT, {
    levelSizes: { level0Max: 7, level1Max: 20 },
  });
  const journal = attachSqliteJournal(opened.connect());
  let stored = 0;
  const tables = ['place_new', 'place_recent', 'place_old'];
  const counts = (): number[] =>
    tables.map((table) => numberIn(dir, `SELECT count(*) FROM ${table}`));
  while (stored < 60 || counts().includes(0)) {
    const more = [recordOf(stored + 1), recordOf(stored + 2), recordOf(stored + 3)];
    expect(await append(journal, cart('a'), ...more)).toBeUndefined();
    stored += more.length;
  }
  expect(journal.eventsAfter!(cart('a'), 0, 1_000)).toEqual(eventsOf(numbered(stored)));
  await journal.close();
  await opened.close();
  expect(() => journal.eventsAfter!(cart('a'), 0, 1)).toThrow(
    expect.objectContaining({ code: 'SVC_JOURNAL_UNAVAILABLE' }),
  );
});

test.each(PAST_FORMATS)(
  'a run of events has none whose checksum is of format %i',
  async (version) => {
    const entity = { component: 'shopping-cart', id: 'c1' };
    const dir = journalOfFormat(version);
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(6))).toBeUndefined();
    });
    const reader = readerOf(dir);
    expect(reader.eventsAfter(entity, 4, 10)).toHaveLength(version < 3 ? 0 : 2);
    expect(reader.eventsAfter(entity, 5, 10)).toEqual(eventsOf([recordOf(6)]));
  },
);
