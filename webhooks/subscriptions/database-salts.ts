// DatabaseSalts: the salts of tenants in a database, outside of its journals.
//
// Invariants are those of Salts (salts.ts). Of two processes that make a salt at the same time, both get the one that was stored first.
import { randomBytes } from 'node:crypto';
import type { ErasableValues } from '@svc/host/erasable-values';
import { SALT_BYTES, saltName, type Salts } from './salts.ts';

const PREFIX = 'salt/';

export class DatabaseSalts implements Salts {
  readonly #values: ErasableValues;

  constructor(values: ErasableValues) {
    this.#values = values;
  }

  async find(tenantId: string, generation: number): Promise<Uint8Array | undefined> {
    const text = await this.#values.find(nameOf(tenantId, generation));
    return text === undefined ? undefined : bytesOf(text);
  }

  async make(tenantId: string, generation: number): Promise<Uint8Array> {
    const name = nameOf(tenantId, generation);
    const found = await this.#values.find(name);
    const made = () => this.#values.add(name, randomBytes(SALT_BYTES).toString('base64url'));
    return bytesOf(found ?? (await made()));
  }

  remove(tenantId: string, generation: number): Promise<void> {
    return this.#values.remove(nameOf(tenantId, generation));
  }
}

/** Returns whether a database has salts, so that something was sealed for it. */
export function hasDatabaseSalts(values: ErasableValues): Promise<boolean> {
  return values.hasAny(PREFIX);
}

function nameOf(tenantId: string, generation: number): string {
  return `${PREFIX}${saltName(tenantId, generation)}`;
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64url');
}
