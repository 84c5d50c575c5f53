// FolderKeyCheck: the value by which the master key is checked, in a file of the data folder.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@svc/kit/durable-file';
import { SvcError } from '@svc/kit/svc-error';
import type { KeyCheckStorage } from './master-key.ts';
import { hasSalts } from './salts.ts';

const FILE = 'master-key-check';

export class FolderKeyCheck implements KeyCheckStorage {
  readonly name: string;
  readonly missing = `no file ${FILE}`;
  readonly #dataFolder: string;

  constructor(dataFolder: string) {
    this.name = `the data folder ${dataFolder}`;
    this.#dataFolder = dataFolder;
  }

  async find(): Promise<string | undefined> {
    try {
      return (await readFile(this.#path, 'latin1')).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new SvcError(
        'SVC_DATA_UNUSABLE',
        `The file ${this.#path} cannot be read. Let this user read it.`,
        { cause: error },
      );
    }
  }

  async add(value: string): Promise<string> {
    await writeDurably(this.#path, `${value}\n`);
    return value;
  }

  hasSalts(): Promise<boolean> {
    return hasSalts(this.#dataFolder);
  }

  get #path(): string {
    return join(this.#dataFolder, FILE);
  }
}
