// LoadingMark is set in a thread that loads a program for its components alone: a service that the program starts there
// would open the journal and the ports of the service that is running. Every copy of @svc/host in the thread sees the
// same mark.
import { SvcError } from '@svc/kit/svc-error';

const MARK: unique symbol = Symbol.for('@svc/host: loaded for its components');

interface LoadingMark {
  /** The program has tried to start a service, and may have caught the error. */
  hasStartedService: boolean;
}

type MarkedGlobal = typeof globalThis & { [MARK]?: LoadingMark };

/** Marks this thread for the rest of its life, and returns the mark. */
export function markLoading(): LoadingMark {
  return ((globalThis as MarkedGlobal)[MARK] = { hasStartedService: false });
}

/** Throws SVC_PROGRAM_INVALID in a thread that is marked. */
export function refuseWhileLoading(): void {
  const mark = (globalThis as MarkedGlobal)[MARK];
  if (mark === undefined) return;
  mark.hasStartedService = true;
  throw new SvcError('SVC_PROGRAM_INVALID', STARTS_SERVICE);
}

/** Message of the SVC_PROGRAM_INVALID error; the loader of the program adds the name of the file. */
export const STARTS_SERVICE =
  'It starts a service when it is imported (createService), and is imported for its components alone. ' +
  "Move them to a file of their own that exports 'components', and give that file.";
