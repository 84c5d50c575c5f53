// SourceWatch: reports changed sources of a project after a short pause without changes, because an editor writes a
// file in several steps, and several files at once.
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../command.ts';

/** Time without changes after which changes are reported, in milliseconds. */
const QUIET_MS = 30;
/** Folders that contain no sources of the project, or none that its author writes. */
const LEFT_OUT = new Set(['node_modules', '.svc', '.git', 'build', 'dist']);

export class SourceWatch {
  readonly #watcher: FSWatcher;
  readonly #onChange: (files: readonly string[]) => void;
  /** Absolute paths of changed files that are not reported yet. */
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * `changed` receives absolute paths of `.ts` files; `failed` is called when changes can no longer be observed. Throws
   * CommandFailure if the folder cannot be watched from the beginning.
   */
  constructor(
    root: string,
    changed: (files: readonly string[]) => void,
    failed: (error: Error) => void,
  ) {
    this.#onChange = changed;
    try {
      this.#watcher = watch(root, {
        recursive: true,
        ignore: (file) => file.split(/[\\/]/).some((part) => LEFT_OUT.has(part)),
      });
    } catch (error) {
      throw unwatched(root, error as NodeJS.ErrnoException);
    }
    this.#watcher.on('change', (_event, name) => {
      if (typeof name === 'string' && name.endsWith('.ts')) this.#note(join(root, name));
    });
    this.#watcher.on('error', failed);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher.close();
  }

  #note(file: string): void {
    this.#pending.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const files = [...this.#pending];
      this.#pending.clear();
      this.#onChange(files);
    }, QUIET_MS);
  }
}

/** Returns the failure of a watch. Usually the operating system limits the number of watched folders. */
export function unwatched(root: string, cause: NodeJS.ErrnoException): CommandFailure {
  return new CommandFailure(
    'SVC_BUILD_FAILED',
    `Changes in ${root} cannot be watched (${cause.code ?? cause.message}). Watch a smaller folder, or let the system ` +
      'watch more (on Linux: fs.inotify.max_user_watches).',
    { cause },
  );
}
