// DatabaseEntries reads the whole content of a journal in a database, as it is at one moment.
import { SvcError } from '@svc/kit/svc-error';
import type { JournalEntry, ModuleEntry } from '../../journal-entries.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { RecordFilter } from '../../journal-scan.ts';
import type { JournalFinding } from '../../verification-step.ts';
import { positionText, sumOf } from './commit-order.ts';
import { JournalMoment } from './journal-moment.ts';
import type { OrderedDamage } from './ordered-records.ts';
import type { ReadConsumer } from './stored-work.ts';

const RECORDS_AT_ONCE = 1_000;

/**
 * Yields all entries of a journal; with a filter, records alone. Rejects as DatabaseReader does.
 */
export async function* databaseEntries(
  location: JournalInDatabase,
  filter?: RecordFilter,
): AsyncGenerator<JournalEntry, void> {
  const moment = await JournalMoment.open(location);
  try {
    if (filter === undefined) yield* work(moment);
    const starts = new ModuleStarts();
    yield* records(moment, starts, filter);
    if (filter !== undefined) return;
    let replies = 0;
    for await (const page of moment.replies()) {
      yield* page;
      replies += page.length;
      yield { kind: 'progress', what: 'answers', done: replies };
    }
    yield* starts.entries(moment, sumOf(moment.ends));
  } finally {
    await moment.close();
  }
}

async function* work(moment: JournalMoment): AsyncGenerator<JournalEntry, void> {
  const positions = await consumerPositions(moment);
  for (const consumer of moment.consumers)
    if (consumer.kind === 'finding') yield consumer;
    else {
      const { kind, id, start } = consumer;
      yield { kind, id, start, pos: positions.get(id)! };
    }
  for await (const page of moment.lanes()) yield* page;
  for await (const page of moment.timers())
    for (const timer of page)
      if (timer instanceof SvcError) yield { kind: 'finding', problem: timer.message };
      else yield { kind: 'timer', timer };
}

/**
 * Returns the position of each consumer in the commit order: that of the last record before the first one that it has not settled. Events
 * after it that it has settled in other slices are delivered again.
 */
async function consumerPositions(moment: JournalMoment): Promise<ReadonlyMap<string, number>> {
  const end = sumOf(moment.ends);
  const positions = new Map<string, number>();
  const open = new Set<ReadConsumer>();
  for (const consumer of moment.consumers) {
    if (consumer.kind === 'finding') continue;
    positions.set(consumer.id, end);
    if (consumer.ends.some((off, slice) => off < moment.ends[slice]!)) open.add(consumer);
  }
  const order = moment.order();
  for (let before = 0; open.size > 0;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const keys = await order.next();
    if (keys.length === 0) break;
    for (const { slice, off } of keys) {
      for (const consumer of open)
        if (off > consumer.ends[slice]!) {
          positions.set(consumer.id, before);
          open.delete(consumer);
        }
      before++;
    }
  }
  return positions;
}

async function* records(
  moment: JournalMoment,
  starts: ModuleStarts,
  filter: RecordFilter | undefined,
): AsyncGenerator<JournalEntry, void> {
  const read = moment.records(filter);
  const total = sumOf(moment.ends);
  for (let isLast = false; !isLast;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await read.page(RECORDS_AT_ONCE);
    ({ isLast } = page);
    for (const entry of page.entries)
      if (entry.kind === 'damaged') yield findingOf(entry);
      else {
        const { kind, nth, component, id, record, module } = entry;
        starts.note(module, nth);
        yield { kind, pos: nth, component, id, record, module };
      }
    yield { kind: 'progress', what: 'records', done: sumOf(read.ends), total };
  }
}

/** Returns the finding for a record that is damaged or missing. */
export function findingOf({ key, component, id, seq, problem }: OrderedDamage): JournalFinding {
  return { kind: 'finding', component, id, seq, pos: positionText(key), problem };
}

/** The first record of each module. */
class ModuleStarts {
  readonly #first = new Map<number, number>();

  note(module: number | undefined, pos: number): void {
    if (module !== undefined && !this.#first.has(module)) this.#first.set(module, pos);
  }

  /** Yields the modules. One without records begins where the next one does, or at the end. */
  *entries({ modules }: JournalMoment, lastPos: number): Generator<ModuleEntry, void> {
    const entries: ModuleEntry[] = [];
    let fromPos = lastPos + 1;
    for (const { number, ...module } of modules.toReversed()) {
      fromPos = Math.min(fromPos, this.#first.get(number) ?? fromPos);
      entries.unshift({ kind: 'module', number, fromPos, ...module });
    }
    yield* entries;
  }
}
