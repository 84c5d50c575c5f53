// FaultFrames: faults of the code as frames, and back.
import { GuestFault, type FaultCause } from '@svc/model/guest-fault';
import type { Fault } from './generated/svc/process/v1/process.ts';

/** The causes that a process may name; any other word counts as `trap`. */
const CAUSES = new Set<string>(['trap', 'value', 'stack', 'memory', 'time', 'limit']);

export function faultFrame({ faultCause, message, guestMessage }: GuestFault): Fault {
  return { cause: faultCause, message, stack: guestMessage ?? '' };
}

export function faultOf({ cause, message, stack }: Fault): GuestFault {
  const faultCause = CAUSES.has(cause) ? (cause as FaultCause) : 'trap';
  return new GuestFault(faultCause, message, stack === '' ? {} : { guestMessage: stack });
}
