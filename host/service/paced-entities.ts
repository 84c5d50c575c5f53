// PacedEntities folds events for somebody who looks on, in the thread that also serves: it yields to the event loop now
// and then, and stops when the question has taken too long or the service stops. Invariant: no more than SLICE_MS of folding
// passes between two yields, but for what one event takes.
import { type Answer, type Args, ForwardingEntity } from '../engine/entity/forwarding-entity.ts';
import type { GuestEntities, GuestEntity } from '../engine/needs/guest.ts';
import { systemEventLoop } from '../system.ts';

const SLICE_MS = 10;

/** `check` is called after each yield; it throws when the folding is to end. */
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
