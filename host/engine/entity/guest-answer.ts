// GuestAnswer: the rules for what a guest answers. Sizes are within the limits, and events are texts that the journal returns
// unchanged. An answer that breaks a rule is a fault of the guest, and nothing of it is stored. Events that are too large are
// no fault: the command is refused.
import { type Effect, type Refusal, type Reply, refusal } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import { eventsTooLarge } from '@svc/model/events-too-large';
import { GuestFault } from '@svc/model/guest-fault';
import type { EngineLimits } from '../engine-limits.ts';
import { quoted } from '../quoted.ts';
import { fitsUtf8, utf8Bytes } from '../text-size.ts';
import type { LimitName } from '@svc/model/limit-name';

/** Most UTF-8 bytes of a refusal's code that the module has defined. */
const OTHER_CODE_BYTES_MAX = 200;

/** Returns the fault in a reply or a refusal that exceeds a limit; undefined when there is none. */
export function outcomeFault(
  answer: Reply | Refusal,
  limits: EngineLimits,
): GuestFault | undefined {
  const max = limits.replyBytesMax;
  if (answer.kind === 'reply')
    return fitsUtf8(answer.json, max) ? undefined : tooLarge('reply-bytes', 'a reply', max);
  if (!fitsUtf8(answer.message, max)) return tooLarge('reply-bytes', "a refusal's message", max);
  if (answer.details !== undefined && !fitsUtf8(answer.details, max))
    return tooLarge('reply-bytes', "a refusal's details", max);
  if (answer.otherCode !== undefined && !fitsUtf8(answer.otherCode, OTHER_CODE_BYTES_MAX))
    return tooLarge('reply-bytes', "a refusal's own code", OTHER_CODE_BYTES_MAX);
  return undefined;
}

/** Returns the decision, or a refusal if the events of the effect exceed a limit. */
export function storable(decision: Effect | Refusal, limits: EngineLimits): Effect | Refusal {
  if (decision.kind === 'refusal') return decision;
  const { events } = decision;
  const { eventsPerEffectMax, eventBytesMax, effectBytesMax } = limits;
  if (events.length > eventsPerEffectMax)
    return eventsTooLarge(`it is ${events.length} events, ${eventsPerEffectMax} are allowed`);
  let units = 0;
  for (const { json } of events) {
    if (!fitsUtf8(json, eventBytesMax))
      return eventsTooLarge(`an event takes more than ${eventBytesMax} bytes`);
    units += json.length;
  }
  // A unit takes three bytes at most, so the exact size is computed only where it decides.
  if (units * 3 > effectBytesMax && bytesOf(events) > effectBytesMax)
    return eventsTooLarge(`its events take more than ${effectBytesMax} bytes together`);
  return decision;
}

/**
 * Returns the refusal of a command whose timers are too many or too large. As with events, their size depends on what the
 * caller sends, so it is no fault of the module.
 */
export function timersTooLarge(reason: string): Refusal {
  return refusal(
    'UNPROCESSABLE',
    `what this command would store is too large: ${reason} (SVC_TIMER_INVALID)`,
  );
}

/** Returns the fault of a command that changes a timer in a way that is not allowed. */
export function timerFault(reason: string): GuestFault {
  return new GuestFault('value', `a command sets or cancels a timer that cannot be: ${reason}`);
}

/** Returns the fault of a command whose event its own codec refused. */
export function unreadableEvent(problem: string): GuestFault {
  return new GuestFault(
    'value',
    `a command persists an event that its own codec refuses: ${quoted(problem)}`,
  );
}

/** Returns the fault of a command that answered an empty text instead of a reply from the state after its events. */
export function missingReply(name: string): GuestFault {
  return new GuestFault(
    'value',
    `command ${quoted(name)} gave no reply from the state after its events: it is an empty text, and no JSON`,
  );
}

/** Returns the fault of a command that refused when it had to reply from the state after its events. */
export function refusedReply(name: string, message: string): GuestFault {
  return new GuestFault(
    'value',
    `command ${quoted(name)} gave no reply from the state after its events: ${quoted(message)}`,
  );
}

/**
 * Returns the fault in an effect; undefined when there is none. `manifest`: the manifest of the entity's event type.
 */
export function effectFault(
  effect: Effect,
  manifest: string,
  limits: EngineLimits,
): GuestFault | undefined {
  const { events } = effect;
  if (effect.reply !== undefined && !fitsUtf8(effect.reply, limits.replyBytesMax))
    return tooLarge('reply-bytes', 'a reply', limits.replyBytesMax);
  for (const event of events) {
    if (event.manifest !== manifest)
      return new GuestFault(
        'value',
        `a command persists an event with the manifest ${quoted(event.manifest)}, ` +
          `the descriptor declares ${quoted(manifest)}`,
      );
    // Such a text is not JSON, and storage would not return it unchanged.
    if (!event.json.isWellFormed() || event.json.includes('\0'))
      return new GuestFault('value', 'a command persists an event that is not JSON text');
  }
  return undefined;
}

function bytesOf(events: readonly StoredEvent[]): number {
  return events.reduce((bytes, event) => bytes + utf8Bytes(event.json, Infinity), 0);
}

function tooLarge(limit: LimitName, what: string, max: number): GuestFault {
  return new GuestFault('limit', `${what} takes more than ${max} bytes`, { limit });
}
