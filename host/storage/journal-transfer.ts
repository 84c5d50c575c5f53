// JournalTransfer copies a whole journal from one location to another, of whatever kind both are.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalEntry } from './journal-entries.ts';
import {
  type JournalFolder,
  type JournalInDatabase,
  type JournalLocation,
  locationName,
} from './journal-location.ts';
import type { DatabaseCopy } from './postgres/tools/database-copy.ts';
import { storedLaneOf } from './sqlite/consumer-rows.ts';
import { addEntry, backUpJournal, damaged } from './sqlite/tools/journal-backup.ts';
import { JournalCopy } from './sqlite/tools/journal-copy.ts';
import { importJournal } from './sqlite/tools/journal-import.ts';
import {
  type ModuleRow,
  type SourceEntry,
  journalEntries,
  journalModules,
} from './sqlite/tools/journal-source.ts';
import { sqliteEntry } from './sqlite-entries.ts';
import type { VerificationProgress } from './verification-step.ts';

/** How much was copied. */
export interface CopiedCounts {
  readonly records: number;
  readonly entities: number;
}

/** Steps of a copy, which come to how much was copied. */
export type CopySteps =
  | Generator<VerificationProgress, CopiedCounts, void>
  | AsyncGenerator<VerificationProgress, CopiedCounts, void>;

/**
 * Copies a journal into a new folder or an empty database, and checks every checksum. The caller may do other work between two steps.
 * A copy into a database that was interrupted goes on when it is made again. Throws, or rejects with, SVC_JOURNAL_NOT_EMPTY,
 * SVC_DISK_FULL, SVC_DATA_UNUSABLE, SVC_DATABASE_… and SVC_JOURNAL_…; then there is no journal that a service could use.
 */
export function copyJournal(from: JournalLocation, to: JournalLocation): CopySteps {
  if (to.kind === 'postgres') return copyToDatabase(from, to);
  return from.kind === 'folder' ? backUpJournal(from.dir, to.dir) : copyToFolder(from, to);
}

/** Makes a journal in a database of an export, by way of a journal in a temporary folder. Rejects as `copyJournal` and importing do. */
export async function importToDatabase(
  text: AsyncIterable<Uint8Array>,
  to: JournalInDatabase,
  progressed: (lines: number) => void,
): Promise<CopiedCounts> {
  const code = await import('./postgres/tools/database-copy.ts');
  await code.DatabaseCopy.check(to);
  const folder = await mkdtemp(join(tmpdir(), 'svc-import-'));
  try {
    const dir = join(folder, 'journal');
    await importJournal(text, dir, progressed);
    const steps = copyToDatabase({ kind: 'folder', dir }, to);
    let step = await steps.next();
    while (step.done !== true) step = await steps.next();
    return step.value;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* copyToDatabase(
  from: JournalLocation,
  to: JournalInDatabase,
): AsyncGenerator<VerificationProgress, CopiedCounts, void> {
  const { DatabaseCopy: Copy } = await import('./postgres/tools/database-copy.ts');
  const entries = await entriesOf(from);
  let copy: DatabaseCopy | undefined;
  let records = 0;
  try {
    // The tables are made only if there is a journal to copy.
    for await (const entry of entries) {
      if (entry.kind === 'progress') yield entry;
      else if (entry.kind === 'finding') throw damaged(locationName(from), entry);
      else {
        copy ??= await Copy.open(to);
        await copy.add(entry);
        if (entry.kind === 'record') records++;
      }
    }
    copy ??= await Copy.open(to);
    return { records, entities: await copy.finish() };
  } finally {
    await copy?.close();
  }
}

async function* copyToFolder(
  from: JournalInDatabase,
  to: JournalFolder,
): AsyncGenerator<VerificationProgress, CopiedCounts, void> {
  let copy: JournalCopy | undefined;
  try {
    for await (const entry of await entriesOf(from)) {
      copy ??= new JournalCopy(to.dir);
      if (entry.kind === 'progress') yield entry;
      else
        addEntry(copy, entry.kind === 'finding' ? entry : sqliteEntry(entry), locationName(from));
    }
    copy ??= new JournalCopy(to.dir);
    copy.finish();
    return copy.counts;
  } catch (error) {
    copy?.abandon();
    throw error;
  }
}

/** Returns the entries of a journal. Services with a folder do not load what reads a database. */
async function entriesOf(
  from: JournalLocation,
): Promise<Iterable<JournalEntry> | AsyncIterable<JournalEntry>> {
  switch (from.kind) {
    case 'folder':
      return folderEntries(from.dir);
    case 'postgres':
      return (await import('./postgres/tools/database-entries.ts')).databaseEntries(from);
  }
}

function* folderEntries(dir: string): Generator<JournalEntry, void> {
  let modules: readonly ModuleRow[] | undefined;
  let number = 0;
  for (const entry of journalEntries(dir)) {
    // The records up to the moment of the copy are known when the first one comes, and so are the modules that have stored them.
    if (entry.kind === 'record') modules ??= journalModules(dir);
    if (entry.kind === 'module') number++;
    yield entryOf(entry, modules ?? [], number);
  }
}

/** `number`: that of the module, if the entry is one. */
function entryOf(entry: SourceEntry, modules: readonly ModuleRow[], number: number): JournalEntry {
  switch (entry.kind) {
    case 'record': {
      const { kind, pos, component, id, record } = entry;
      const module = modules.findLastIndex(([, fromPos]) => fromPos <= pos) + 1;
      return { kind, pos, component, id, record, module: module === 0 ? undefined : module };
    }
    case 'answer': {
      const { kind, component, id, row } = entry;
      const [key, digest, timeMs, outcome] = row;
      return { kind, component, id, key, digest, timeMs, outcome };
    }
    case 'module': {
      const [fingerprint, fromPos, timeMs, descriptor] = entry.row;
      return { kind: entry.kind, number, fingerprint, fromPos, timeMs, descriptor };
    }
    case 'timer':
      return { kind: entry.kind, timer: entry.row };
    case 'consumer':
      return { kind: entry.kind, ...entry.row };
    case 'lane':
      return { kind: entry.kind, consumer: entry.row.consumer, lane: storedLaneOf(entry.row) };
    case 'finding':
    case 'progress':
      return entry;
  }
}
