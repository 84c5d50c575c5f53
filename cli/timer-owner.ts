// TimerOwner: the owner of timers as the user writes it on the command line.
import type { EntityRef } from '@svc/host/tools';
import { UsageError } from './usage-error.ts';

/** The owner of the timers that are declared as schedules. */
const SERVICE = 'service';

export type TimerOwner = EntityRef | typeof SERVICE;

/** Reads `COMPONENT/ID`, in which only an id may contain slashes, or 'service'. Throws UsageError; the message names the command. */
export function readOwner(command: string, text: string): TimerOwner {
  if (text === SERVICE) return SERVICE;
  const end = text.indexOf('/');
  if (end > 0 && end < text.length - 1)
    return { component: text.slice(0, end), id: text.slice(end + 1) };
  throw new UsageError(
    `${command} takes the owner of timers as COMPONENT/ID, or '${SERVICE}' for the schedules of the service, and ` +
      `found '${text}'.`,
  );
}

/** Returns the owner as `readOwner` reads it, not escaped. `owner`: undefined for the service. */
export function ownerText(owner: EntityRef | undefined): string {
  return owner === undefined ? SERVICE : `${owner.component}/${owner.id}`;
}
