// FileWatch: reports changed files of a folder, or a change of one file, after a short pause without changes, because
// an editor writes a file in several steps, and several files at once.
import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SvcError } from './svc-error.ts';

/** Default of `quietMs`. */
const QUIET_MS = 30;

export interface FileWatchOptions {
  /** Returns whether changes are left out of a file or folder, by its name; a folder, with all that it contains. */
  readonly leavesOut: (name: string) => boolean;
  /** Returns whether a change of the file is reported, by its absolute path; absent: always. */
  readonly accepts?: (file: string) => boolean;
  /** Time without changes after which changes are reported, in milliseconds; absent: 30. */
  readonly quietMs?: number;
  /** Receives the absolute paths of the files that have changed. */
  readonly onChange: (files: readonly string[]) => void;
  /** Receives the SVC_WATCH_FAILED of a watch that ends by itself. */
  readonly onFailure: (failure: SvcError) => void;
}

export class FileWatch {
  readonly #watcher: FSWatcher;
  readonly #options: FileWatchOptions;
  /** Absolute paths of changed files that are not reported yet. */
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches a folder with all folders in it, or a file. Throws SVC_WATCH_FAILED if the path cannot be watched. */
  constructor(path: string, options: FileWatchOptions) {
    this.#options = options;
    const { leavesOut, onFailure } = options;
    const watched = resolve(path);
    try {
      const isFile = statSync(watched).isFile();
      // An editor may replace the file, so its folder is watched: the watch of a replaced file ends.
      const folder = isFile ? dirname(watched) : watched;
      const name = isFile ? basename(watched) : undefined;
      this.#watcher = watch(folder, {
        recursive: !isFile,
        ignore: (file) =>
          name === undefined ? file.split(/[\\/]/).some((part) => leavesOut(part)) : file !== name,
      });
      this.#watcher.on('change', (_event, changed) => {
        if (typeof changed === 'string') this.#note(join(folder, changed));
      });
    } catch (error) {
      throw watchFailure(path, error as NodeJS.ErrnoException);
    }
    this.#watcher.on('error', (error) => onFailure(watchFailure(path, error)));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher.close();
  }

  #note(file: string): void {
    const { accepts, quietMs = QUIET_MS, onChange } = this.#options;
    if (accepts?.(file) === false) return;
    this.#pending.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const files = [...this.#pending];
      this.#pending.clear();
      onChange(files);
    }, quietMs);
  }
}

function watchFailure(path: string, cause: NodeJS.ErrnoException): SvcError {
  const { code, message } = cause;
  return new SvcError(
    'SVC_WATCH_FAILED',
    code === 'ENOENT'
      ? `${path} cannot be watched: there is no such file or folder. Name one that exists.`
      : `Changes in ${path} cannot be watched (${code ?? message}). Watch a smaller folder, or let the system ` +
          'watch more (on Linux: fs.inotify.max_user_watches).',
    { cause },
  );
}
