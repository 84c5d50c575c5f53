// Idempotency: the rules for idempotency keys, and the reply to a command whose key came before. Until its retention is
// over, the first reply to a key is the only one; afterwards the key counts as new. The reply is stored together with
// the command's records. A refusal is stored too, since a caller that gets another reply the second time might carry on
// differently.
import { refusal } from '@svc/model/call';
import { isEventKey } from '@svc/model/event-key';
import type { ReplyToStore, StoredReply } from '../needs/journal.ts';
import type { CommandKey } from './command-key.ts';
import type { EntityCall, Outcome } from './entity-call.ts';

/** The longest idempotency key, in characters. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 1024;

/** Returns the problem of a key as the end of a sentence about it (`is empty`); undefined if the key is valid. */
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

/** Returns the first reply to the key, or a refusal if the key came with another command or input at that time. */
export function repeatedOutcome(
  { digest }: CommandKey,
  first: { readonly digest: string; readonly outcome: Outcome },
): Outcome {
  if (first.digest === digest) return first.outcome;
  return refusal(
    'UNPROCESSABLE',
    'the idempotency key came with another command or input before: use a new key for another request (SVC_IDEMPOTENCY_KEY_REUSED)',
  );
}

/**
 * Whether the stored reply to a key is repeated. Replies expire, but not those to the calls of a consumer for an event, which
 * are stored until the event is settled. Among these, a refusal is repeated only in the round in which it was given: then the
 * attempt went on from it, and a repeated attempt must not take another branch. The attempts of later rounds come after a
 * verdict, by which the consumer or an operator has asked for another answer. A refusal of a later round than the call's
 * comes from attempts that a crash has undone before their verdicts were stored; it is repeated too.
 */
export function isRepeated(
  { key, round }: CommandKey,
  stored: StoredReply,
  nowMs: number,
  retentionMs: number,
): boolean {
  if (!isEventKey(key)) return !isExpired(stored, nowMs, retentionMs);
  return stored.outcome.kind === 'reply' || (stored.round ?? 0) >= round;
}

/** Whether the retention of a stored reply is over. A clock that was set back makes no reply older. */
function isExpired({ timeMs }: StoredReply, nowMs: number, retentionMs: number): boolean {
  return nowMs - timeMs >= retentionMs;
}

/** Returns the reply that is stored with the records of a call; undefined for a call without a key. */
export function replyToStore(
  { idempotency }: EntityCall,
  outcome: Outcome,
  timeMs: number,
  retentionMs: number,
): ReplyToStore | undefined {
  if (idempotency === undefined) return undefined;
  return { ...idempotency, timeMs, outcome, retentionMs };
}
