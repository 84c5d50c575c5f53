// svc journal DIR --events: prints the records of all entities in commit order, with filters, and follows new
// records.
import type { JournalScan, RecordFilter, ScanPosition } from '@svc/host/tools';
import { setTimeout } from 'node:timers/promises';
import { CommandFailure, EXIT_CODE, type ExitCode } from '../command.ts';
import { journalOf } from '../journal-word.ts';
import { type JournalPrinter, printEnd } from '../journal-printer.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/** Maximum number of records per page. It is small, since each event may be a megabyte long. */
const PAGE_RECORDS = 256;
/** Pause between two polls for new records, in milliseconds. */
const FOLLOW_PAUSE_MS = 200;

interface Asked {
  readonly dir: string;
  readonly filter: RecordFilter | undefined;
  /** A position, or 'last' for the end of the journal; undefined: from the beginning. */
  readonly after: string | undefined;
  /** Maximum number of records; Infinity: all. */
  readonly limitCount: number;
  readonly follow: boolean;
}

export async function printEvents(printer: JournalPrinter, asked: Asked): Promise<ExitCode> {
  const { dir, filter, after, limitCount, follow } = asked;
  const tools = await import('@svc/host/tools');
  const scan = tools.scanJournal(journalOf(tools, dir), filter);
  const stop = stopSignal(follow);
  let count = 0;
  let damagedCount = 0;
  try {
    let at = await positionOf(scan, after);
    let isAtEnd = false;
    let isOpen = await printData(printer.eventsHead());
    while (isOpen && count < limitCount && !stop.aborted) {
      const { entries, lastPos, isLast } = await scan.page(
        at,
        Math.min(PAGE_RECORDS, limitCount - count),
      );
      at = lastPos;
      isAtEnd = isLast;
      if (entries.length > 0) isOpen = await printData(printer.events(entries, count === 0));
      count += entries.length;
      damagedCount += entries.filter(({ kind }) => kind === 'damaged').length;
      if (!isLast) continue;
      if (!follow) break;
      scan.rest();
      await pause(stop);
    }
    const more = isOpen && !follow && !isAtEnd;
    await printEnd(printer, more ? at : undefined);
    if (count === 0 && !follow)
      process.stderr.write(
        `There is no such record${after === undefined ? '' : ' from there on'}.\n`,
      );
  } finally {
    scan.close();
  }
  if (damagedCount === 0) return EXIT_CODE.ok;
  throw new CommandFailure(
    'SVC_JOURNAL_CORRUPT',
    `The journal in ${dir} is damaged in ${damagedCount === 1 ? 'one place' : `${damagedCount} places`}, ` +
      'named above. svc journal verify names all of them; restore the journal from a backup.',
  );
}

/** Returns the position after which records are printed. Throws UsageError. */
async function positionOf(scan: JournalScan, after: string | undefined): Promise<ScanPosition> {
  if (after === undefined) return scan.start;
  const position = after === 'last' ? await scan.lastPos() : scan.parse(after);
  if (position !== undefined) return position;
  throw new UsageError(`journal takes a position or 'last' as --after, not '${after}'.`);
}

/**
 * Returns a signal that ctrl-c and SIGTERM abort, so that the output is completed. Without `follow`, nothing aborts the
 * signal, and ctrl-c ends the process.
 */
function stopSignal(follow: boolean): AbortSignal {
  const stop = new AbortController();
  if (follow) for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  return stop.signal;
}

async function pause(stop: AbortSignal): Promise<void> {
  try {
    await setTimeout(FOLLOW_PAUSE_MS, undefined, { signal: stop });
  } catch {
    // The signal was aborted.
  }
}
