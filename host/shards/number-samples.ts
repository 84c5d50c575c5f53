// NumberSamples copies numbers of a shard's engine, guest and HTTP server into memory that it shares with the main
// thread. Its owner calls `take` once a second, so that no request pays for it; what a thread counted in its last
// second is lost when it ends.
import type { EngineNumbers } from '../engine/entity/entity-registry.ts';
import type { RequestBudgets } from '@svc/model/request-budgets';
import type { ShardNumbers } from './shard-numbers.ts';

/** The part of a guest that is sampled. */
export interface SampledGuest {
  /** Absent: the hosting has neither instances nor memory of its own. */
  readonly numbers?: {
    /** Number of instances that serve endpoints or are idle. */
    readonly endpointInstances: number;
    readonly entityInstances: number;
    /** Memory of all instances together, in bytes. */
    readonly memoryBytes: number;
  };
}

interface Sampled {
  readonly engine: { readonly numbers: EngineNumbers };
  readonly guest: SampledGuest;
  readonly server: { readonly inFlight: number };
  readonly budgets: { readonly [Kind in keyof RequestBudgets]: { readonly held: number } };
}

export class NumberSamples {
  readonly #numbers: ShardNumbers['sampled'];
  readonly #sampled: Sampled;
  /**
   * The engine's counts at the last sample; only the difference is added, because the memory also has the counts of
   * earlier threads.
   */
  #before: EngineNumbers | undefined;

  constructor({ sampled }: Pick<ShardNumbers, 'sampled'>, of: Sampled) {
    this.#numbers = sampled;
    this.#sampled = of;
  }

  /** Copies the current numbers. */
  take(): void {
    const numbers = this.#numbers;
    const { engine, guest, server, budgets } = this.#sampled;
    const now = engine.numbers;
    const before = this.#before;
    for (const how of ['empty', 'snapshot', 'folded'] as const)
      numbers.add(`activations-${how}`, now.activations[how] - (before?.activations[how] ?? 0));
    numbers.add('passivations', now.passivations - (before?.passivations ?? 0));
    this.#before = now;
    numbers.set('entities-in-memory', now.liveEntities);
    if (guest.numbers !== undefined) {
      numbers.set('endpoint-instances', guest.numbers.endpointInstances);
      numbers.set('entity-instances', guest.numbers.entityInstances);
      numbers.set('guest-memory-bytes', guest.numbers.memoryBytes);
    }
    numbers.set('requests-in-flight', server.inFlight);
    numbers.set('unsent-bytes', budgets.unsent.held);
    numbers.set('body-bytes', budgets.bodies.held);
  }
}
