// Incarnation: the events of an entity from its first record, or from the record after a deletion, up to the next deletion
// or to the last record. Folding these events gives a state, wherever they come from: the journal of a running service, a
// journal that is inspected, a file, or a list. An entity has one incarnation after the other; the last one is the current
// incarnation.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, StoredEvent } from '@svc/model/entity';

export interface Incarnation {
  readonly entity: EntityRef;
  /**
   * Sequence number of the record before its first event: that of a deletion, or 0. With a `snapshot`, that of the last
   * record that the snapshot includes.
   */
  readonly afterSeq: number;
  /** State after the record `afterSeq`, as JSON text; undefined: the empty state. */
  readonly snapshot?: string | undefined;
  /** Sequence number of its last event; Infinity when the end is only known from an empty page. */
  readonly lastSeq: number;
  /**
   * Returns a page of its events after the record `seq`, oldest first; `seq` is `afterSeq` or the number of an event.
   * An empty page is the end. Returns a plain value if nothing has to be waited for. Throws, or rejects with,
   * SVC_JOURNAL_….
   */
  eventsAfter(seq: number): Awaitable<readonly StoredEvent[]>;
}

/** Returns an incarnation that consists of `events`. `firstSeq`: sequence number of the first event. */
export function incarnationOf(
  entity: EntityRef,
  events: readonly StoredEvent[],
  firstSeq = 1,
): Incarnation {
  const afterSeq = firstSeq - 1;
  return {
    entity,
    afterSeq,
    lastSeq: afterSeq + events.length,
    eventsAfter: (seq) => (seq === afterSeq ? events : events.slice(seq - afterSeq)),
  };
}
