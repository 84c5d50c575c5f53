// LaneDamaged: the failure of a lane whose row is not what was written.
import type { EntityRef } from '@svc/model/entity';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';

/** Returns the failure of a lane of which nobody knows at which event it waits. */
export function laneDamaged(consumer: string, { component, id }: EntityRef): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal is damaged: the row of ${printable(`${component}/${id}`)} for the consumer '${consumer}' is not what was ` +
      'written, so that it is not known which event is the next. No events of this entity are delivered; those of others ' +
      'are. Restore the data folder from a backup; or let svc consumers skip settle the last event that is known to be ' +
      'handled: the next one follows.',
  );
}
