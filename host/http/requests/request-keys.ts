// RequestKeys: the idempotency keys of the calls that one request's handler makes, or a consumer for one event. A key consists of the request's
// key, the name of the command, and the number of the call among the handler's calls of that command on that entity.
// So if the handler of a repeated request omits a call of one entity, because it received another result, the keys of
// its other calls stay the same.
import {
  IDEMPOTENCY_KEY_LENGTH_MAX,
  idempotencyKeyProblem,
} from '../../engine/entity/idempotency.ts';
import { digestOf } from '../idempotency-key.ts';
import { quoted } from '../../engine/quoted.ts';
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';

/** Suffix of a key that the handler has set itself. No key that `next` returns ends with it. */
const HANDLER_SUFFIX = '/=';

export class RequestKeys {
  #requestKey: string;
  readonly #suffix: string;
  /** Entity and command → number of calls. */
  readonly #counts = new Map<string, number>();

  /**
   * `requestKey`: derived from the header, the caller and the route; or `eventKey`, for the calls of a consumer. `suffix`: the
   * end of each key.
   */
  constructor(requestKey: string, suffix = '') {
    this.#requestKey = requestKey;
    this.#suffix = suffix;
  }

  /** Makes the keys of the calls from now on different from those of other scopes. */
  scope(scope: string): void {
    this.#requestKey = `${this.#requestKey}/${digestOf(scope)}`;
  }

  /** Returns the key of the next call. */
  next(target: EntityRef, name: string): string {
    const count = this.#count(target, name, 1);
    return `${this.#requestKey}.${name}.${count}${this.#suffix}`;
  }

  /** Releases the key that `next` returned last for this entity and command, because the call was not made. */
  takeBack(target: EntityRef, name: string): void {
    this.#count(target, name, -1);
  }

  #count({ component, id }: EntityRef, name: string, change: number): number {
    const what = `${component}\n${name}\n${id}`;
    const count = (this.#counts.get(what) ?? 0) + change;
    this.#counts.set(what, count);
    return count;
  }
}

/** Returns the key that the entity receives for a key that the handler has set. */
export function ownKey(key: string): string {
  return key + HANDLER_SUFFIX;
}

/**
 * Throws SVC_IDEMPOTENCY_KEY_INVALID if the handler has set an invalid key. This is not a refusal, because the handler
 * could pass a refusal on, and the caller would receive 400 for a mistake of the handler.
 */
export function checkOwnKey(key: string | undefined, { component }: EntityRef, name: string): void {
  if (key === undefined) return;
  const lengthMax = IDEMPOTENCY_KEY_LENGTH_MAX - HANDLER_SUFFIX.length;
  const problem = idempotencyKeyProblem(key, lengthMax);
  if (problem === undefined) return;
  throw new SvcError(
    'SVC_IDEMPOTENCY_KEY_INVALID',
    `The idempotency key that a handler has set for ${quoted(name)} of component ${quoted(component)} ${problem}. ` +
      `Set one of 1 to ${lengthMax} visible ASCII characters, with encodeURIComponent around any text of the caller's.`,
  );
}
