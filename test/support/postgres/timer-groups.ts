// TimerGroups are groups of appends that change timers alone, in transactions as a journal makes them.
import type { TimerWrites } from '../../../host/engine/needs/timers.ts';
import type {
  DatabaseSession,
  Parameter,
  Statement,
} from '../../../host/storage/postgres/database-session.ts';
import {
  TimerChanges,
  type TimerRules,
  type TimersOfAppend,
} from '../../../host/storage/postgres/timers/timer-changes.ts';
import type { SvcError } from '../../../kit/svc-error.ts';
import type { EntityRef } from '../../../model/entity.ts';

export function ofEntity(
  entity: EntityRef,
  writes: Partial<TimerWrites>,
  isDeleted = false,
): TimersOfAppend {
  return { entity, isDeleted, writes: { changes: [], ...writes } };
}

/** Begins a transaction, and loads the timers that the appends concern. */
export async function loaded(
  session: DatabaseSession,
  rules: TimerRules,
  ...appends: readonly TimersOfAppend[]
): Promise<TimerChanges> {
  await session.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
  return TimerChanges.load(session, appends, rules);
}

/** Applies the appends in order. Returns the failures of those that are refused. */
export function applied(
  changes: TimerChanges,
  ...appends: readonly TimersOfAppend[]
): readonly (SvcError | undefined)[] {
  return appends.map(({ entity, isDeleted, writes }) => changes.apply(entity, isDeleted, writes));
}

export async function committed(session: DatabaseSession, changes: TimerChanges): Promise<number> {
  const earliestMs = await changes.store(session);
  await session.query({ text: 'COMMIT' });
  return earliestMs;
}

/** Stores the appends of a group. Returns the codes of the failures of those that are refused. */
export async function storedGroup(
  session: DatabaseSession,
  rules: TimerRules,
  ...appends: readonly TimersOfAppend[]
): Promise<readonly (string | undefined)[]> {
  const changes = await loaded(session, rules, ...appends);
  const failures = applied(changes, ...appends);
  await committed(session, changes);
  return failures.map((failure) => failure?.code);
}

/** Returns a session that asks `before` about each statement before it is sent. */
export function watched(
  session: DatabaseSession,
  before: (statement: Statement, values: readonly Parameter[]) => void | Promise<void>,
): DatabaseSession {
  return {
    shown: session.shown,
    ended: session.ended,
    async query(statement, values = []) {
      await before(statement, values);
      return session.query(statement, values);
    },
    close: () => session.close(),
    abort: () => session.abort(),
  };
}
