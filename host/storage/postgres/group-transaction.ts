// GroupTransaction stores a group of appends in one transaction: by one statement, or, if appends of the group change timers, by
// several. Deleting an entity removes its timers, so it is such a change too.
//
// Invariant: a failure with an unknown outcome comes from the statement that commits, and from no other.
import type { SvcError } from '@svc/kit/svc-error';
import type { StoredBeside } from '../../engine/needs/journal.ts';
import {
  type AppendStatementNeeds,
  type GroupOutcome,
  type SlicedAppend,
  storeGroup,
} from './append-statement.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { TimerChanges, type TimerRules, type TimersOfAppend } from './timers/timer-changes.ts';

/** An append as a group has it. */
export interface GroupedAppend extends SlicedAppend {
  readonly beside: StoredBeside;
}

export interface GroupTransactionNeeds extends AppendStatementNeeds {
  readonly timerRules: TimerRules;
}

export interface TransactionOutcome<Append> {
  /** Appends that are refused, whatever becomes of the others. */
  readonly refused: ReadonlyMap<Append, 'gap' | SvcError>;
  /** Appends that are stored; nothing of the others is. */
  readonly stored: readonly Append[];
  /** Slices that were not held. Appends that are neither refused nor stored, and whose slices are not among these, can be sent again. */
  readonly missed: ReadonlySet<number>;
  /** When the earliest timer is fired that was stored, in milliseconds since 1970; Infinity: there is none. */
  readonly earliestMs: number;
}

const BEGIN = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };
const NONE: ReadonlySet<number> = new Set();

/** Sends a group. Rejects with DatabaseFailure. */
export async function sendGroup<Append extends GroupedAppend>(
  session: DatabaseSession,
  appends: readonly Append[],
  needs: GroupTransactionNeeds,
): Promise<TransactionOutcome<Append>> {
  if (appends.some((append) => timersOf(append) !== undefined))
    return withTimers(session, appends, needs);
  const outcome = await storeGroup(session, appends, needs);
  const stored = appends.filter(({ slice }) => outcome.held.has(slice));
  return {
    refused: gapsOf(appends, outcome),
    stored,
    missed: missedBy(appends, outcome),
    earliestMs: Infinity,
  };
}

async function withTimers<Append extends GroupedAppend>(
  session: DatabaseSession,
  appends: readonly Append[],
  needs: GroupTransactionNeeds,
): Promise<TransactionOutcome<Append>> {
  try {
    await session.query(BEGIN);
    const concerned = appends.flatMap((append) => timersOf(append) ?? []);
    const timers = await TimerChanges.load(session, concerned, needs.timerRules);
    const refused = refusedByTimers(appends, timers);
    // The appends behind a refused one of their entity have to be found and left out first.
    if (refused.size > 0) return await rolledBack(session, refused, NONE);
    const outcome = await storeGroup(session, appends, needs);
    const missed = missedBy(appends, outcome);
    if (missed.size > 0 || outcome.gaps.size > 0)
      return await rolledBack(session, gapsOf(appends, outcome), missed);
    const earliestMs = await timers.store(session);
    await session.query(COMMIT).catch((error: unknown) => {
      throw new CommitFailure(error as DatabaseFailure);
    });
    return { refused, stored: appends, missed: NONE, earliestMs };
  } catch (error) {
    if (error instanceof CommitFailure) throw error.failure;
    await session.query(ROLLBACK).catch(() => undefined);
    throw beforeCommit(error);
  }
}

/** The failure of a commit, which differs from failures before it: nobody knows what is stored. */
class CommitFailure extends Error {
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Returns the failure of a transaction that was not committed: nothing of it is stored, even if the connection is lost. */
function beforeCommit(error: unknown): unknown {
  if (!(error instanceof DatabaseFailure) || error.outcome === 'not-done') return error;
  const { message, sqlState, reason } = error;
  return new DatabaseFailure(message, { outcome: 'not-done', sqlState, reason });
}

async function rolledBack<Append>(
  session: DatabaseSession,
  refused: TransactionOutcome<Append>['refused'],
  missed: ReadonlySet<number>,
): Promise<TransactionOutcome<Append>> {
  await session.query(ROLLBACK);
  return { refused, stored: [], missed, earliestMs: Infinity };
}

function refusedByTimers<Append extends GroupedAppend>(
  appends: readonly Append[],
  timers: TimerChanges,
): ReadonlyMap<Append, SvcError> {
  const refused = new Map<Append, SvcError>();
  for (const append of appends) {
    const change = timersOf(append);
    if (change === undefined) continue;
    const failure = timers.apply(change.entity, change.isDeleted, change.writes);
    if (failure !== undefined) refused.set(append, failure);
  }
  return refused;
}

function gapsOf<Append>(
  appends: readonly Append[],
  { gaps }: GroupOutcome,
): ReadonlyMap<Append, 'gap'> {
  return new Map(Array.from(gaps, (index) => [appends[index]!, 'gap']));
}

/** Returns the slices that were not held; if there are gaps, none was asked for. */
function missedBy(
  appends: readonly GroupedAppend[],
  { held, gaps }: GroupOutcome,
): ReadonlySet<number> {
  if (gaps.size > 0) return NONE;
  return new Set(appends.map(({ slice }) => slice).filter((slice) => !held.has(slice)));
}

/** Returns the changes of timers of an append; undefined: it has none. */
function timersOf({ entity, records, beside }: GroupedAppend): TimersOfAppend | undefined {
  const isDeleted = records.some(({ kind }) => kind === 'deleted');
  if (beside.timers === undefined && !isDeleted) return undefined;
  return { entity, isDeleted, writes: beside.timers ?? { changes: [] } };
}
