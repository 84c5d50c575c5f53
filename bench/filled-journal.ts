// A journal that is filled before anything is measured, through the storage's own appends: events of the counter,
// each of which adds one, so that the state of an entity is the number of its events.
import type { Journal } from '../host/engine/needs/journal.ts';
import type { JournalRecord } from '../host/model/entity.ts';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';

export const COMPONENT = 'counter';
export const EVENT = { manifest: 'CounterEvent', json: '{"type":"added","amount":1}' };
/** Records that are appended before any is waited for. */
const AT_ONCE = 2_000;

/** Opens it, and closes it when the work is done. */
export async function withJournal(
  dir: string,
  work: (journal: Journal) => Promise<void>,
): Promise<void> {
  const opened = await openSqliteJournal(dir, { bytesMax: 0 });
  try {
    const journal = attachSqliteJournal(opened.connect());
    await work(journal);
    await journal.close();
  } finally {
    await opened.close();
  }
}

/**
 * Entities c0, c1, … go on from `afterSeq` with so many events, each entity's in one append. `stored` is told of
 * some entities after the others, from and until their number.
 */
export async function appendToAll(
  journal: Journal,
  entities: number,
  afterSeq: number,
  events: number,
  stored: (from: number, until: number) => void = () => {},
): Promise<void> {
  const atOnce = Math.max(1, Math.floor(AT_ONCE / events));
  for (let from = 0; from < entities; from += atOnce) {
    const until = Math.min(entities, from + atOnce);
    const appends = Array.from({ length: until - from }, (_, index) =>
      appended(journal, `c${from + index}`, afterSeq, events),
    );
    await Promise.all(appends);
    stored(from, until);
  }
}

async function appended(
  journal: Journal,
  id: string,
  afterSeq: number,
  events: number,
): Promise<void> {
  const records = Array.from({ length: events }, (_, index): JournalRecord => {
    const seq = afterSeq + 1 + index;
    return { kind: 'event', seq, timeMs: 1_700_000_000_000, seed: 1n, event: EVENT };
  });
  const settled = Promise.withResolvers<void>();
  journal.append({ component: COMPONENT, id }, records, (failure) =>
    failure === undefined ? settled.resolve() : settled.reject(failure),
  );
  return settled.promise;
}
