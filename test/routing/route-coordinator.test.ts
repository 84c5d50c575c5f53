// The orchestrator's side as a state machine: random histories of routers that come, go, hang and acknowledge, against a model.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RouteCoordinator } from '../../routing/route-coordinator.ts';
import { ACKNOWLEDGE_MS, CoordinatorModel, LEAVE_MS } from './coordinator-model.ts';

const name = fc.constantFrom('a', 'b', 'c');
const steps = fc.array(
  fc.oneof(
    name.map((one) => ({ run: (model: CoordinatorModel) => model.join(one), text: `join ${one}` })),
    name.map((one) => ({
      run: (model: CoordinatorModel) => model.leave(one),
      text: `leave ${one}`,
    })),
    fc.tuple(name, fc.boolean()).map(([one, isHold]) => ({
      run: (model: CoordinatorModel) => model.acknowledge(one, isHold),
      text: `acknowledge ${one} ${isHold}`,
    })),
    fc.constant({ run: (model: CoordinatorModel) => model.publish(), text: 'publish' }),
    fc.constant({ run: (model: CoordinatorModel) => model.hold(), text: 'hold' }),
    fc.constant({ run: (model: CoordinatorModel) => model.release(), text: 'release' }),
    fc
      .integer({ min: 1, max: 120 })
      .map((ms) => ({ run: (model: CoordinatorModel) => model.pass(ms), text: `pass ${ms}` })),
  ),
  { maxLength: 60 },
);

test('nothing is settled before every router has acknowledged or its time is up, and then at once', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const model = new CoordinatorModel();
      for (const { run } of history) run(model);
      // Whatever hangs, everything ends.
      model.pass(ACKNOWLEDGE_MS + LEAVE_MS);
      expect(model.waits.size).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test('a router that hangs is named, cut, and not waited for again', () => {
  const coordinator = new RouteCoordinator({ acknowledgeMs: ACKNOWLEDGE_MS, leaveMs: LEAVE_MS });
  coordinator.join('hangs', 1);
  const { wait } = coordinator.hold('shop/cart', 0);
  expect(coordinator.deadlineMs).toBe(ACKNOWLEDGE_MS);
  expect(coordinator.advance(ACKNOWLEDGE_MS - 1)).toEqual([]);
  expect(coordinator.advance(ACKNOWLEDGE_MS)).toEqual([
    { kind: 'cut', connection: 1 },
    { kind: 'settled', wait, missing: ['hangs'] },
  ]);
  expect(coordinator.hold('shop/cart', ACKNOWLEDGE_MS).effects).toMatchObject([
    { kind: 'settled', missing: [] },
  ]);
});

test('an acknowledgement of a table that there is not, or of nobody, costs the connection', () => {
  const coordinator = new RouteCoordinator({ acknowledgeMs: ACKNOWLEDGE_MS, leaveMs: LEAVE_MS });
  coordinator.join('a', 1);
  expect(coordinator.applied(1, 5)).toEqual([{ kind: 'cut', connection: 1 }]);
  expect(coordinator.held(2, 1)).toEqual([{ kind: 'cut', connection: 2 }]);
});
