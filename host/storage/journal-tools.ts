// JournalTools are what operators do with a whole journal, also while a host writes it: look at its records in commit order,
// verify it, copy it, export and import it.
import { type JournalInDatabase, type JournalLocation } from './journal-location.ts';
import type { JournalScan, RecordFilter } from './journal-scan.ts';
import { DatabaseScan } from './postgres/tools/journal-scan.ts';
import { importJournal as importSqliteJournal } from './sqlite/tools/journal-import.ts';
import { SqliteScan } from './sqlite/tools/journal-scan.ts';
import { journalEntries } from './sqlite/tools/journal-source.ts';
import { textOf } from './sqlite/tools/journal-text.ts';
import { type CopiedCounts, importToDatabase } from './journal-transfer.ts';
import { sqliteEntry } from './sqlite-entries.ts';
import { verifyJournal as verifySqliteJournal } from './sqlite/tools/journal-verification.ts';
import type {
  JournalFinding,
  VerificationProgress,
  VerificationResult,
  VerificationStep,
} from './verification-step.ts';
import type { Read } from './work-inspection.ts';

export { copyJournal } from './journal-transfer.ts';
export { TEXT_HEAD, textChecksum, textEnd } from './sqlite/tools/journal-text.ts';

/** Opens a journal for reading its records in commit order. Throws SVC_JOURNAL_… and SVC_DATA_UNUSABLE. */
export function scanJournal(location: JournalLocation, filter?: RecordFilter): JournalScan {
  switch (location.kind) {
    case 'folder':
      return new SqliteScan(location.dir, filter);
    case 'postgres':
      return new DatabaseScan(location, filter);
  }
}

/**
 * Verifies a journal; the last step is the result. `structure`: whether the database's own check runs even beside a running
 * host. Throws SVC_JOURNAL_… and SVC_DATA_UNUSABLE when nothing can be read at all.
 */
export function verifyJournal(
  location: JournalLocation,
  options: { readonly structure: boolean },
): Read<VerificationStep | VerificationResult> {
  switch (location.kind) {
    case 'folder':
      return verifySqliteJournal(location.dir, options);
    case 'postgres':
      return verifiedDatabase(location);
  }
}

/** A line of an export, without its line feed. */
export interface ExportedLine {
  readonly kind: 'record' | 'answer' | 'module' | 'timer' | 'consumer' | 'lane';
  readonly line: string;
}

/**
 * Yields the lines of an export between the first and the last one; with a filter, those of records alone. Damage is a
 * finding among them. Throws SVC_JOURNAL_… and SVC_DATA_UNUSABLE.
 */
export function exportJournal(
  location: JournalLocation,
  filter?: RecordFilter,
): Read<ExportedLine | JournalFinding | VerificationProgress> {
  switch (location.kind) {
    case 'folder':
      return exportedLines(location.dir, filter);
    case 'postgres':
      return databaseLines(location, filter);
  }
}

function* exportedLines(
  dir: string,
  filter: RecordFilter | undefined,
): Generator<ExportedLine | JournalFinding | VerificationProgress, void> {
  for (const entry of journalEntries(dir, filter))
    if (entry.kind === 'finding' || entry.kind === 'progress') yield entry;
    else yield { kind: entry.kind, line: textOf(entry) };
}

async function* databaseLines(
  location: JournalInDatabase,
  filter: RecordFilter | undefined,
): AsyncGenerator<ExportedLine | JournalFinding | VerificationProgress, void> {
  const { databaseEntries } = await import('./postgres/tools/database-entries.ts');
  for await (const entry of databaseEntries(location, filter))
    if (entry.kind === 'finding' || entry.kind === 'progress') yield entry;
    else yield { kind: entry.kind, line: textOf(sqliteEntry(entry)) };
}

/** Tools that read a folder do not load this code. */
async function* verifiedDatabase(
  location: JournalInDatabase,
): AsyncGenerator<VerificationStep | VerificationResult, void> {
  const { verifyDatabase } = await import('./postgres/tools/journal-verification.ts');
  yield* verifyDatabase(location);
}

/**
 * Makes a journal of an export. Rejects with SVC_JOURNAL_NOT_EMPTY, SVC_DISK_FULL, SVC_DATA_UNUSABLE, what `text` rejects
 * with, and SVC_IMPORT_INVALID where a line is not what an export has there; then there is no journal.
 */
export function importJournal(
  text: AsyncIterable<Uint8Array>,
  to: JournalLocation,
  progressed: (lines: number) => void,
): Promise<CopiedCounts> {
  switch (to.kind) {
    case 'folder':
      return importSqliteJournal(text, to.dir, progressed);
    case 'postgres':
      return importToDatabase(text, to, progressed);
  }
}
