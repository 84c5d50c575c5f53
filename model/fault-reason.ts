// FaultReason: why the code of a module failed, in one line for an operator, who does not see the log.
import { GuestFault } from './guest-fault.ts';

/** Ends the message of a fault that says no more than the module's own message, because each abort is such a trap. */
const TRAP = 'The module trapped: unreachable.';
/** Abort message of the SDK: `abort: message at file:line:column`. */
const ABORT = /^abort: ([^]*) at ([^\s:][^:\n]*:\d{1,9}:\d{1,9})$/;

/**
 * Returns the reason: `message (file:line:column)` for a module that has aborted. It may have any characters: it is not
 * for a terminal yet.
 */
export function faultReason(failure: unknown): string {
  if (!(failure instanceof GuestFault))
    return failure instanceof Error ? failure.message : String(failure);
  const { message, guestMessage } = failure;
  if (guestMessage === undefined) return message;
  if (!message.endsWith(TRAP)) return `${message.replace(/\.$/, '')}: ${wordsOf(guestMessage)}`;
  return `${message.slice(0, -TRAP.length)}${wordsOf(guestMessage)}`;
}

/** Returns the first line of what the module said, and the source location; the log has the rest. */
function wordsOf(guestMessage: string): string {
  const [, words = guestMessage, location] = ABORT.exec(guestMessage) ?? [];
  const [first = ''] = words.split('\n');
  return location === undefined ? first : `${first} (${location})`;
}
