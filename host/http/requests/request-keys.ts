// RequestKeys: the idempotency keys of the calls that the handler of one request makes. Each has the request's key,
// the name of the command, and which of the handler's calls of that command on that entity it is. So a repeated
// handler that asks one entity less, because it was told something else, shifts the keys of no other call.
import {
  IDEMPOTENCY_KEY_LENGTH_MAX,
  idempotencyKeyProblem,
} from '../../engine/entity/idempotency.ts';
import { quoted } from '../../engine/quoted.ts';
import type { EntityRef } from '../../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Ends a key that the handler has set itself. No key of a request ends so. */
const OWN = '/=';

export class RequestKeys {
  readonly #requestKey: string;
  /** Entity and name → calls that were made. */
  readonly #counts = new Map<string, number>();

  /** `requestKey`: of the header, its sender and the route. */
  constructor(requestKey: string) {
    this.#requestKey = requestKey;
  }

  /** Of the call that is made next. */
  next(target: EntityRef, name: string): string {
    const count = this.#count(target, name, 1);
    return `${this.#requestKey}.${name}.${count}`;
  }

  /** The last such call was not made after all. */
  takeBack(target: EntityRef, name: string): void {
    this.#count(target, name, -1);
  }

  #count({ component, id }: EntityRef, name: string, more: number): number {
    const what = `${component}\n${name}\n${id}`;
    const count = (this.#counts.get(what) ?? 0) + more;
    this.#counts.set(what, count);
    return count;
  }
}

/** What the entity gets for the key that the handler has set for a call. */
export function ownKey(key: string): string {
  return key + OWN;
}

/**
 * Throws SVC_IDEMPOTENCY_KEY_INVALID when the handler has set a key that cannot be used. The mistake is the handler's:
 * a refusal, which it may pass on, would blame the caller with 400.
 */
export function checkOwnKey(key: string | undefined, { component }: EntityRef, name: string): void {
  if (key === undefined) return;
  const lengthMax = IDEMPOTENCY_KEY_LENGTH_MAX - OWN.length;
  const problem = idempotencyKeyProblem(key, lengthMax);
  if (problem === undefined) return;
  throw new SvcError(
    'SVC_IDEMPOTENCY_KEY_INVALID',
    `The idempotency key that a handler has set for ${quoted(name)} of component ${quoted(component)} ${problem}. ` +
      `Set one of 1 to ${lengthMax} visible ASCII characters, with encodeURIComponent around any text of the caller's.`,
  );
}
