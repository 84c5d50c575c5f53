// ProgramFault: converts an error that a program has thrown into the GuestFault that the engine and the log
// know. The caller receives nothing of it.
import { GuestFault } from '@svc/model/guest-fault';
import { CodecProblem } from './codec.ts';
import { textOf } from './thrown-text.ts';

/** `what`: the part of the program that threw, such as `command 'add' of component 'cart'`. */
export function programFault(what: string, error: unknown): GuestFault {
  if (error instanceof CodecProblem)
    return new GuestFault('value', `${what} made a value that does not fit: ${error.message}`, {
      cause: error,
    });
  const guestMessage = textOf(error);
  const isStack = error instanceof RangeError && guestMessage.includes('call stack');
  return new GuestFault(isStack ? 'stack' : 'trap', `${what} threw an error`, {
    guestMessage,
    cause: error,
  });
}
