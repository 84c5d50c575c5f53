// FilledJournal: fills a journal before a measurement, through `append` as the engine does. Each event of the counter
// adds one, so the state of an entity is the number of its events.
import type { Journal } from '../host/engine/needs/journal.ts';
import type { JournalRecord, StoredEvent } from '@svc/model/entity';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal, type SqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';

export const COMPONENT = 'counter';
export const EVENT = { manifest: 'CounterEvent', json: '{"type":"added","amount":1}' };

/** An event, and the component that has it. */
export interface EventKind {
  readonly component: string;
  readonly event: StoredEvent;
}

/** Maximum number of events that are appended concurrently; a single append may have more. */
const EVENTS_AT_ONCE = 2_000;

/** Opens a journal, and closes it after `work`. */
export async function withJournal(
  dir: string,
  work: (journal: Journal, opened: SqliteJournal) => Promise<void>,
): Promise<void> {
  const opened = await openSqliteJournal(dir, { bytesMax: 0 });
  try {
    const journal = attachSqliteJournal(opened.connect());
    await work(journal, opened);
    await journal.close();
  } finally {
    await opened.close();
  }
}

/**
 * Appends this many events to each of the entities c0, c1, …, in one append per entity, after the event `afterSeq`.
 * `stored` is called after each group of entities, with its first index and the index after its last.
 */
export async function appendToAll(
  journal: Journal,
  entities: number,
  afterSeq: number,
  events: number,
  stored: (from: number, until: number) => void = () => {},
): Promise<void> {
  const entitiesAtOnce = Math.max(1, Math.floor(EVENTS_AT_ONCE / events));
  for (let from = 0; from < entities; from += entitiesAtOnce) {
    const until = Math.min(entities, from + entitiesAtOnce);
    const appends = Array.from({ length: until - from }, (_, index) =>
      appendEvents(journal, `c${from + index}`, afterSeq, events),
    );
    await Promise.all(appends);
    stored(from, until);
  }
}

/** Appends this many events, each to one of the entities c0, c1, … at random. */
export async function appendAtRandom(
  journal: Journal,
  entities: number,
  events: number,
): Promise<void> {
  const seqs = new Uint32Array(entities);
  for (let from = 0; from < events; from += EVENTS_AT_ONCE) {
    const count = Math.min(EVENTS_AT_ONCE, events - from);
    const appends = Array.from({ length: count }, () => {
      const no = Math.floor(Math.random() * entities);
      return appendEvents(journal, `c${no}`, seqs[no]!++, 1);
    });
    await Promise.all(appends);
  }
}

/** Appends this many events to an entity, in one append, after the event `afterSeq`. */
export async function appendEvents(
  journal: Journal,
  id: string,
  afterSeq: number,
  events: number,
  { component, event }: EventKind = { component: COMPONENT, event: EVENT },
): Promise<void> {
  const records = Array.from({ length: events }, (_, index): JournalRecord => {
    const seq = afterSeq + 1 + index;
    return { kind: 'event', seq, timeMs: 1_700_000_000_000, seed: 1n, event };
  });
  const settled = Promise.withResolvers<void>();
  journal.append({ component, id }, records, (failure) =>
    failure === undefined ? settled.resolve() : settled.reject(failure),
  );
  return settled.promise;
}
