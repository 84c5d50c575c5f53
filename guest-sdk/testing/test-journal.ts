// TestJournal: what tests ask of the journal in memory, beside the engine.
import type { EntityRef, MemoryJournal, StoredEvent } from '@svc/host/tools';

/** Stores events after those that the entity has. */
export async function storeEvents(
  journal: MemoryJournal,
  entity: EntityRef,
  events: readonly StoredEvent[],
  timeMs: number,
): Promise<void> {
  const seq = (await recordsOf(journal, entity)).length;
  const records = events.map((event, index) => {
    return { kind: 'event', seq: seq + index + 1, timeMs, event } as const;
  });
  await new Promise<void>((resolve, reject) => {
    journal.append(entity, records, (failure) => {
      if (failure === undefined) resolve();
      else reject(failure);
    });
  });
}

export async function eventsSinceDeletion(
  journal: MemoryJournal,
  entity: EntityRef,
): Promise<readonly StoredEvent[]> {
  const records = await recordsOf(journal, entity);
  const deleted = records.findLastIndex(({ kind }) => kind === 'deleted');
  return records
    .slice(deleted + 1)
    .flatMap((record) => (record.kind === 'event' ? [record.event] : []));
}

function recordsOf(journal: MemoryJournal, entity: EntityRef) {
  return journal.read(entity, 0, Number.MAX_SAFE_INTEGER);
}
