// TimerVerification checks what a journal has for timers and consumers since format 5: each row against its checksum, its
// owner, and the indexes of timers.
import { TIMER_COLUMNS } from '../stored-timer-row.ts';
import { pagesOf } from './index-verification.ts';
import type { ReadingConnection } from './reading-connection.ts';
import { consumerEntries, timerEntry } from './timer-entries.ts';
import type { VerificationStep } from '../../verification-step.ts';

const TIMERS = () => `SELECT ${TIMER_COLUMNS}, EXISTS (
    SELECT 1 FROM timer i INDEXED BY sqlite_autoindex_timer_1
    WHERE i.eno = t.eno AND i.name = t.name AND i.tno = t.tno)
  AND (t.next_ms IS NULL OR EXISTS (
    SELECT 1 FROM timer i INDEXED BY timer_next WHERE i.next_ms = t.next_ms AND i.tno = t.tno))
  FROM timer t NOT INDEXED LEFT JOIN entity o ON o.eno = t.eno
  WHERE t.tno > ? ORDER BY t.tno LIMIT 2000`;
/** The number of columns of a timer and its owner. */
const COLUMNS = 18;

/** Checks the timers. */
export function* timersChecked(connection: ReadingConnection): Generator<VerificationStep, void> {
  let count = 0;
  for (const rows of pagesOf(connection, TIMERS, [0], (row) => [row[0] as bigint])) {
    count += rows.length;
    for (const row of rows) {
      const entry = timerEntry(row.slice(0, COLUMNS));
      if (entry.kind === 'finding') yield entry;
      if (Number(row[COLUMNS]) === 0)
        yield { kind: 'finding', problem: `timer ${String(row[0])} is not in its index` };
    }
    yield { kind: 'progress', what: 'timers', done: count };
  }
}

/** Checks the consumers and their lanes. */
export function* consumersChecked(
  connection: ReadingConnection,
): Generator<VerificationStep, void> {
  for (const entry of consumerEntries(connection)) if (entry.kind === 'finding') yield entry;
}
