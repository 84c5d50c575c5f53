// Salts: a random value for each tenant and generation, outside of the journal, without which nothing can be opened that was sealed for them.
// So a tenant is removed although the journal keeps everything that was written.
//
// Invariants
// A1  A salt is on disk before anything is sealed with it.
// A2  A salt that was removed never comes back: another one of the same name opens nothing.
import { hash, randomBytes } from 'node:crypto';
import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PART_ENDING, writeDurably } from '@svc/kit/durable-file';
import { SvcError } from '@svc/kit/svc-error';
import { syncFolder } from '@svc/kit/synced-folder';

export const SALT_BYTES = 32;
const FOLDER = 'salts';

export interface Salts {
  /** Resolves with undefined if there is none. Rejects with SVC_DATA_UNUSABLE or SVC_JOURNAL_UNAVAILABLE, as `make` does. */
  find(tenantId: string, generation: number): Promise<Uint8Array | undefined>;
  /** Resolves with the salt, which is made if there is none. */
  make(tenantId: string, generation: number): Promise<Uint8Array>;
  /** Removes the salt; without one it does nothing. */
  remove(tenantId: string, generation: number): Promise<void>;
}

/** Has a file for each salt in a folder of the data folder, which one process uses at a time. */
export class FolderSalts implements Salts {
  readonly #folder: string;
  /** Salts that are being made, by the names of their files. */
  readonly #making = new Map<string, Promise<Uint8Array>>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the salts of a data folder, and removes what a crash has left of unfinished ones. */
  static async open(dataFolder: string): Promise<FolderSalts> {
    const folder = join(dataFolder, FOLDER);
    for (const name of await namesIn(folder))
      // oxlint-disable-next-line no-await-in-loop -- there are none, or the one that a crash has cut off
      if (name.endsWith(PART_ENDING)) await rm(join(folder, name), { force: true });
    return new FolderSalts(folder);
  }

  async find(tenantId: string, generation: number): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(tenantId, generation));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw unusable('read', error);
    }
  }

  async make(tenantId: string, generation: number): Promise<Uint8Array> {
    const path = this.#path(tenantId, generation);
    const making = this.#making.get(path) ?? this.#make(tenantId, generation);
    this.#making.set(path, making);
    try {
      return await making;
    } finally {
      this.#making.delete(path);
    }
  }

  async remove(tenantId: string, generation: number): Promise<void> {
    try {
      await rm(this.#path(tenantId, generation), { force: true });
      await syncFolder(this.#folder);
    } catch (error) {
      // Nothing was ever sealed.
      if (!isMissing(error)) throw error;
    }
  }

  async #make(tenantId: string, generation: number): Promise<Uint8Array> {
    const found = await this.find(tenantId, generation);
    if (found !== undefined) return found;
    const salt = randomBytes(SALT_BYTES);
    try {
      await writeDurably(this.#path(tenantId, generation), salt);
    } catch (error) {
      throw unusable('written', error);
    }
    return salt;
  }

  #path(tenantId: string, generation: number): string {
    return join(this.#folder, saltName(tenantId, generation));
  }
}

/** Returns the name under which a salt is stored. Names of tenants are of others, and may be any text. */
export function saltName(tenantId: string, generation: number): string {
  return hash('sha256', JSON.stringify([tenantId, generation]), 'hex');
}

/** Returns whether a data folder has salts, so that something was sealed for it. */
export async function hasSalts(dataFolder: string): Promise<boolean> {
  return (await namesIn(join(dataFolder, FOLDER))).some((name) => !name.endsWith(PART_ENDING));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Such as without file descriptors: another try may succeed. */
function unusable(verb: string, error: unknown): SvcError {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new SvcError(
    'SVC_DATA_UNUSABLE',
    `The salt of a tenant cannot be ${verb} in the folder '${FOLDER}' of the data folder: ${code}.`,
  );
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
