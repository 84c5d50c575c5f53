// DatabaseKeyCheck: the value by which the master key is checked, in a database.
import type { ErasableValues } from '@svc/host/erasable-values';
import { hasDatabaseSalts } from './database-salts.ts';
import type { KeyCheckStorage } from './master-key.ts';

const NAME = 'master-key-check';

export class DatabaseKeyCheck implements KeyCheckStorage {
  readonly name: string;
  readonly missing = `no value ${NAME}`;
  readonly #values: ErasableValues;

  constructor(values: ErasableValues) {
    this.name = `the database ${values.shown}`;
    this.#values = values;
  }

  find(): Promise<string | undefined> {
    return this.#values.find(NAME);
  }

  add(value: string): Promise<string> {
    return this.#values.add(NAME, value);
  }

  hasSalts(): Promise<boolean> {
    return hasDatabaseSalts(this.#values);
  }
}
