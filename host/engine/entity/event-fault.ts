// EventFault: the error for events that could not be folded. It names the entity and the event.
import type { EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { quoted } from '../quoted.ts';
import type { FoldProblem } from './event-fold.ts';
import { entityName } from './history.ts';

/** Returns the error for a batch that could not be folded. `seq`: sequence number of its first event. */
export function eventFault(
  entity: EntityRef,
  seq: number,
  problem: FoldProblem,
): GuestFault | SvcError {
  if (problem instanceof GuestFault)
    return explained(`event ${seq} of ${entityName(entity)} cannot be folded`, problem);
  // A guest numbers the events within a batch; the error gives the sequence number of the entity's event.
  const numbered = /^event (\d{1,6}) of \d{1,6}: /.exec(problem);
  const unreadable = numbered === null ? seq : seq + Number(numbered[1]) - 1;
  const why = problem.slice(numbered?.[0].length ?? 0);
  return new SvcError(
    'SVC_EVENT_UNREADABLE',
    `This version cannot read event ${unreadable} of ${entityName(entity)}: ${quoted(why)}. ` +
      'Run a version whose event type still accepts what is stored.',
  );
}

/** Returns the fault with `what`, which says what failed, before its message. */
export function explained(what: string, fault: GuestFault): GuestFault {
  return fault.explained(`${what}: ${fault.message}`);
}
