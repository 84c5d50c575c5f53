// ViewRefusals: the errors that every store of views gives alike.
import { SvcError } from '@svc/kit/svc-error';

/** A rebuild takes seconds or more, so a caller that asks sooner asks in vain. */
const RETRY_AFTER_MS = 1_000;

/** `why` is read after "The view cannot be queried now: ". */
export function viewRebuilding(why: string): SvcError {
  return new SvcError(
    'SVC_VIEW_REBUILDING',
    `The view cannot be queried now: ${why}. Try again once it is built.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}

export function viewInUse(definition: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_VIEW_IN_USE',
    `The rows of the view definition ${definition} have a writer already, in this process or another one. ` +
      'Wait until it has ended, or end it.',
    { cause },
  );
}

export function viewsFull(bytesMax: number, bytes: number): SvcError {
  return new SvcError(
    'SVC_VIEWS_FULL',
    `The views of this service may take ${bytesMax} bytes and have ${bytes}, so rows were not stored. ` +
      'Raise svc.views.bytes-max if there is space, or remove views or indexes.',
  );
}
