// PostgresTimerAdministration carries out the changes of timers that operators ask for, and the host at its start. Each is a
// transaction of its own, which is repeated when the database ends it because of another one.
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { StoredTimer, TimerWrites } from '../../../engine/needs/timers.ts';
import { retriedAt, scheduleChanges } from '../../stored-timer-rules.ts';
import type { ServiceSchedule, TimerAdministration } from '../../timer-administration.ts';
import { databaseError } from '../database-errors.ts';
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession } from '../database-session.ts';
import type { NodeFence } from '../nodes/node-fence.ts';
import { isStorable } from './storable-timer.ts';
import { TimerChanges, type TimerRules } from './timer-changes.ts';
import { NAME, timerOfRow } from './timer-row.ts';
import { COMMON_PART, lockNamed, lockSchedules, storeTimers } from './timer-statements.ts';

const BEGIN = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };

/** SQLSTATE of a timer whose name another transaction has given to a timer at the same time. */
const UNIQUE_VIOLATION = '23505';
/** Most times that a change is tried. */
const ATTEMPTS_MAX = 10;

export interface TimerAdministrationNeeds {
  /** Calls a function with a connection that nobody else uses until the promise of the function settles. */
  withSession<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T>;
  readonly rules: TimerRules;
  /** Keeps a node from changing timers whose slices were taken. */
  readonly fence: NodeFence;
  /** Receives the time at which the earliest timer is fired that a change has stored; Infinity: there is none. */
  readonly onStored: (earliestMs: number) => void;
}

/** A change as it is in the open transaction. */
interface Changed<T> {
  readonly result: T;
  /** When the earliest timer is fired that was set or changed; Infinity: there is none. */
  readonly earliestMs: number;
}

type Change<T> = (session: DatabaseSession) => Promise<Changed<T>>;

export class PostgresTimerAdministration implements TimerAdministration {
  readonly #needs: TimerAdministrationNeeds;

  constructor(needs: TimerAdministrationNeeds) {
    this.#needs = needs;
  }

  async reconcileSchedules(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void> {
    await this.#transaction(async (session) => {
      const stored = new Map<string, StoredTimer | undefined>();
      for (const row of await lockSchedules(session)) {
        const timer = timerOfRow(row);
        // A damaged one is set again.
        stored.set(String(row[NAME]), timer instanceof SvcError ? undefined : timer);
      }
      const changes = scheduleChanges(stored, schedules, nowMs);
      return this.#applied(session, undefined, { changes });
    });
  }

  async cancelTimer(owner: EntityRef | undefined, name: string): Promise<boolean> {
    return this.#transaction((session) =>
      this.#applied(session, owner, { changes: [{ kind: 'cancel', name }] }),
    );
  }

  async retryTimer(owner: EntityRef | undefined, name: string, nowMs: number): Promise<boolean> {
    if (![owner?.component, owner?.id, name].every((text = '') => isStorable(text))) return false;
    return this.#transaction(async (session) => {
      const row = await lockNamed(session, owner, name);
      const timer = row && timerOfRow(row);
      if (timer instanceof SvcError) throw timer;
      const retried = timer && retriedAt(timer, nowMs);
      if (retried === undefined) return { result: false, earliestMs: Infinity };
      const change = { removed: [], changed: [retried], added: [], part: COMMON_PART };
      await storeTimers(session, change);
      return { result: true, earliestMs: nowMs };
    });
  }

  /** Makes changes of timers in an open transaction. The result is whether the last of their names was there. */
  async #applied(
    session: DatabaseSession,
    entity: EntityRef | undefined,
    writes: TimerWrites,
  ): Promise<Changed<boolean>> {
    const append = { entity, isDeleted: false, writes };
    const timers = await TimerChanges.load(session, [append], this.#needs.rules);
    const name = writes.changes.at(-1)?.name;
    const result = name !== undefined && timers.has(entity, name);
    const failure = timers.apply(entity, false, writes);
    if (failure !== undefined) throw failure;
    return { result, earliestMs: await timers.store(session) };
  }

  async #transaction<T>(change: Change<T>): Promise<T> {
    const { onStored, fence } = this.#needs;
    const fenced: Change<T> = async (session) => {
      await fence(session);
      return change(session);
    };
    for (let left = ATTEMPTS_MAX - 1; ; left--) {
      const changed = await this.#needs.withSession((session) =>
        committed(session, fenced, left > 0),
      );
      if (changed === undefined) continue;
      onStored(changed.earliestMs);
      return changed.result;
    }
  }
}

/** Makes a change and commits it. Returns undefined if it has to be repeated, and `isRepeatable`. Rejects with an SvcError. */
async function committed<T>(
  session: DatabaseSession,
  change: Change<T>,
  isRepeatable: boolean,
): Promise<Changed<T> | undefined> {
  let isCommitting = false;
  try {
    await session.query(BEGIN);
    const changed = await change(session);
    isCommitting = true;
    await session.query(COMMIT);
    return changed;
  } catch (error) {
    await rollBack(session);
    if (!(error instanceof DatabaseFailure)) throw error;
    if (isRepeatable && mayPass(error)) return undefined;
    const isUncertain = isCommitting && error.outcome === 'unknown';
    throw isUncertain ? uncertain(error, session.shown) : databaseError(error, session.shown);
  }
}

/** Returns whether the change may be stored when it is repeated. */
function mayPass({ isRetryable, sqlState }: DatabaseFailure): boolean {
  return isRetryable || sqlState === UNIQUE_VIOLATION;
}

function uncertain({ message }: DatabaseFailure, shown: string): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `It is unknown whether timers in ${shown} were changed: ${message}. Look at the timers, and repeat the change if it is missing.`,
  );
}

async function rollBack(session: DatabaseSession): Promise<void> {
  try {
    await session.query(ROLLBACK);
  } catch (error) {
    // The connection is lost, and with it the transaction.
    if (!(error instanceof DatabaseFailure)) throw error;
  }
}
