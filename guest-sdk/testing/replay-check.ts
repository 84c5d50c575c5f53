// ReplayCheck: checks that an entity's events alone determine its state. They are folded in a new instance, and then
// in every other way that must have the same result, as in `svc verify`. A state that also depends on data outside of
// it or on random numbers differs in one of them.
import {
  type EntityRef,
  GuestFault,
  FOLD_VARIANTS,
  type PurityFinding,
  type StoredEvent,
  SvcError,
  incarnationOf,
} from '@svc/host/tools';
import { GuestAccount } from './guest-account.ts';
import { parsed } from './json-value.ts';
import type { ModuleUnderTest } from './module-under-test.ts';
import { type StackStart, TestFailure, expectEqual, shown, typesOf } from './test-failure.ts';

const RULE =
  'apply must make the state from the given state and event alone: no variables of the module or ' +
  'of the class, no random numbers, no object that two fields of the state share.';

/** Checks an entity. `state`: the state that the test saw, as JSON text; undefined if it is lost. */
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
    const replayed = purity.stateOf(incarnation);
    if (state !== undefined) compare(replayed, state, 'in a fresh instance');
    for (const finding of purity.findings(incarnation)) report(finding);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new TestFailure(
      `${name} cannot be replayed: folding its events (${typesOf(events)}) in a fresh instance failed: ` +
        `${problemText(error.cause ?? error, account)}\n${RULE}${account.logged()}`,
      stackStart,
    );
  }
}

/** Returns the module's own message if it has one. */
function problemText(problem: unknown, account: GuestAccount): string {
  if (typeof problem === 'string') return shown(problem);
  // The cause is the module's own fault; the fault around it names the event.
  if (problem instanceof GuestFault && problem.cause instanceof GuestFault)
    return account.reason(problem.cause);
  return account.reason(problem);
}
