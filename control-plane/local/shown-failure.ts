// ShownFailure: a failure on this machine in the words that members of a project may read. The log of the control plane has it whole.
//
// Invariant: a message of the file system, which has a path in it, is not shown.
import { ImageError } from '@svc/oci/image-error';
import { SvcError } from '@svc/kit/svc-error';

export function shownFailure(error: unknown): string {
  if (error instanceof SvcError || error instanceof ImageError)
    return `${error.code}: ${error.message}`;
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined
    ? message
    : `a file of this machine cannot be used (${code}), of which its operator finds more in the log`;
}
