// RecordedEffect: the records of a command's effect in the journal. Each event has a record, and after the events each action
// has one, in order.
import { authorIn } from '@svc/model/author';
import type { CallContext, Effect, EntityAction } from '@svc/model/call';
import type { JournalRecord, RecordKind } from '@svc/model/entity';
import { traceIdOf } from '@svc/kit/trace-context';
import type { EntityCall } from './entity-call.ts';

/** Returns the records of an effect. `afterSeq`: sequence number of the entity's last record. */
export function recordsOf(
  effect: Effect,
  { nowMs: timeMs, seed }: CallContext,
  { metadata, idempotency }: EntityCall,
  afterSeq: number,
): readonly JournalRecord[] {
  let seq = afterSeq;
  const trace = traceIdOf(metadata);
  const origin = { timeMs, seed, trace, key: idempotency?.key, by: authorIn(metadata) };
  const records: JournalRecord[] = effect.events.map((event) => ({
    kind: 'event',
    seq: ++seq,
    ...origin,
    event,
  }));
  for (const action of effect.actions)
    records.push({ kind: RECORD_KINDS[action.kind], seq: ++seq, ...origin });
  return records;
}

/** The kind of the record that an action is stored as. */
const RECORD_KINDS = { 'delete-entity': 'deleted' } as const satisfies Readonly<
  Record<EntityAction['kind'], RecordKind>
>;
