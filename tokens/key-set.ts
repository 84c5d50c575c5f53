// KeySet: the keys that a provider publishes (RFC 7517), as read at one moment. A key is found by the algorithm and the key id
// in the header of a token alone: keys or addresses of keys that a token brings along are not looked at.
import { createLocalJWKSet, type CryptoKey, errors, type JSONWebKeySet } from 'jose';
import type { TokenFault } from './token-fault.ts';

/** The members of a token's header that name its key. */
export interface KeyHint {
  readonly alg: string;
  readonly kid?: string;
}

export type KeyFound =
  | { readonly kind: 'key'; readonly key: CryptoKey }
  | { readonly kind: 'none' }
  | { readonly kind: 'faulty'; readonly fault: TokenFault };

export class KeySet {
  /** The text that it was read from. Two sets of the same text are the same. */
  readonly text: string;
  readonly #ids: ReadonlySet<unknown>;
  readonly #find: ReturnType<typeof createLocalJWKSet>;
  /** Keys that were found, by algorithm and key id: at most one for each of the set, with each algorithm. */
  readonly #found = new Map<string, KeyFound>();

  private constructor(text: string, set: JSONWebKeySet) {
    this.text = text;
    this.#find = createLocalJWKSet(set);
    this.#ids = new Set(set.keys.map(({ kid }) => kid));
  }

  /** Returns undefined if the text is not a set of keys. */
  static parse(text: string): KeySet | undefined {
    try {
      return new KeySet(text, JSON.parse(text) as JSONWebKeySet);
    } catch {
      return undefined;
    }
  }

  /** Always returns the same object for the same key. */
  async find({ alg, kid }: KeyHint): Promise<KeyFound> {
    // Anybody can send tokens of keys that do not exist, and jose creates an error with a stack for each.
    if (kid !== undefined && !this.#ids.has(kid)) return { kind: 'none' };
    const name = JSON.stringify([alg, kid]);
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    try {
      const key = await this.#find({ alg, ...(kid === undefined ? {} : { kid }) });
      const found: KeyFound = { kind: 'key', key };
      this.#found.set(name, found);
      return found;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return { kind: 'none' };
      // Everything else is thrown by the import of a key whose parameters are wrong.
      const isSeveral = error instanceof errors.JWKSMultipleMatchingKeys;
      return { kind: 'faulty', fault: isSeveral ? 'several-keys' : 'unusable-key' };
    }
  }
}
