// What the journal is to keep of a command's effect: its events, in order, and its deletion after them.
import type { CallContext, Effect } from '../../model/call.ts';
import type { JournalRecord } from '../../model/entity.ts';
import { traceIdOf } from '../../model/trace-context.ts';
import type { EntityCall } from './entity-call.ts';

/** `afterSeq`: of the entity's last record. */
export function recordsOf(
  effect: Effect,
  { nowMs: timeMs, seed }: CallContext,
  { metadata, idempotency }: EntityCall,
  afterSeq: number,
): readonly JournalRecord[] {
  let seq = afterSeq;
  const origin = { timeMs, seed, trace: traceIdOf(metadata), key: idempotency?.key };
  const records: JournalRecord[] = effect.events.map((event) => ({
    kind: 'event',
    seq: ++seq,
    ...origin,
    event,
  }));
  if (effect.deleteEntity) records.push({ kind: 'deleted', seq: ++seq, ...origin });
  return records;
}
