// CounterEngine is the engine with the counter and a journal, in the thread of the benchmark and without HTTP.
import { readFileSync } from 'node:fs';
import { createEngine, type EntityEngine } from '../host/engine/entity-engine.ts';
import type { Journal } from '../host/engine/needs/journal.ts';
import type { Leases } from '../host/engine/needs/leases.ts';
import type { Guest } from '@svc/model/guest';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { systemClock, systemDigest, systemEventLoop, systemRandom } from '../host/system.ts';
import { type BenchModule, benchModule } from './service.ts';

const ENTITIES = 1_000;
/** Spreads turns over the entities. */
const STRIDE = 7_919;

export class CounterEngine {
  readonly #module: BenchModule;
  readonly #guest: Guest;
  readonly #journal: Journal;
  readonly #engine: EntityEngine;
  #keys = 0;

  /** The engine closes the journal. Without leases it is the only writer. */
  static async open(journal: Journal, leases?: Leases): Promise<CounterEngine> {
    const module = await benchModule();
    const guest = await createWasmGuest(readFileSync(module.file), WASM_LIMITS_DEFAULT, () => {});
    return new CounterEngine(module, guest, journal, leases);
  }

  private constructor(module: BenchModule, guest: Guest, journal: Journal, leases?: Leases) {
    this.#module = module;
    this.#guest = guest;
    this.#journal = journal;
    this.#engine = createEngine({
      guest,
      journal,
      leases,
      clock: systemClock,
      random: systemRandom(),
      digest: systemDigest,
      eventLoop: systemEventLoop,
      faultLog: (_entity, _handler, fault) => {
        throw fault;
      },
    });
  }

  /** Brings all entities into memory. */
  async load(): Promise<void> {
    await Promise.all(Array.from({ length: ENTITIES }, (_, turn) => this.add(turn)));
  }

  /** Carries out a command of one of 1,000 entities. */
  async add(turn: number): Promise<void> {
    await this.#add(entityOf(turn), undefined);
  }

  /** Carries out a command of the same entity as all other calls of this function. */
  async addToOne(): Promise<void> {
    await this.#add('one', undefined);
  }

  /** Does what `addToOne` does, with an idempotency key that was never used before. */
  async addToOneWithKey(): Promise<void> {
    await this.#add('one', `key-${this.#keys++}`);
  }

  async close(): Promise<void> {
    await this.#engine.close();
    await this.#journal.close();
    await this.#guest.close();
    this.#module.remove();
  }

  async #add(id: string, key: string | undefined): Promise<void> {
    const target = { component: 'counter', id };
    const answer = await this.#engine.call(target, 'add', '{"amount":1}', [], key);
    if (answer.kind !== 'reply') throw new Error(answer.message);
  }
}

/** Returns the entity of a turn: one of 1,000, each as often as any other. */
export function entityOf(turn: number): string {
  return `c${(turn * STRIDE) % ENTITIES}`;
}
