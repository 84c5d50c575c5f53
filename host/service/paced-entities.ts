// PacedEntities folds events for introspection in the thread that also serves: it yields to the event loop between
// batches, and stops when the question has taken too long or the service stops. Invariant: within a call of `apply`,
// at most SLICE_MS of folding, plus one event, run between two yields.
import { type Answer, type Args, ForwardingEntity } from '../engine/entity/forwarding-entity.ts';
import type { GuestEntities, GuestEntity } from '@svc/model/guest';
import { systemEventLoop } from '../system.ts';

/** Time for which events are folded before a yield, in milliseconds. */
const SLICE_MS = 10;

/** `check` is called after each yield; it throws to end the folding. */
export function pacedEntities(entities: GuestEntities, check: () => void): GuestEntities {
  return {
    open: async (...args) => new PacedEntity(await entities.open(...args), check),
  };
}

class PacedEntity extends ForwardingEntity {
  readonly #check: () => void;

  constructor(entity: GuestEntity, check: () => void) {
    super(entity);
    this.#check = check;
  }

  override async apply(...[events, ...others]: Args<'apply'>): Promise<Awaited<Answer<'apply'>>> {
    let sinceMs = performance.now();
    for (const event of events) {
      const problem = await this.entity.apply([event], ...others);
      if (problem !== undefined) return problem;
      if (performance.now() - sinceMs < SLICE_MS) continue;
      await systemEventLoop.yield();
      this.#check();
      sinceMs = performance.now();
    }
    return undefined;
  }
}
