// TimerRequests carries out the changes of timers that operators ask for, and the host at its start, in the writer. Each is
// a transaction of its own.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { ServiceSchedule } from '../timer-administration.ts';
import { retriedAt, scheduleChanges } from '../stored-timer-rules.ts';
import { journalFailure } from './sqlite-failure.ts';
import { type Owner, SERVICE, type StoredTimers } from './stored-timers.ts';

export type TimerRequest =
  | {
      readonly kind: 'reconcile-schedules';
      readonly schedules: readonly ServiceSchedule[];
      readonly nowMs: number;
    }
  | { readonly kind: 'cancel-timer'; readonly owner: EntityRef | undefined; readonly name: string }
  | {
      readonly kind: 'retry-timer';
      readonly owner: EntityRef | undefined;
      readonly name: string;
      readonly nowMs: number;
    };

export class TimerRequests {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #timers: StoredTimers;
  readonly #findEntity: StatementSync;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, path: string, timers: StoredTimers) {
    this.#database = database;
    this.#path = path;
    this.#timers = timers;
    this.#findEntity = database.prepare('SELECT eno FROM entity WHERE component = ? AND id = ?');
  }

  /** Returns whether the request has changed something, once that is on disk, or why nothing is changed. */
  carryOut(request: TimerRequest): boolean | SvcError {
    const count = this.#timers.count;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      const changed = this.#change(request);
      this.#database.exec('COMMIT');
      return changed;
    } catch (error) {
      this.#timers.restore(count);
      // After some errors SQLite has already rolled the transaction back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      return journalFailure(error, 'written', this.#path);
    }
  }

  #change(request: TimerRequest): boolean {
    if (request.kind === 'reconcile-schedules') {
      const stored = this.#timers.ofOwner(SERVICE);
      const changes = scheduleChanges(stored, request.schedules, request.nowMs);
      const plan = this.#timers.plan(SERVICE, { firing: undefined, changes }, false);
      if (plan instanceof SvcError) throw plan;
      this.#timers.carryOut(plan);
      return changes.length > 0;
    }
    const owner = this.#ownerOf(request.owner);
    if (owner === undefined) return false;
    if (request.kind === 'cancel-timer') return this.#timers.remove(owner, request.name);
    const timer = this.#timers.ofOwner(owner).get(request.name);
    const retried = timer && retriedAt(timer, request.nowMs);
    if (retried !== undefined) this.#timers.update(retried);
    return retried !== undefined;
  }

  #ownerOf(entity: EntityRef | undefined): Owner | undefined {
    if (entity === undefined) return SERVICE;
    const entityNo = this.#findEntity.get(entity.component, entity.id)?.['eno'];
    return entityNo === undefined ? undefined : { entityNo: Number(entityNo), entity };
  }
}
