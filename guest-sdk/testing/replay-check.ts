// ReplayCheck: whether an entity's events alone make its state. They are folded twice in a fresh
// instance, at once and one by one: what a handler or `apply` keeps beside the state, or draws by
// chance, makes a difference to one of them.
import { type EntityRef, GuestFault, type StoredEvent } from '@svc/host/tools';
import { GuestAccount } from './guest-account.ts';
import { parsed } from './json-value.ts';
import type { ModuleUnderTest } from './module-under-test.ts';
import { atOnce } from './synchronous.ts';
import { type Door, TestFailure, expectEqual, typesOf } from './test-failure.ts';

const RULE =
  'apply must make the state from the given state and event alone: no variables of the module or ' +
  'of the class, no random numbers.';

/** `state`: the state that the test saw, as JSON text; undefined when it is lost. */
export function checkReplay(
  module: ModuleUnderTest,
  entity: EntityRef,
  events: readonly StoredEvent[],
  state: string | undefined,
  door: Door,
): void {
  const account = new GuestAccount(module.folder);
  const guest = module.start(account.log);
  const name = `${entity.component} '${entity.id}'`;
  const fold = (batches: readonly (readonly StoredEvent[])[], how: string): string => {
    try {
      const fresh = atOnce(guest.entities.open(entity, undefined));
      for (const batch of batches) {
        const problem = atOnce(fresh.apply(batch));
        if (problem !== undefined)
          throw new TestFailure(`${name} cannot be replayed: ${problem}`, door);
      }
      return atOnce(fresh.snapshot());
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      throw new TestFailure(
        `${name} cannot be replayed: folding its events (${typesOf(events)}) ${how} failed: ` +
          `${account.reason(fault)}\n${RULE}${account.logged()}`,
        door,
      );
    }
  };
  const compare = (replayed: string, seen: string, how: string): void => {
    if (replayed === seen) return;
    const message =
      `${name} has another state when its events (${typesOf(events)}) are folded anew ${how}. ` +
      `${RULE}${account.logged()}`;
    expectEqual(parsed(replayed), parsed(seen), message, door);
    // Equal as values: the order within a map differs.
    expectEqual(replayed, seen, message, door);
  };
  try {
    const first = fold(events.length === 0 ? [] : [events], 'in a fresh instance');
    if (state !== undefined) compare(first, state, 'in a fresh instance');
    const second = fold(
      events.map((event) => [event]),
      'a second time',
    );
    compare(second, first, 'a second time in the same instance');
  } finally {
    void guest.close();
  }
}
