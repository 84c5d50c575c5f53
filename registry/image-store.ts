// ImageStore: the images of all projects, in one folder that one process uses. A project is opened when it is first used.
//
// Invariant: the sweep that runs at intervals ends before the store is closed.
import { chmodSync, mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isServiceName } from '@svc/client';
import { FolderLock } from '@svc/kit/folder-lock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { ProjectImages } from './project-images.ts';
import type { RegistrySection } from './registry-section.ts';

export interface ImageStoreOptions {
  readonly folder: string;
  readonly section: RegistrySection;
  readonly log: Log;
  /** Milliseconds since 1970. Default: the clock of the system. */
  readonly nowMs?: () => number;
}

const PROJECTS = 'projects';
const LOCK_FILE = 'lock';

export class ImageStore implements AsyncDisposable {
  readonly #options: Required<ImageStoreOptions>;
  readonly #lock: FolderLock;
  readonly #projects = new Map<string, Promise<ProjectImages>>();
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: ImageStoreOptions, lock: FolderLock) {
    this.#options = { nowMs: Date.now, ...options };
    this.#lock = lock;
    this.#timer = setInterval(() => void this.sweep(), options.section.sweepIntervalMs);
  }

  /** Opens the folder. Throws SVC_DATA_IN_USE and SVC_DATA_UNUSABLE. */
  static open(options: ImageStoreOptions): ImageStore {
    const { folder } = options;
    const lock = new FolderLock(join(folder, LOCK_FILE));
    let isMine: boolean;
    try {
      mkdirSync(join(folder, PROJECTS), { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700);
      isMine = lock.tryTake();
    } catch (error) {
      throw new SvcError(
        'SVC_DATA_UNUSABLE',
        `The folder ${folder} cannot be used for images (${(error as NodeJS.ErrnoException).code}). Name another one with --data.`,
        { cause: error },
      );
    }
    if (!isMine)
      throw new SvcError(
        'SVC_DATA_IN_USE',
        `Another registry uses the folder ${folder}. Stop it, or name another folder with --data.`,
      );
    return new ImageStore(options, lock);
  }

  /** `project`: its id, which the caller has checked. */
  async project(project: string): Promise<ProjectImages> {
    const known = this.#projects.get(project);
    if (known !== undefined) return await known;
    const { folder, section, nowMs } = this.#options;
    const opened = ProjectImages.open({ folder: join(folder, PROJECTS, project), section, nowMs });
    this.#projects.set(project, opened);
    // What could not be opened now is tried again.
    opened.catch(() => this.#projects.delete(project));
    return await opened;
  }

  /** Deletes what no project needs any longer; a sweep that runs already is waited for instead. */
  async sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined));
    await this.#sweeping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#sweeping;
    this.#lock.release();
  }

  async #sweepAll(): Promise<void> {
    const { folder, log } = this.#options;
    const failed = (error: unknown, project?: string) =>
      log({
        level: 'error',
        message: 'images that are no longer needed cannot be deleted, which is tried again',
        fields: { ...(project === undefined ? {} : { project }), error: (error as Error).message },
      });
    const names = await readdir(join(folder, PROJECTS)).catch(failed);
    for (const project of names ?? []) {
      if (this.#isClosed) return;
      if (isServiceName(project))
        await this.#sweepProject(project).catch((error: unknown) => failed(error, project));
    }
  }

  async #sweepProject(project: string): Promise<void> {
    const files = await (await this.project(project)).sweep();
    if (files > 0)
      this.#options.log({ level: 'info', message: 'images deleted', fields: { project, files } });
  }
}
