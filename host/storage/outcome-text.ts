// OutcomeText is the outcome of a command as journals store it with a reply: JSON text.
import type { Refusal, Reply } from '@svc/model/call';
import type { StoredReply } from '../engine/needs/journal.ts';

type StoredOutcome = Pick<StoredReply, 'outcome' | 'round'>;

/** Returns the outcome as JSON text. A refusal of a round above 0 has the round beside its members. */
export function outcomeText({ outcome, round }: StoredOutcome): string {
  const hasRound = outcome.kind === 'refusal' && round !== undefined && round > 0;
  return JSON.stringify(hasRound ? { ...outcome, round } : outcome);
}

/** Returns the outcome in a text that `outcomeText` has made. */
export function outcomeOf(text: string): StoredOutcome {
  const { round, ...outcome } = JSON.parse(text) as (Reply | Refusal) & Pick<StoredReply, 'round'>;
  return { outcome, ...(round === undefined ? {} : { round }) };
}
