// ReplayCheck: checks that an entity's events alone determine its state. It folds the events in a new instance, then
// again in the variants that `svc verify` checks (FOLD_VARIANTS), and expects the same state each time. A state that
// also depends on random numbers, or on data outside of the events, differs in one of the variants.
import {
  type EntityRef,
  GuestFault,
  FOLD_VARIANTS,
  type PurityFinding,
  type StoredEvent,
  SvcError,
  atOnce,
  incarnationOf,
} from '@svc/host/tools';
import { GuestAccount } from './guest-account.ts';
import { parsed } from './json-value.ts';
import type { ModuleUnderTest } from './module-under-test.ts';
import { type StackStart, TestFailure, expectEqual, shown, typesOf } from './test-failure.ts';

const RULE =
  'apply must make the state from the given state and event alone: no variables of the module or ' +
  'of the class, no random numbers, no object that two fields of the state share.';

/**
 * Checks an entity; throws the failure of the test if a fold differs or fails. `state`: the entity's state in the
 * instance of the test, as JSON text; undefined if it has none there, for example after a fault.
 */
export function checkReplay(
  module: ModuleUnderTest,
  entity: EntityRef,
  events: readonly StoredEvent[],
  state: string | undefined,
  stackStart: StackStart,
): void {
  const account = new GuestAccount(module.folder);
  const purity = module.purity(account.log);
  const incarnation = incarnationOf(entity, events);
  const name = `${entity.component} '${shown(entity.id)}'`;
  const compare = (found: string, expected: string, how: string): void => {
    if (found === expected) return;
    const message =
      `${name} has another state when its events (${typesOf(events)}) are folded anew ${how}. ` +
      `${RULE}${account.logged()}`;
    expectEqual(parsed(found), parsed(expected), message, stackStart);
    // The values are compared, because the order within a map may differ.
    expectEqual(found, expected, message, stackStart);
  };
  const report = ({ way, seq, expected, found }: PurityFinding): void => {
    const from = seq === 0 ? 'the empty state on' : `event ${seq} on`;
    const how = `${FOLD_VARIANTS[way]}, from ${from}`;
    if (found.kind === 'state') compare(found.state, expected, how);
    else
      throw new TestFailure(
        `${name} cannot be replayed: folding its events (${typesOf(events)}) ${how} failed: ` +
          `${problemText(found.problem, account)}\n${RULE}${account.logged()}`,
        stackStart,
      );
  };
  try {
    const replayed = atOnce(purity.stateOf(incarnation));
    if (state !== undefined) compare(replayed, state, 'in a fresh instance');
    atOnce(purity.findings(incarnation, [], report));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new TestFailure(
      `${name} cannot be replayed: folding its events (${typesOf(events)}) in a fresh instance failed: ` +
        `${problemText(error.cause ?? error, account)}\n${RULE}${account.logged()}`,
      stackStart,
    );
  }
}

/** Returns the reason of a failed fold; of a fault that another fault caused, the reason of its cause. */
function problemText(problem: unknown, account: GuestAccount): string {
  if (typeof problem === 'string') return shown(problem);
  // The cause is the module's own fault; the outer fault names the event.
  if (problem instanceof GuestFault && problem.cause instanceof GuestFault)
    return account.reason(problem.cause);
  return account.reason(problem);
}
