// ViewFailure turns errors of node:sqlite and of the file system into SvcErrors about a view's file.
import assert from 'node:assert';
import { SvcError } from '@svc/kit/svc-error';
import { isDamage, isDiskFull, reasonOf } from '../sqlite/sqlite-failure.ts';
import { UnusableFile } from './view-file.ts';

/**
 * Returns the error for a failed operation on a file; an SvcError as it is. `doing` is read after "The view's file PATH
 * could not be".
 */
export function viewFailure(error: unknown, doing: string, path: string): unknown {
  if (error instanceof SvcError || error instanceof assert.AssertionError) return error;
  if (isUnusable(error)) return viewDamaged(path, reasonOf(error), error);
  const isFull = isDiskFull(error);
  return new SvcError(
    isFull ? 'SVC_DISK_FULL' : 'SVC_DATA_UNUSABLE',
    `The view's file ${path} could not be ${doing}: ${reasonOf(error)}. ` +
      (isFull
        ? 'Make room on the disk; the view goes on by itself.'
        : 'Give this user the right to read and write it, and check the disk.'),
    { cause: error },
  );
}

/** Returns whether the cause is the content of the file, so that it has to be made new. */
export function isUnusable(error: unknown): boolean {
  return error instanceof UnusableFile || isDamage(error);
}

export function viewDamaged(path: string, what: string, cause?: unknown): SvcError {
  return new SvcError(
    'SVC_VIEW_CORRUPT',
    `The view's file ${path} is damaged: ${what}. Build the view again: its rows come from the journal, so nothing is lost.`,
    { cause },
  );
}
