// ConsumerRequests stores how far consumers are, in the writer. Each request is a transaction of its own.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  ConsumerSettlement,
  StoredConsumer,
  StoredLane,
} from '../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { SvcError } from '@svc/kit/svc-error';
import { consumerChecksum, laneChecksum, laneRowOf } from './consumer-rows.ts';
import { indexDamaged, journalFailure } from './sqlite-failure.ts';

export interface ConsumerRequest {
  readonly kind: 'settle-consumer';
  readonly consumer: Pick<StoredConsumer, 'id' | 'start'>;
  readonly settlement: ConsumerSettlement;
}

export class ConsumerRequests {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #findEntity: StatementSync;
  readonly #putConsumer: StatementSync;
  readonly #putLane: StatementSync;
  readonly #removeLane: StatementSync;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#findEntity = database.prepare('SELECT eno FROM entity WHERE component = ? AND id = ?');
    this.#putConsumer = database.prepare('INSERT OR REPLACE INTO consumer VALUES (?, ?, ?, ?)');
    this.#putLane = database.prepare(
      'INSERT OR REPLACE INTO lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#removeLane = database.prepare('DELETE FROM lane WHERE consumer = ? AND eno = ?');
  }

  /** Returns undefined once the settlement is on disk, or why nothing is changed. */
  carryOut({ consumer, settlement }: ConsumerRequest): SvcError | undefined {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#settle(consumer, settlement);
      this.#database.exec('COMMIT');
      return undefined;
    } catch (error) {
      // After some errors SQLite has already rolled the transaction back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      return journalFailure(error, 'written', this.#path);
    }
  }

  #settle({ id, start }: ConsumerRequest['consumer'], settlement: ConsumerSettlement): void {
    const row = { id, start, pos: Number(settlement.position) };
    this.#putConsumer.run(id, start, row.pos, consumerChecksum(row));
    for (const entity of settlement.rejoined) this.#removeLane.run(id, this.#numberOf(entity));
    for (const lane of settlement.lanes) this.#put(id, lane);
  }

  #put(consumer: string, lane: StoredLane): void {
    const row = laneRowOf(consumer, lane);
    const { seq, state, attempts, round, nextMs, reason } = row;
    const entityNo = this.#numberOf(lane.entity);
    const crc = laneChecksum(row);
    this.#putLane.run(consumer, entityNo, seq, state, attempts, round, nextMs, reason, crc);
  }

  #numberOf({ component, id }: EntityRef): number {
    const entityNo = this.#findEntity.get(component, id)?.['eno'];
    // The dispatcher read an event of the entity from this journal.
    if (entityNo === undefined)
      throw indexDamaged(this.#path, 'an entity with events is not in its table');
    return Number(entityNo);
  }
}
