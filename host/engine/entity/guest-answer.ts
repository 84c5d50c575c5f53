// What the engine lets a guest answer: sizes within the limits, and events that the journal gives
// back as they were. An answer that breaks a rule is a fault of the guest, and nothing of it is kept.
import type { Effect, Refusal, Reply } from '../../model/call.ts';
import type { StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import type { EngineLimits } from '../engine-limits.ts';
import { quoted } from '../quoted.ts';
import { fitsUtf8, utf8Bytes } from '../text-size.ts';
import type { LimitName } from '../../model/limit-name.ts';

/** UTF-8 bytes of a refusal's code that is the module's own. */
const OTHER_CODE_BYTES_MAX = 200;

/** The fault in a query's answer or a command's refusal; undefined when there is none. */
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

/** The fault in an effect; undefined when there is none. `manifest`: of the entity's event type. */
export function effectFault(
  effect: Effect,
  manifest: string,
  limits: EngineLimits,
): GuestFault | undefined {
  const { events } = effect;
  if (!fitsUtf8(effect.reply, limits.replyBytesMax))
    return tooLarge('reply-bytes', 'a reply', limits.replyBytesMax);
  if (events.length > limits.eventsPerEffectMax)
    return new GuestFault(
      'limit',
      `a command persists ${events.length} events, ${limits.eventsPerEffectMax} are allowed`,
      { limit: 'effect-events' },
    );
  let units = 0;
  for (const event of events) {
    if (!fitsUtf8(event.json, limits.eventBytesMax))
      return tooLarge('event-bytes', 'an event', limits.eventBytesMax);
    if (event.manifest !== manifest)
      return new GuestFault(
        'value',
        `a command persists an event with the manifest ${quoted(event.manifest)}, ` +
          `the descriptor declares ${quoted(manifest)}`,
      );
    // Neither is JSON, and storage would not give either back as it was.
    if (!event.json.isWellFormed() || event.json.includes('\0'))
      return new GuestFault('value', 'a command persists an event that is not JSON text');
    units += event.json.length;
  }
  // As in `fitsUtf8`: the exact size matters only when the units leave a doubt.
  if (units * 3 > limits.effectBytesMax && bytesOf(events) > limits.effectBytesMax)
    return tooLarge('effect-bytes', 'the events of a command', limits.effectBytesMax);
  return undefined;
}

function bytesOf(events: readonly StoredEvent[]): number {
  return events.reduce((bytes, event) => bytes + utf8Bytes(event.json, Infinity), 0);
}

function tooLarge(limit: LimitName, what: string, max: number): GuestFault {
  return new GuestFault('limit', `${what} takes more than ${max} bytes`, { limit });
}
