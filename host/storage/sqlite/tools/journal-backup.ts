// JournalBackup copies a journal as it is at one moment, while a host may store more. Each step reads some thousand
// records in a transaction of its own: SQLite's backup would begin anew whenever the host stores something.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import { JournalCopy } from './journal-copy.ts';
import { type SourceEntry, journalEntries } from './journal-source.ts';
import type { SourceConsumer, SourceLane, SourceTimer } from './timer-entries.ts';
import type { JournalFinding, VerificationProgress } from '../../verification-step.ts';

/**
 * Copies the journal in the folder `from` into the new folder `to`, and checks every checksum. The caller may do other
 * work between two steps. Throws SVC_JOURNAL_NOT_EMPTY, SVC_DISK_FULL, what `journalEntries` throws, and
 * SVC_JOURNAL_CORRUPT where something is not as it was written; then there is no copy.
 */
export function* backUpJournal(
  from: string,
  to: string,
): Generator<VerificationProgress, JournalCopy['counts'], void> {
  const entries = journalEntries(from);
  let copy: JournalCopy | undefined;
  try {
    // The new folder is created only if there is a journal to copy.
    let next = entries.next();
    copy = new JournalCopy(to);
    for (; next.done !== true; next = entries.next()) {
      const entry = next.value;
      if (entry.kind === 'progress') yield entry;
      else addEntry(copy, entry, from);
    }
    copy.finish();
    return copy.counts;
  } catch (error) {
    copy?.abandon();
    throw error;
  } finally {
    entries.return();
  }
}

/** Adds an entry to a copy. `from`: name of the journal that the entry is from. Throws SVC_JOURNAL_CORRUPT if it cannot be added. */
export function addEntry(
  copy: JournalCopy,
  entry: Exclude<SourceEntry, VerificationProgress>,
  from: string,
): void {
  switch (entry.kind) {
    case 'finding':
      throw damaged(from, entry);
    case 'module':
      copy.addModule(entry.row);
      return;
    case 'timer':
    case 'consumer':
    case 'lane': {
      const problem = addTo(copy, entry);
      if (problem !== undefined)
        throw damaged(from, { kind: 'finding', problem: `a ${entry.kind} ${problem}` });
      return;
    }
    case 'record':
    case 'answer': {
      const { component, id } = entry;
      const problem =
        entry.kind === 'record'
          ? copy.addRecord(component, id, entry.row)
          : copy.addAnswer(component, id, entry.row);
      const at = entry.kind === 'record' ? { pos: entry.pos, seq: entry.record.seq } : {};
      if (problem !== undefined)
        throw damaged(from, { kind: 'finding', component, id, ...at, problem: `it ${problem}` });
    }
  }
}

function addTo(
  copy: JournalCopy,
  entry: SourceTimer | SourceConsumer | SourceLane,
): string | undefined {
  switch (entry.kind) {
    case 'timer':
      return copy.addTimer(entry.row);
    case 'consumer':
      return copy.addConsumer(entry.row);
    case 'lane':
      return copy.addLane(entry.row);
  }
}

/** Returns the failure of a copy of a journal that has this damage. */
export function damaged(
  from: string,
  { component, id, seq, pos, problem }: JournalFinding,
): SvcError {
  const entity =
    component === undefined || id === undefined
      ? ''
      : ` of entity '${printable(id)}' of component '${printable(component)}'`;
  const record = seq === undefined ? '' : ` record ${seq}`;
  const position = pos === undefined ? '' : ` at position ${pos}`;
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal in ${from} is damaged:${record}${entity}${position}: ${printable(problem)}. No copy was made. ` +
      `svc journal verify names all that is damaged; restore it from an earlier backup.`,
  );
}
