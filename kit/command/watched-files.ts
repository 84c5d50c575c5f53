// WatchedFiles: the files whose changes start the command again. Left out is what the process, a compiler or a package
// manager writes: the command would otherwise start itself again and again.
import { fstatSync, statSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { FileWatch } from '../file-watch.ts';
import { printable } from '../printable.ts';
import type { SvcError } from '../svc-error.ts';

/** Time without changes after which the command starts again: a branch is checked out as many files. */
const QUIET_MS = 100;
const LEFT_OUT = new Set(['node_modules', 'build', 'dist', 'target', '__pycache__']);
const WRITTEN = /^\.|~$|\.(?:log|pid|py[co]|sw[px]|tmp)$|\.(?:db|sqlite3?)(?:-journal|-shm|-wal)?$/;
const FILES_NAMED_MAX = 3;

export interface WatchedFilesOptions {
  /** Files and folders. */
  readonly paths: readonly string[];
  /** `files`: text that names the changed files. */
  readonly onChange: (files: string) => void;
  readonly onFailure: (failure: SvcError) => void;
}

export class WatchedFiles {
  readonly #watches: FileWatch[] = [];

  /** Throws SVC_WATCH_FAILED if a path cannot be watched. */
  constructor({ paths, onChange, onFailure }: WatchedFilesOptions) {
    try {
      for (const path of paths)
        this.#watches.push(
          new FileWatch(path, {
            leavesOut: (name) => LEFT_OUT.has(name) || WRITTEN.test(name),
            quietMs: QUIET_MS,
            onChange: (files) => {
              const changed = files.filter((file) => !isOwnOutput(file));
              if (changed.length > 0) onChange(named(changed));
            },
            onFailure,
          }),
        );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }
}

/** Returns whether stdout or stderr leads to a file: each start is logged, which would start the command again. */
function isOwnOutput(file: string): boolean {
  try {
    const found = statSync(file);
    return [1, 2].some((output) => {
      const { dev, ino } = fstatSync(output);
      return found.ino === ino && found.dev === dev;
    });
  } catch {
    // The file is gone, or cannot be examined.
    return false;
  }
}

function named(files: readonly string[]): string {
  const shown = files
    .slice(0, FILES_NAMED_MAX)
    .map((file) => printable(relative(process.cwd(), file) || basename(file)));
  const more = files.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
