// RunningHandlers: the handlers of a program that are under way. A handler cannot be stopped: when the guest is closed,
// its call fails, and its result is dropped.
import { SvcError } from '@svc/kit/svc-error';
import { GuestFault } from '@svc/model/guest-fault';
import { programFault } from './program-fault.ts';

export class RunningHandlers {
  /** Functions that fail the calls under way. */
  readonly #inFlight = new Set<(reason: GuestFault) => void>();
  #isClosed = false;

  /**
   * Runs a handler. `source` names it in the message of a fault. The failure of a call that the handler made passes
   * through unchanged, and any other error becomes a fault.
   */
  run<T>(source: string, handle: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedFault());
    return new Promise((resolve, reject) => {
      this.#inFlight.add(reject);
      handle()
        .then(resolve, (error: unknown) => reject(failureOf(error, source)))
        .finally(() => this.#inFlight.delete(reject));
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const fail of this.#inFlight) fail(closedFault());
  }
}

function failureOf(error: unknown, source: string): unknown {
  if (error instanceof SvcError || error instanceof GuestFault) return error;
  return programFault(source, error);
}

function closedFault(): GuestFault {
  return new GuestFault('trap', 'The service was stopped.');
}
