// TenantKeys: the keys of a tenant, derived from the master key and the salt of the tenant and its generation.
//
// Invariants
// K1  A text is sealed with a nonce that is random, never derived, and for one subscription of one tenant: for another one it does not open.
// K2  Neither a key nor an opened text is written, logged, or part of an error.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Salts } from './salts.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class TenantKeys {
  readonly #masterKey: Uint8Array;
  readonly #salts: Salts;

  constructor(masterKey: Uint8Array, salts: Salts) {
    this.#masterKey = masterKey;
    this.#salts = salts;
  }

  /** Resolves with the key of a generation of a tenant; undefined if nothing was sealed with it, or it was removed. */
  async find(tenantId: string, generation: number): Promise<TenantKey | undefined> {
    const salt = await this.#salts.find(tenantId, generation);
    return salt === undefined ? undefined : new TenantKey(this.#masterKey, tenantId, salt);
  }

  /** Resolves with the key of a generation of a tenant, whose salt is on disk then. */
  async make(tenantId: string, generation: number): Promise<TenantKey> {
    const salt = await this.#salts.make(tenantId, generation);
    return new TenantKey(this.#masterKey, tenantId, salt);
  }

  /** Makes everything unreadable that was sealed with the key of the generation. */
  remove(tenantId: string, generation: number): Promise<void> {
    return this.#salts.remove(tenantId, generation);
  }
}

export class TenantKey {
  readonly #tenantId: string;
  readonly #sealing: Uint8Array;
  readonly #digesting: Uint8Array;

  constructor(masterKey: Uint8Array, tenantId: string, salt: Uint8Array) {
    this.#tenantId = tenantId;
    this.#sealing = derived(masterKey, salt, 'svc webhooks seal');
    this.#digesting = derived(masterKey, salt, 'svc webhooks digest');
  }

  /** Seals a text for a subscription. */
  seal(subscriptionId: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.#boundTo(subscriptionId));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** Opens a text; undefined if it was not sealed with this key for this subscription. */
  open(subscriptionId: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const end = bytes.length - TAG_BYTES;
    const cipher = createDecipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.#boundTo(subscriptionId));
    cipher.setAuthTag(bytes.subarray(end));
    try {
      const opened = [cipher.update(bytes.subarray(NONCE_BYTES, end)), cipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      return undefined;
    }
  }

  /** Digest of a text, by which two equal ones are known without either. */
  digest(text: string): string {
    return createHmac('sha256', this.#digesting).update(text).digest('base64url');
  }

  #boundTo(subscriptionId: string): Uint8Array {
    return Buffer.from(JSON.stringify([this.#tenantId, subscriptionId]));
  }
}

function derived(masterKey: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, salt, purpose, KEY_BYTES));
}
