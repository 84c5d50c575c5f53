// RequestKeys: the idempotency keys of the calls that the handler of one request makes. Repeated, the handler
// makes the same calls in the same order, so each call's key is that of the request and the call's ordinal; and
// the handler draws the same numbers by chance.
import { hash } from 'node:crypto';

/** Ends a key that the handler has set itself. No key of a request ends so. */
const OWN = '/=';
const SEED_DIGITS = 16;

export class RequestKeys {
  /** What the handler's chance begins with. */
  readonly seed: bigint;
  readonly #requestKey: string;

  /** `requestKey`: of the header, its sender and the route. */
  constructor(requestKey: string) {
    this.#requestKey = requestKey;
    this.seed = BigInt(`0x${hash('sha256', requestKey, 'hex').slice(0, SEED_DIGITS)}`);
  }

  /** `ordinal`: of the call among those of the handler, from 1. */
  ofCall(ordinal: number): string {
    return `${this.#requestKey}.${ordinal}`;
  }
}

/** The key that the handler has set for a call. An empty one stays what it is: no key. */
export function ownKey(key: string): string {
  return key === '' ? key : key + OWN;
}
