// UnsettledEvents says whether a consumer may still repeat a call: until the event for which it was made is settled. The sweep of
// replies asks it about replies that are old enough to be removed.
import { eventOfKey } from '@svc/model/event-key';
import { sliceOf } from '@svc/model/slice';
import type { DatabaseSession } from '../database-session.ts';

/**
 * An event is settled if the consumer's number in its slice is not less than that of its record, and no lane of its entity begins
 * at it or before. A consumer that does not exist repeats nothing.
 */
const UNSETTLED = {
  name: 'unsettled-events',
  text: `SELECT e.key FROM unnest($1::int4[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[])
    AS e(key, consumer, slice, component, id, seq)
  JOIN svc.consumer c ON c.consumer = e.consumer
  WHERE EXISTS (
    SELECT FROM svc.lane l
    WHERE l.consumer = e.consumer AND l.slice = e.slice AND l.component = e.component AND l.id = e.id AND l.seq <= e.seq
  ) OR coalesce((
    SELECT o.off FROM svc.consumer_offset o WHERE o.consumer = e.consumer AND o.slice = e.slice
  ), 0) < (
    SELECT j.off FROM svc.journal j
    WHERE j.slice = e.slice AND j.component = e.component AND j.id = e.id AND j.seq = e.seq
  )`,
};

/**
 * Returns those of some keys of replies that are of calls for events that are not settled. Rejects with DatabaseFailure. It may be
 * called within a transaction.
 */
export async function unsettledKeys(
  session: Pick<DatabaseSession, 'query'>,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const asked = keys.flatMap((key, index) => {
    const event = eventOfKey(key);
    // A damaged row may have any key.
    return event === undefined || !Number.isSafeInteger(event.seq) ? [] : [{ ...event, index }];
  });
  if (asked.length === 0) return new Set();
  const rows = await session.query(UNSETTLED, [
    asked.map(({ index }) => index),
    asked.map(({ consumer }) => consumer),
    asked.map(({ entity }) => sliceOf(entity.component, entity.id)),
    asked.map(({ entity }) => entity.component),
    asked.map(({ entity }) => entity.id),
    asked.map(({ seq }) => seq),
  ]);
  return new Set(rows.map(([index]) => keys[index as number]!));
}
