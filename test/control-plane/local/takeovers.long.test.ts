// The control plane ends at each step of a takeover under requests, and another one starts.
import { expect, onTestFinished, test } from 'vitest';
import { CART } from './cart.ts';
import { IMAGES } from './machine-under-test.ts';
import { RoutedPrograms } from './routed-programs.ts';

test.each<readonly [string, (machine: RoutedPrograms) => boolean]>([
  ['the next instance is prepared', (machine) => machine.phaseOf(2) === 'prepared'],
  ['requests are held', ({ routes }) => routes.holdOf(CART) !== 'none'],
  ['the hold is acknowledged', ({ routes }) => routes.holdOf(CART) === 'acknowledged'],
  ['the former instance ends', (machine) => machine.phaseOf(1) === 'stopping'],
  ['the next instance serves', (machine) => machine.phaseOf(2) === 'ready'],
])('no request fails if the control plane ends once %s', async (_, moment) => {
  const machine = new RoutedPrograms();
  await machine.open();
  onTestFinished(() => machine.discard());
  expect(await machine.replaceInterrupted(IMAGES.slow, () => moment(machine))).toEqual([]);
});
