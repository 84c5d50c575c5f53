// ConsumerReader reads the consumers and lanes that are on disk.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { printable } from '@svc/kit/printable';
import type { ConsumerReader, StoredConsumer, StoredLane } from '../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import {
  type ConsumerRow,
  type LaneRow,
  consumerChecksum,
  damagedLane,
  laneChecksum,
  storedLaneOf,
} from './consumer-rows.ts';
import { openForReading } from './journal-file.ts';
import { countIn } from './journal-schema.ts';
import { isText } from './record-checksum.ts';
import { journalDamaged, journalFailure } from './sqlite-failure.ts';

const CONSUMER = 'SELECT id, start, pos, crc FROM consumer WHERE id = ?';
const LANES = `SELECT component, id, seq, state, attempts, round, next_ms, reason, lane.crc
  FROM lane LEFT JOIN entity USING (eno)
  WHERE consumer = ?1 AND lane.eno > ?2 ORDER BY lane.eno LIMIT ${countIn('?3')}`;
const ENTITY_NO = 'SELECT eno FROM entity WHERE component = ? AND id = ?';

/** Values are BigInts, because a damaged row may have any number. */
type Row = Readonly<Record<string, unknown>>;

/** Opens a connection of its own. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openConsumerReader(path: string): SqliteConsumerReader {
  try {
    return new SqliteConsumerReader(openForReading(path), path);
  } catch (error) {
    throw journalFailure(error, 'opened', path);
  }
}

export class SqliteConsumerReader implements ConsumerReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #consumer: StatementSync;
  readonly #lanes: StatementSync;
  readonly #entityNo: StatementSync;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#consumer = database.prepare(CONSUMER);
    this.#lanes = database.prepare(LANES);
    this.#entityNo = database.prepare(ENTITY_NO);
    for (const statement of [this.#consumer, this.#lanes]) statement.setReadBigInts(true);
  }

  consumer(id: string): StoredConsumer | undefined {
    const [found] = this.#rows(this.#consumer, [id]);
    if (found === undefined) return undefined;
    const row = { id, start: found['start'], pos: Number(found['pos']) } as ConsumerRow;
    if (consumerChecksum(row) !== Number(found['crc'])) throw this.#damaged(id, 'its row');
    return { id, start: row.start, position: String(row.pos) };
  }

  lanes(consumer: string, limit: number, after?: EntityRef): readonly StoredLane[] {
    const afterNo = after === undefined ? 0 : this.#numberOf(after);
    return this.#rows(this.#lanes, [consumer, afterNo, limit]).map((found) =>
      this.#laneOf(consumer, found),
    );
  }

  close(): void {
    this.#database.close();
  }

  #laneOf(consumer: string, found: Row): StoredLane {
    const { component, id, seq, state, attempts, round, next_ms: nextMs, reason, crc } = found;
    if (!isText(component) || !isText(id)) throw this.#damaged(consumer, 'a lane of no entity');
    const row = {
      consumer,
      component,
      id,
      seq: Number(seq),
      state: Number(state),
      attempts: Number(attempts),
      round: Number(round),
      nextMs: nextMs === null ? null : Number(nextMs),
      reason,
    } as LaneRow;
    return laneChecksum(row) === Number(crc) ? storedLaneOf(row) : damagedLane({ component, id });
  }

  /** Returns the number of an entity; 0 if it is not in the journal. */
  #numberOf({ component, id }: EntityRef): number {
    const [row] = this.#rows(this.#entityNo, [component, id]);
    return Number(row?.['eno'] ?? 0);
  }

  #rows(statement: StatementSync, values: readonly (string | number)[]): readonly Row[] {
    try {
      return statement.all(...values);
    } catch (error) {
      throw journalFailure(error, 'read', this.#path);
    }
  }

  #damaged(consumer: string, what: string): unknown {
    return journalDamaged(
      this.#path,
      `${what} of consumer '${printable(consumer)}' is not what was written, so that the consumer does not run`,
    );
  }
}
