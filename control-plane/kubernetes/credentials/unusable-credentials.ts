// UnusableCredentials: the error of credentials that cannot be had, or have expired. Its message never has a value of theirs.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';

/** `problem`: a sentence without its full stop. `remedy`: a sentence. */
export function unusableCredentials(problem: string, remedy: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_CLUSTER_CREDENTIALS_UNUSABLE',
    `${printable(problem)}. ${remedy}`,
    cause === undefined ? {} : { cause },
  );
}
