// FoldFailure makes the SvcError for a history that a guest cannot fold: for an event that the guest cannot decode or
// faults at, or a state that the guest cannot open or encode.
import { eventFault } from '../engine/entity/event-fault.ts';
import type { FoldProblem } from '../engine/entity/event-fold.ts';
import { entityName } from '../engine/entity/history.ts';
import type { EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { faultLine } from './fault-line.ts';

/** Limit for a guest's own message in an error, in UTF-16 units. */
const WORDS_MAX = 500;

/** Codes of failures after which nothing can be folded any more, because the code itself cannot be run. */
const CODES_OF_SOURCE: ReadonlySet<string> = new Set([
  'SVC_PROGRAM_INVALID',
  'SVC_PROCESS_UNAVAILABLE',
  'SVC_PROCESS_INVALID',
]);

/** Whether nothing more of a source can be folded after the failure. */
export function isOfSource({ code }: SvcError): boolean {
  return CODES_OF_SOURCE.has(code);
}

/** Makes the error of a failed fold. `seq`: sequence number of the first event of the failed batch. */
export function eventFailure(entity: EntityRef, seq: number, problem: FoldProblem): SvcError {
  return foldFailure(eventFault(entity, seq, problem));
}

/** Makes the error of a state that cannot be opened or encoded. `seq`: sequence number of the last folded record. */
export function stateFailure(entity: EntityRef, seq: number, fault: GuestFault): SvcError {
  const what = `the state of ${entityName(entity)} after record ${seq} cannot be written as JSON`;
  return faulted(`${what}: ${fault.message}`, fault);
}

/** Makes the error of a failed replay. `fault` names the event already, as faults of the engine do. */
export function foldFailure(fault: GuestFault | SvcError): SvcError {
  return fault instanceof SvcError ? fault : faulted(fault.message, fault);
}

function faulted(what: string, fault: GuestFault): SvcError {
  const line = faultLine(fault);
  const words = line === undefined ? '' : ` (${line.slice(0, WORDS_MAX)})`;
  const sentence = what.replace(/\.$/, '');
  return new SvcError(
    'SVC_FOLD_FAULTED',
    `The fold faulted: ${sentence}${words}. Fix apply, or give the version that wrote the events.`,
    { cause: fault },
  );
}
