// NumberSamples: copies what a shard's engine, guest and HTTP server know of themselves into the memory that the main
// thread shares. Once a second, so that no request pays for it; what a thread counted in its last second is lost with it.
import type { EngineNumbers } from '../engine/entity-engine.ts';
import type { WasmNumbers } from '../hosting/wasm/wasm-guest.ts';
import type { RequestBudgets } from '../model/request-budgets.ts';
import type { ShardNumbers } from './shard-numbers.ts';

interface Sampled {
  readonly engine: { readonly numbers: EngineNumbers };
  readonly guest: { readonly numbers: WasmNumbers };
  readonly server: { readonly inFlight: number };
  readonly budgets: { readonly [Kind in keyof RequestBudgets]: { readonly held: number } };
}

export class NumberSamples {
  readonly #numbers: ShardNumbers['sampled'];
  readonly #sampled: Sampled;
  /** What was added of it: a thread before may have counted, too. */
  #before: EngineNumbers | undefined;

  constructor({ sampled }: Pick<ShardNumbers, 'sampled'>, of: Sampled) {
    this.#numbers = sampled;
    this.#sampled = of;
  }

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
    const { endpointInstances, entityInstances, memoryBytes } = guest.numbers;
    numbers.set('endpoint-instances', endpointInstances);
    numbers.set('entity-instances', entityInstances);
    numbers.set('guest-memory-bytes', memoryBytes);
    numbers.set('requests-in-flight', server.inFlight);
    numbers.set('unsent-bytes', budgets.unsent.held);
    numbers.set('body-bytes', budgets.bodies.held);
  }
}
