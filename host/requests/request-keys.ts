// RequestKeys: the idempotency keys of the calls that the handler of one request makes. Each has the request's key,
// the name of the command, and which of the handler's calls of that command on that entity it is. So a repeated
// handler that asks one entity less, because it was told something else, shifts the keys of no other call.
import type { EntityRef } from '../model/entity.ts';

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

/** The key that the handler has set for a call. An empty one stays what it is: no key. */
export function ownKey(key: string): string {
  return key === '' ? key : key + OWN;
}
