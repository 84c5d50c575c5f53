// AppliedEffect: folds the events of a command's effect in their stored form, and then asks the guest for the reply where the
// module computes that from the state after the events.
//
// Invariant: once one of these functions has thrown or rejected, the effect must not be stored, and the guest's state
// must not be used any more.
import type { Awaitable, CallContext, Effect, Refusal, Reply } from '@svc/model/call';
import type { EngineLimits } from '../engine-limits.ts';
import type { GuestEntity } from '@svc/model/guest';
import { missingReply, outcomeFault, refusedReply, unreadableEvent } from './guest-answer.ts';

/**
 * Folds the events of an effect, and returns the reply to its command `name`, which was called with `context`. Throws,
 * or rejects with, GuestFault.
 */
export function applyEffect(
  guest: GuestEntity,
  effect: Effect,
  context: CallContext,
  name: string,
  limits: EngineLimits,
): Awaitable<Reply> {
  if (effect.events.length === 0) return replyTo(guest, effect, context, name, limits);
  const next = (problem: string | undefined): Awaitable<Reply> => {
    if (problem !== undefined) throw unreadableEvent(problem);
    return replyTo(guest, effect, context, name, limits);
  };
  const folded = guest.apply(effect.events, context.spent);
  // oxlint-disable-next-line promise/no-callback-in-promise -- it stays synchronous where it can
  return folded instanceof Promise ? folded.then(next) : next(folded);
}

/** Returns the reply of an effect whose events are folded. Throws, or rejects with, GuestFault. */
export function replyTo(
  guest: GuestEntity,
  { reply }: Effect,
  context: CallContext,
  name: string,
  limits: EngineLimits,
): Awaitable<Reply> {
  if (reply !== undefined) return { kind: 'reply', json: reply };
  const next = (answer: Reply | Refusal): Reply => {
    const fault = outcomeFault(answer, limits);
    if (fault !== undefined) throw fault;
    if (answer.kind === 'refusal') throw refusedReply(name, answer.message);
    if (answer.json === '') throw missingReply(name);
    return answer;
  };
  const answer = guest.reply(context, name);
  // oxlint-disable-next-line promise/no-callback-in-promise -- as above
  return answer instanceof Promise ? answer.then(next) : next(answer);
}
