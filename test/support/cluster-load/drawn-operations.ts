// DrawnOperations draws the operations of a load: queries, writes with and without idempotency keys, repetitions of earlier requests, and a
// few requests that use a key with another input.
//
// Invariants:
//  1  no two writes set the same value, unless they have one key
//  2  a key is used with another input only after it was answered, so that the attempts show which input was executed
//  3  an entity gets so many new operations, and then another one takes its turn: outcomes that stay unknown do not pile up
import type { Random } from '../random.ts';
import type { Operation } from './node-client.ts';

export interface Shares {
  /** In percent of all operations. */
  readonly queries: number;
  /** In percent of the writes of registers. */
  readonly deletions: number;
  /** In percent of the writes. */
  readonly keyed: number;
  /** Chance in percent that a request with a key is repeated which was answered, or was not. */
  readonly answeredAgain: number;
  readonly unansweredAgain: number;
  readonly reused: number;
}

export const SHARES: Shares = {
  queries: 40,
  deletions: 15,
  keyed: 50,
  answeredAgain: 5,
  unansweredAgain: 25,
  reused: 1,
};

/** Largest number that is added to a counter. Sums of a few such numbers are seldom equal. */
const AMOUNT_MAX = 1_000_000;
/** Requests with a key that are remembered, so that they can be repeated. */
const REMEMBERED = 200;

export class DrawnOperations {
  readonly #random: Random;
  readonly #entities: number;
  readonly #operationsPerEntity: number;
  readonly #shares: Shares;
  readonly #answered: Operation[] = [];
  readonly #unanswered: Operation[] = [];
  /** Requests that use a key with another input. */
  readonly #reusing = new WeakSet<Operation>();
  #count = 0;

  constructor(random: Random, entities: number, operationsPerEntity: number, shares: Shares) {
    this.#random = random;
    this.#entities = entities;
    this.#operationsPerEntity = operationsPerEntity;
    this.#shares = shares;
  }

  next(): Operation {
    const random = this.#random;
    const { unansweredAgain, answeredAgain, reused } = this.#shares;
    if (this.#unanswered.length > 0 && random.chance(unansweredAgain))
      return random.pick(this.#unanswered);
    if (this.#answered.length > 0 && random.chance(answeredAgain))
      return random.pick(this.#answered);
    const fresh = this.#fresh();
    if (this.#answered.length === 0 || !random.chance(reused)) return fresh;
    const { kind, entity, input, key } = random.pick(this.#answered);
    // A deletion has one input only, and another route has other keys.
    if (kind !== fresh.kind || input.kind !== fresh.input.kind || input.kind === 'delete')
      return fresh;
    const reusing = { kind, entity, input: fresh.input, key: key! };
    this.#reusing.add(reusing);
    return reusing;
  }

  /** Remembers a request with a key. `isAnswered`: the caller has got its answer. */
  sent(operation: Operation, isAnswered: boolean): void {
    if (operation.key === undefined || this.#reusing.has(operation)) return;
    const known = isAnswered ? this.#answered : this.#unanswered;
    const other = this.#unanswered.indexOf(operation);
    if (isAnswered && other >= 0) this.#unanswered.splice(other, 1);
    if (!known.includes(operation)) known.push(operation);
    if (known.length > REMEMBERED) known.shift();
  }

  #fresh(): Operation {
    const random = this.#random;
    const number = ++this.#count;
    const turn = Math.floor(number / (this.#entities * this.#operationsPerEntity));
    const entity = `${turn}-${random.below(this.#entities)}`;
    const kind = random.chance(50) ? 'register' : 'counter';
    if (random.chance(this.#shares.queries)) return { kind, entity, input: { kind: 'get' } };
    const input = this.#write(kind, number);
    return random.chance(this.#shares.keyed)
      ? { kind, entity, input, key: `key-${number}` }
      : { kind, entity, input };
  }

  #write(kind: Operation['kind'], number: number): Operation['input'] {
    if (kind === 'counter') return { kind: 'add', amount: 1 + this.#random.below(AMOUNT_MAX) };
    if (this.#random.chance(this.#shares.deletions)) return { kind: 'delete' };
    return { kind: 'set', value: number };
  }
}
