// TimerOwner: the owner of timers as the user writes it on the command line.
import type { EntityRef } from '@svc/host/tools';
import { UsageError } from './usage-error.ts';

/** The owner of the timers that are declared as schedules. */
const SERVICE = 'service';

export type TimerOwner = EntityRef | typeof SERVICE;

/** Reads `COMPONENT/ID`, in which only an id may contain slashes, or 'service'. Throws UsageError; the message names the command. */
export function readOwner(command: string, text: string): TimerOwner {
  if (text === SERVICE) return SERVICE;
  const entity = entityOf(text);
  if (entity !== undefined) return entity;
  throw new UsageError(
    `${command} takes the owner of timers as COMPONENT/ID, or '${SERVICE}' for the schedules of the service, and ` +
      `found '${text}'.`,
  );
}

/** Reads an entity: `COMPONENT/ID`, in which only an id may contain slashes. Throws UsageError as `readOwner` does. */
export function readEntity(command: string, text: string): EntityRef {
  const entity = entityOf(text);
  if (entity !== undefined) return entity;
  throw new UsageError(`${command} takes an entity as COMPONENT/ID, and found '${text}'.`);
}

function entityOf(text: string): EntityRef | undefined {
  const end = text.indexOf('/');
  if (end <= 0 || end === text.length - 1) return undefined;
  return { component: text.slice(0, end), id: text.slice(end + 1) };
}

/** Returns the owner as `readOwner` reads it, not escaped. `owner`: undefined for the service. */
export function ownerText(owner: EntityRef | undefined): string {
  return owner === undefined ? SERVICE : `${owner.component}/${owner.id}`;
}
