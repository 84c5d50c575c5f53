// PostgresTimerAdministration carries out the changes of timers that operators ask for, and the host at its start. Each is a
// transaction of its own, which is repeated when the database ends it because of another one.
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { StoredTimer, TimerWrites } from '../../../engine/needs/timers.ts';
import { retriedAt, scheduleChanges } from '../../stored-timer-rules.ts';
import type { ServiceSchedule, TimerAdministration } from '../../timer-administration.ts';
import type { DatabaseSession } from '../database-session.ts';
import type { NodeFence } from '../nodes/node-fence.ts';
import { operatorChange, type WithSession } from '../operator-change.ts';
import { isStorable } from './storable-timer.ts';
import { TimerChanges, type TimerRules } from './timer-changes.ts';
import { NAME, timerOfRow } from './timer-row.ts';
import { COMMON_PART, lockNamed, lockSchedules, storeTimers } from './timer-statements.ts';

export interface TimerAdministrationNeeds {
  /** Calls a function with a connection that nobody else uses until the promise of the function settles. */
  readonly withSession: WithSession;
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
    const { onStored, fence, withSession } = this.#needs;
    const fenced: Change<T> = async (session) => {
      await fence(session);
      return change(session);
    };
    const { result, earliestMs } = await operatorChange(withSession, 'timers', fenced);
    onStored(earliestMs);
    return result;
  }
}
