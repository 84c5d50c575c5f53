// Journals to be damaged: a data folder with records of several entities and answers, and edits of its file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Journal } from '../../host/engine/needs/journal.ts';
import type { JournalRecord } from '../../model/entity.ts';
import { answerTo, keep } from '../suites/journal-suite.ts';
import { withJournal } from './with-journal.ts';

export const TIME_MS = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
export const TRACE = '0123456789abcdef'.repeat(2);

/** Of `entities` entities in turn; every fifth one of each is a deletion. */
export async function fillJournal(dir: string, records: number, entities: number): Promise<void> {
  await withJournal(dir, (journal) => fill(journal, records, entities));
}

/** Appends to a journal of any kind what `fillJournal` appends to one in a folder, or what follows its first records. */
export async function fill(
  journal: Journal,
  records: number,
  entities: number,
  first = 0,
): Promise<void> {
  await Promise.all(
    Array.from({ length: records - first }, async (_, at) => {
      const index = first + at;
      const seq = Math.floor(index / entities) + 1;
      const timeMs = TIME_MS + index;
      const origin = {
        seq,
        timeMs,
        seed: BigInt(index) << 50n,
        trace: TRACE,
        key: `key-${index}`,
        ...(index % 3 === 0 ? { by: `["https://login.example.com","Käthe ${index}"]` } : {}),
      };
      const json = `{"type":"${index % 2 === 0 ? 'added' : 'removed'}","n":${index}, "text":"Käse"}`;
      const record: JournalRecord =
        seq % 5 === 0
          ? { kind: 'deleted', ...origin }
          : { kind: 'event', ...origin, event: { manifest: 'cart-event', json } };
      const number = index % entities;
      const entity = { component: number % 2 === 0 ? 'cart' : 'wallet', id: `e${number}` };
      const failure = await keep(journal, entity, [record], answerTo(`key-${index}`, timeMs));
      if (failure !== undefined) throw failure;
    }),
  );
}

export function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** The one number that `sql` comes to. */
export function numberIn(dir: string, sql: string): number {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  try {
    return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
  } finally {
    database.close();
  }
}

/** Changes bytes of the file itself, which no index hears of. */
export function editFile(dir: string, change: (bytes: Buffer) => void): void {
  const path = join(dir, 'journal.sqlite');
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}
