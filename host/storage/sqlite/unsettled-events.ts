// UnsettledEvents says whether a consumer may still repeat a call: until the event for which it was made is settled. It runs in
// the writer, when a stored reply has been there for long enough to be forgotten.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { eventOfKey } from '@svc/model/event-key';
import { positionOf } from './record-index.ts';

/** An event is settled if the consumer's position is past it, and no lane of its entity begins at it or before. */
const UNSETTLED = `SELECT 1 FROM consumer, entity
  WHERE consumer.id = ?1 AND component = ?2 AND entity.id = ?3 AND (
    consumer.pos < ${positionOf('entity.eno', '?4')}
    OR EXISTS (SELECT 1 FROM lane WHERE consumer = ?1 AND lane.eno = entity.eno AND lane.seq <= ?4))`;

export class UnsettledEvents {
  readonly #database: DatabaseSync;
  /** Prepared for the first key of an event, which only services with consumers have. */
  #unsettled: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether the reply to this key is of a call for an event that is not settled. Throws errors of SQLite. */
  has(key: string): boolean {
    const event = eventOfKey(key);
    if (event === undefined) return false;
    const { consumer, entity, seq } = event;
    this.#unsettled ??= this.#database.prepare(UNSETTLED);
    return this.#unsettled.get(consumer, entity.component, entity.id, seq) !== undefined;
  }
}
