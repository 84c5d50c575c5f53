// ProviderKeys: knows the keys of the identity provider, and reads them again when they may have changed.
//
// Invariants
// P1  At most one read is under way. Whoever needs it waits for the same one.
// P2  A key that is not known leads to a read only if the last one began at least 5 s ago.
// P3  After a failed read no other begins for a second. Until one succeeds, the keys that are known remain good, for
//     `staleKeysMs` after they were read, and nobody who needs one of these waits.
// P4  Keys that are older than `keysRefreshMs` are read again before they are used, so that a removed key is refused.
import type { LogEntry } from '@svc/kit/log-entry';
import type { Clock } from '@svc/kit/clock';
import type { KeyFound, KeyHint, KeySet } from './key-set.ts';
import { discoverKeys, type KeysRead, readKeys } from './published-keys.ts';
import type { Fetch } from './provider-document.ts';

export interface ProviderKeysOptions {
  /** URL of the issuer, exactly as tokens have it. */
  readonly issuer: string;
  readonly keysRefreshMs: number;
  readonly staleKeysMs: number;
  /** Time for one read: discovery document and keys together, in milliseconds. */
  readonly readTimeoutMs: number;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: (entry: LogEntry) => void;
}

export type ProviderKey = KeyFound | { readonly kind: 'unavailable' };

const UNKNOWN_KEY_PAUSE_MS = 5000;
const FAILURE_PAUSE_MS = 1000;

export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keys: KeySet | undefined;
  /** Address of the keys; undefined until discovered, and after a failure. */
  #keysUrl: string | undefined;
  // Times of the monotonic clock.
  #readMs = -Infinity;
  #discoveredMs = -Infinity;
  #startedMs = -Infinity;
  #failedMs = -Infinity;
  /** Why the last read failed; undefined: it did not. */
  #problem: string | undefined;
  #reading: Promise<void> | undefined;
  /** Ends the read under way. */
  #deadline: AbortController | undefined;
  #isClosed = false;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /** Finds the key that a token names. `none`: the provider does not publish it. */
  async find(hint: KeyHint): Promise<ProviderKey> {
    await this.#refresh();
    const known = await this.#good()?.find(hint);
    if (known === undefined) return { kind: 'unavailable' };
    if (known.kind !== 'none' || !this.#mayHaveNewKeys()) return known;
    await this.#read();
    const now = (await this.#good()?.find(hint)) ?? known;
    return now.kind === 'none' && this.#problem !== undefined ? { kind: 'unavailable' } : now;
  }

  /** Whether the last read succeeded; undefined before the end of the first one. */
  get isReadable(): boolean | undefined {
    return this.#problem === undefined && this.#keys === undefined
      ? undefined
      : this.#problem === undefined;
  }

  /** Time since the known keys were read, in milliseconds; undefined: none are known. */
  get keysAgeMs(): number | undefined {
    return this.#keys === undefined ? undefined : this.#ageMs(this.#readMs);
  }

  /** Ends a read that is under way; from now on none begins. */
  close(): void {
    this.#isClosed = true;
    this.#deadline?.abort();
  }

  /** The keys that may be used now. */
  #good(): KeySet | undefined {
    const { keysRefreshMs, staleKeysMs } = this.#options;
    return this.#ageMs(this.#readMs) < Math.max(keysRefreshMs, staleKeysMs)
      ? this.#keys
      : undefined;
  }

  /** Reads old keys again. While the provider is known to be down, only those wait who have no key. */
  async #refresh(): Promise<void> {
    if (this.#ageMs(this.#readMs) < this.#options.keysRefreshMs) return;
    const reading = this.#read();
    if (this.#problem === undefined || this.#good() === undefined) await reading;
  }

  #mayHaveNewKeys(): boolean {
    if (this.#reading !== undefined || this.#problem !== undefined) return true;
    return this.#ageMs(this.#startedMs) >= UNKNOWN_KEY_PAUSE_MS;
  }

  /** Joins the read under way, or begins one unless the last one has just failed. */
  #read(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading;
    if (this.#ageMs(this.#failedMs) < FAILURE_PAUSE_MS || this.#isClosed) return Promise.resolve();
    this.#startedMs = this.#options.clock.monotonicMs();
    this.#reading = this.#readInTime().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readInTime(): Promise<void> {
    const { clock, readTimeoutMs } = this.#options;
    const deadline = new AbortController();
    this.#deadline = deadline;
    const cancel = clock.after(readTimeoutMs, () => deadline.abort());
    const answer = await this.#readAt(deadline.signal);
    cancel();
    if (answer.kind === 'problem') this.#fail(answer.problem);
    else this.#take(answer.keys);
  }

  async #readAt(signal: AbortSignal): Promise<KeysRead> {
    const { fetch, issuer, keysRefreshMs, clock } = this.#options;
    if (this.#keysUrl === undefined || this.#ageMs(this.#discoveredMs) >= keysRefreshMs) {
      const discovered = await discoverKeys({ issuer, fetch, signal });
      if (discovered.kind === 'problem') return discovered;
      this.#keysUrl = discovered.keysUrl;
      this.#discoveredMs = clock.monotonicMs();
    }
    return await readKeys(this.#keysUrl, { fetch, signal });
  }

  #take(keys: KeySet): void {
    this.#readMs = this.#options.clock.monotonicMs();
    this.#failedMs = -Infinity;
    // The same set remains, with what was imported and judged by it.
    if (keys.text !== this.#keys?.text) this.#keys = keys;
    if (this.#problem !== undefined)
      this.#options.log({
        level: 'info',
        message: 'The keys of the identity provider are read again',
      });
    this.#problem = undefined;
  }

  #fail(problem: string): void {
    this.#failedMs = this.#options.clock.monotonicMs();
    this.#keysUrl = undefined;
    if (this.#isClosed) return;
    if (problem !== this.#problem)
      this.#options.log({
        level: 'warn',
        message: `The keys of the identity provider cannot be read: ${problem}. Tokens whose key is not known are answered 503.`,
      });
    this.#problem = problem;
  }

  #ageMs(sinceMs: number): number {
    return this.#options.clock.monotonicMs() - sinceMs;
  }
}
