// SegmentFolders: the folders of the segments, named by their numbers.
//
// Invariant: a folder whose removal has begun has another name, so that no part of a segment is taken for one.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@svc/kit/synced-folder';

const NUMBER = /^\d{1,6}$/;
const REMOVED = '.removed';

export class SegmentFolders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  folderOf(number: number): string {
    return join(this.#folder, String(number));
  }

  /** Returns the numbers of the segments that there are, and finishes removals that were cut off. */
  async list(): Promise<readonly number[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const names = await readdir(this.#folder);
    const removed = names.filter((name) => name.endsWith(REMOVED));
    await Promise.all(removed.map((name) => this.#delete(name)));
    return names.filter((name) => NUMBER.test(name)).map(Number);
  }

  /** Finishes the removal if it was begun before. */
  async remove(number: number): Promise<void> {
    const name = `${number}${REMOVED}`;
    try {
      await rename(this.folderOf(number), join(this.#folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await syncFolder(this.#folder);
    await this.#delete(name);
  }

  async #delete(name: string): Promise<void> {
    await rm(join(this.#folder, name), { recursive: true, force: true });
  }
}
