// A verification names what is damaged, whatever it is, and nothing where all is as it was written.
import { copyFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { verifyJournal } from '../../../../../host/storage/sqlite/tools/journal-verification.ts';
import type { JournalFinding } from '../../../../../host/storage/verification-step.ts';
import { edit, editFile, fillJournal, numberIn } from '../../../../support/damaged-journal.ts';
import { journalOfFormat, PAST_FORMATS } from '../../../../support/journal-of-format.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';
import { withJournal } from '../../../../support/with-journal.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';

function verified(dir: string, structure = false) {
  const steps = [...verifyJournal(dir, { structure })];
  const findings = steps.filter((step) => step.kind === 'finding');
  return { findings, result: steps.find((step) => step.kind === 'result')! };
}

function named({ component, id, seq, pos, problem }: JournalFinding): string {
  return `${component} ${id} ${seq} ${pos}: ${problem}`;
}

const small = temporaryFolderOfFile();
const large = temporaryFolderOfFile();

beforeAll(async () => {
  await fillJournal(small, 60, 6);
  await fillJournal(large, 9_000, 2_500);
});

/** A copy, to be damaged. */
function filled(from = small): string {
  const dir = temporaryFolder();
  copyFileSync(join(from, 'journal.sqlite'), join(dir, 'journal.sqlite'));
  return dir;
}

describe('a journal as it was written', () => {
  test('has no findings, and is counted', () => {
    const { findings, result } = verified(filled());
    expect(findings).toEqual([]);
    expect(result).toEqual({
      kind: 'result',
      records: 60,
      entities: 6,
      answers: 60,
      findings: 0,
      structureChecked: true,
    });
  });

  test('of several pages of everything has no findings', () => {
    const { findings, result } = verified(filled(large));
    expect(findings).toEqual([]);
    expect(result).toMatchObject({ records: 9_000, entities: 2_500, answers: 9_000 });
  });

  test.each(PAST_FORMATS)('of format %i has none', (version) => {
    const { findings, result } = verified(journalOfFormat(version));
    expect(findings).toEqual([]);
    expect(result.records).toBeGreaterThan(3);
  });

  test('has none while a host stores more, and leaves SQLite out unless it is told', async () => {
    const dir = filled();
    await withJournal(dir, async (journal) => {
      const steps = verifyJournal(dir, { structure: false });
      const seen = [];
      let seq = 0;
      for (const step of steps) {
        seen.push(step);
        const entity = { component: 'new', id: 'one' };
        expect(await append(journal, entity, recordOf(++seq))).toBeUndefined();
      }
      expect(seq).toBeGreaterThan(3);
      expect(seen.filter(({ kind }) => kind === 'finding')).toEqual([]);
      expect(seen.at(-1)).toMatchObject({ kind: 'result', records: 60, structureChecked: false });
      expect(verified(dir, true).result.structureChecked).toBe(true);
    });
  });
});

describe('damage of a record', () => {
  // The eighth record is event 2 of the entity e1 of wallet; place 30 is deletion 5 of e5.
  test.each([
    ['seq', 'UPDATE journal SET seq = 99 WHERE pos = 8', 'wallet e1 99 8: it is not'],
    ['eno', 'UPDATE journal SET eno = 3, seq = 77 WHERE pos = 8', 'cart e2 77 8: it is not'],
    ['an eno of nobody', 'UPDATE journal SET eno = 99 WHERE pos = 8', '8: it belongs to no entity'],
    ['kind', 'UPDATE journal SET kind = 1 WHERE pos = 8', 'wallet e1 2 8: it is not'],
    [
      'a kind that is none',
      'UPDATE journal SET kind = 7 WHERE pos = 8',
      'wallet e1 2 8: it is not',
    ],
    [
      'the time',
      'UPDATE journal SET time_ms = time_ms + 1 WHERE pos = 8',
      'wallet e1 2 8: it is not',
    ],
    ['the manifest', `UPDATE journal SET manifest = 'x' WHERE pos = 8`, 'wallet e1 2 8: it is not'],
    ['the event', `UPDATE journal SET json = '{}' WHERE pos = 8`, 'wallet e1 2 8: it is not'],
    ['the checksum', 'UPDATE journal SET crc = crc + 1 WHERE pos = 8', 'wallet e1 2 8: it is not'],
    ['the seed', 'UPDATE journal SET seed = seed + 1 WHERE pos = 8', 'wallet e1 2 8: it is not'],
    ['the trace', `UPDATE journal SET trace = 'x' WHERE pos = 8`, 'wallet e1 2 8: it is not'],
    ['the key', `UPDATE journal SET key = NULL WHERE pos = 8`, 'wallet e1 2 8: it is not'],
    ['a deletion', 'UPDATE journal SET time_ms = 1 WHERE pos = 30', 'wallet e5 5 30: it is not'],
    ['a component', `UPDATE entity SET component = 'x' WHERE eno = 2`, 'x e1 2 8: it is not'],
    ['an id', `UPDATE entity SET id = 'x' WHERE eno = 2`, 'wallet x 2 8: it is not'],
    ['a row', 'DELETE FROM journal WHERE pos = 8', '8: the record at position 8 is missing'],
    [
      'a number that another one has',
      `UPDATE place_new SET seq = 99 WHERE pos = 8;
       INSERT INTO place_old SELECT eno, 1, 8 FROM journal WHERE pos = 8`,
      'wallet e1 1 8: another record has its number',
    ],
    [
      'rows',
      'DELETE FROM journal WHERE pos IN (8, 9)',
      '8: the records at positions 8 to 9 are missing',
    ],
    [
      'a place',
      'UPDATE journal SET pos = 4611686018427387905 WHERE pos = 8',
      'a record has the position 4611686018427387905, which is out of range',
    ],
    [
      'a place before all',
      'UPDATE journal SET pos = -1 WHERE pos = 8',
      'the position -1, which is out of range',
    ],
    [
      'the order of two',
      `UPDATE journal SET pos = -8 WHERE pos = 8; UPDATE journal SET pos = 8 WHERE pos = 14;
       UPDATE journal SET pos = 14 WHERE pos = -8`,
      'wallet e1 3 8: it is not',
    ],
  ])('is found and named: %s', (_, sql, expected) => {
    const dir = filled();
    edit(dir, sql);
    const { findings, result } = verified(dir);
    expect(findings.map(named).join('\n')).toContain(expected);
    expect(result.findings).toBe(findings.length);
  });

  test('is named with the hole that it makes in the history of its entity', () => {
    const dir = filled();
    edit(dir, 'DELETE FROM journal WHERE pos = 8');
    expect(verified(dir).findings.map(named)).toEqual([
      'undefined undefined undefined 8: the record at position 8 is missing',
      'wallet e1 2 8: the index names a position where it is not',
    ]);
  });

  test('is found where places were swapped before they were under the checksum', () => {
    const dir = journalOfFormat(2);
    edit(
      dir,
      `UPDATE journal SET pos = -1 WHERE pos = 1; UPDATE journal SET pos = 1 WHERE pos = 2;
       UPDATE journal SET pos = 2 WHERE pos = -1`,
    );
    expect(verified(dir).findings.map(named).join('\n')).toContain(
      'its position is before that of record 1',
    );
  });

  test('of one byte in the file is found', () => {
    const dir = filled();
    editFile(dir, (bytes) => {
      // A page that was split still has what has moved to another one.
      for (let at = 0; (at = bytes.indexOf('"n":7,', at)) >= 0;) bytes[at + 4] = bytes[at + 4]! ^ 1;
    });
    expect(verified(dir).findings.map(named)).toEqual([
      'wallet e1 2 8: it is not what was written',
    ]);
  });
});

describe('damage of an index', () => {
  test.each([
    ['place_new', 'the index of records does not have it'],
    ['deletion', 'the index of deletions does not have it'],
    ['sqlite_autoindex_entity_1', 'the index of entities does not have it'],
    ['sqlite_autoindex_answer_1', 'is not in its index'],
  ])('is found and named where %s is empty', (index, expected) => {
    const dir = filled();
    const root = numberIn(dir, `SELECT rootpage FROM sqlite_schema WHERE name = '${index}'`);
    const pageBytes = numberIn(dir, 'PRAGMA page_size');
    editFile(dir, (bytes) => {
      // A leaf of an index without a cell.
      bytes.fill(0, (root - 1) * pageBytes, root * pageBytes);
      bytes[(root - 1) * pageBytes] = 10;
      bytes.writeUInt16BE(pageBytes, (root - 1) * pageBytes + 5);
    });
    const { findings } = verified(dir);
    expect(findings.map(named).join('\n')).toContain(expected);
  });

  test('is found where it leads to nothing', () => {
    const dir = filled();
    const root = numberIn(dir, `SELECT rootpage FROM sqlite_schema WHERE name = 'entity'`);
    const pageBytes = numberIn(dir, 'PRAGMA page_size');
    editFile(dir, (bytes) => {
      bytes.fill(0, (root - 1) * pageBytes, root * pageBytes);
      bytes[(root - 1) * pageBytes] = 13;
      bytes.writeUInt16BE(pageBytes, (root - 1) * pageBytes + 5);
    });
    const text = verified(dir).findings.map(named).join('\n');
    expect(text).toContain('undefined undefined 1 1: it belongs to no entity');
    expect(text).toContain(
      'cart e0 undefined undefined: the index of entities has it under a number',
    );
  });
});

describe('damage of a page', () => {
  test('names what cannot be read, and looks at the rest', () => {
    const dir = filled(large);
    const pageBytes = numberIn(dir, 'PRAGMA page_size');
    editFile(dir, (bytes) => {
      const at = bytes.indexOf('"n":1500,');
      const page = Math.floor(at / pageBytes);
      bytes.fill(0xff, page * pageBytes, (page + 1) * pageBytes);
    });
    const { findings, result } = verified(dir);
    const unreadable = findings.filter(({ problem }) => problem.startsWith('it cannot be read: '));
    expect(unreadable.map(({ pos }) => pos)).toContain(1_501);
    expect(unreadable.length).toBeLessThan(100);
    expect(result.records).toBe(9_000 - unreadable.length);
    expect(findings.map(({ problem }) => problem).join('\n')).toContain('SQLite');
  });

  test('that is cut off makes the whole unreadable, which is said', () => {
    const dir = filled(large);
    truncateSync(join(dir, 'journal.sqlite'), 64 * 1024);
    expect(() => verified(dir)).toThrow(
      expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error,
    );
  });
});

describe('damage of what stands beside the records', () => {
  test.each([
    [
      `UPDATE answer SET outcome = '{}' WHERE ano = 8`,
      "wallet e1 undefined undefined: the answer to the idempotency key 'key-7' is not",
    ],
    [`UPDATE answer SET digest = 'x' WHERE ano = 8`, "key 'key-7' is not what was written"],
    [`UPDATE answer SET eno = 99 WHERE ano = 8`, "key 'key-7' belongs to no entity"],
    [`DELETE FROM manifest WHERE component = 'cart'`, "lacks 'cart-event'"],
    [
      `INSERT INTO module VALUES (1, 'f', 5, 0, '{}'), (2, 'g', 4, 0, '{}')`,
      'module 2 begins before',
    ],
    [
      `INSERT INTO module VALUES (1, 'f', 5, 0, '{')`,
      'the descriptor of module 1 is no JSON object',
    ],
    ['UPDATE place_new SET seq = 99 WHERE pos = 14', 'wallet e1 3 undefined: record 3 is missing'],
    [
      'INSERT INTO place_old SELECT * FROM place_new WHERE pos = 14',
      'wallet e1 3 14: another record has its number',
    ],
    [
      `INSERT INTO place_old SELECT * FROM place_new WHERE pos = 14;
       DELETE FROM place_new WHERE pos = 14`,
      'wallet e1 3 14: the index has it in an older level than record 2',
    ],
    [`DROP INDEX deletion`, 'the index of deletions cannot be read'],
  ])('is found and named: %s', (sql, expected) => {
    const dir = filled();
    edit(dir, sql);
    expect(verified(dir).findings.map(named).join('\n')).toContain(expected);
  });
});
