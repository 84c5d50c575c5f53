// FoldFailure: what keeps a module from folding a history, as an error with a code: the event that it cannot
// read, or that its code faults at, or a state that has no JSON form.
import { eventFault } from '../engine/entity/event-fault.ts';
import type { FoldProblem } from '../engine/entity/event-fold.ts';
import { entityName } from '../engine/entity/history.ts';
import type { EntityRef } from '../model/entity.ts';
import { GuestFault } from '../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

/** UTF-16 units of a module's own message that are shown. */
const WORDS_MAX = 500;

/** `seq`: sequence number of the first event of the batch that could not be folded. */
export function eventFailure(entity: EntityRef, seq: number, problem: FoldProblem): SvcError {
  return foldFailure(eventFault(entity, seq, problem));
}

export function stateFailure(entity: EntityRef, seq: number, fault: GuestFault): SvcError {
  const what = `the state of ${entityName(entity)} after record ${seq} cannot be written as JSON`;
  return faulted(`${what}: ${fault.message}`, fault);
}

/** `fault` names the event, as the engine's faults do. */
export function foldFailure(fault: GuestFault | SvcError): SvcError {
  return fault instanceof SvcError ? fault : faulted(fault.message, fault);
}

function faulted(what: string, fault: GuestFault): SvcError {
  const { guestMessage } = fault;
  const words = guestMessage === undefined ? '' : ` (${guestMessage.slice(0, WORDS_MAX)})`;
  const sentence = what.replace(/\.$/, '');
  return new SvcError(
    'SVC_FOLD_FAULTED',
    `The module faulted: ${sentence}${words}. ` +
      'Fix its apply, or take the module that wrote the events.',
    { cause: fault },
  );
}
