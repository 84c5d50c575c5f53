// CallInput: counts the inputs of calls in the memory that requests share (svc.http.unsent-bytes-max). A waiting call
// holds its input, and so does a call that still waits for its entity after its handler was cancelled.
//
// Invariant: an input of more than 16 KiB is counted until its call is done, and leaves room for a response of the
// maximum size: a call can be refused before anything is executed, a response only afterwards.
import type { Awaitable } from '@svc/model/call';
import { type KeptBytes, SMALL_BYTES } from '@svc/model/kept-bytes';
import { SvcError } from '@svc/kit/svc-error';

/**
 * Makes a call whose input has this many bytes, and counts them until the call is done. Inputs of up to 16 KiB are
 * not counted. Throws SvcError SVC_OVERLOADED, and does not make the call, if there is no room.
 */
export function countInput<T>(
  kept: KeptBytes | undefined,
  bytes: number,
  call: () => Awaitable<T>,
): Awaitable<T> {
  if (kept === undefined || bytes <= SMALL_BYTES) return call();
  const input = kept.beside();
  try {
    keepInput(input, bytes);
    const answer = call();
    if (answer instanceof Promise) freeWhenDone(input, answer);
    else input.free();
    return answer;
  } catch (failure) {
    input.free();
    throw failure;
  }
}

/**
 * Sets the number of counted bytes if `bytes` is more than 16 KiB. Throws SvcError SVC_OVERLOADED, and changes nothing,
 * if there is no room.
 */
export function keepInput(kept: KeptBytes | undefined, bytes: number): void {
  if (kept === undefined || bytes <= SMALL_BYTES || kept.leavesRoom(bytes)) return;
  throw new SvcError(
    'SVC_OVERLOADED',
    'Inputs of calls and responses that callers do not take fill the memory that is there for them ' +
      '(svc.http.unsent-bytes-max).',
  );
}

/**
 * Counts the input of a call that continues after the end of its request, until `answer` settles, even if there is no
 * room for the input. Inputs of up to 16 KiB are not counted.
 */
export function countUnfinished(kept: KeptBytes, bytes: number, answer: Promise<unknown>): void {
  if (bytes <= SMALL_BYTES) return;
  const input = kept.beside();
  input.become(bytes);
  freeWhenDone(input, answer);
}

function freeWhenDone(input: KeptBytes, answer: Promise<unknown>): void {
  const free = (): void => input.free();
  answer.then(free, free);
}
