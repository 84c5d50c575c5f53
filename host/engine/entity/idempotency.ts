// Idempotency: what an idempotency key may be, and what a command is answered that came with one before. The
// first answer is the only one: it is stored with what the command has persisted, refusals as well, since a
// caller that is told something else the second time might go on elsewhere.
import { refusal } from '../../model/call.ts';
import type { ReplyToStore, StoredReply } from '../needs/journal.ts';
import type { CommandKey } from './command-key.ts';
import type { EntityCall, Outcome } from './entity-call.ts';

/** The longest idempotency key, in characters. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 1024;

/** What is wrong with a key, as the end of a sentence about it; undefined when nothing is. */
export function idempotencyKeyProblem(
  key: string,
  lengthMax = IDEMPOTENCY_KEY_LENGTH_MAX,
): string | undefined {
  if (key.length === 0) return 'is empty';
  if (key.length > lengthMax) return `is longer than ${lengthMax} characters`;
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index);
    if (unit < 0x21 || unit > 0x7e) return 'has a character that is not visible ASCII';
  }
  return undefined;
}

/** The first answer, or a refusal where the key came with another command or input then. */
export function repeatedOutcome(
  { digest }: CommandKey,
  first: { readonly digest: string; readonly outcome: Outcome },
): Outcome {
  if (first.digest === digest) return first.outcome;
  return refusal(
    'UNPROCESSABLE',
    'the idempotency key came with another command or input before (SVC_IDEMPOTENCY_KEY_REUSED)',
  );
}

/** Whether the answer is no longer to be told. A clock that was set back makes none older. */
export function isForgotten({ timeMs }: StoredReply, nowMs: number, retentionMs: number): boolean {
  return nowMs - timeMs >= retentionMs;
}

/** `undefined` for a call without a key. */
export function answerToKeep(
  { idempotency }: EntityCall,
  outcome: Outcome,
  timeMs: number,
  retentionMs: number,
): ReplyToStore | undefined {
  if (idempotency === undefined) return undefined;
  return { ...idempotency, timeMs, outcome, forgetBeforeMs: timeMs - retentionMs + 1 };
}
