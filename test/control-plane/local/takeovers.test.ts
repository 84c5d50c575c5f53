// Takeovers and restarts on one machine under requests, with real processes.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { processEnd } from '@svc/kit/process-start';
import {
  NobodyRoutes,
  type RequestRoutes,
  type ServiceRoute,
} from '../../../control-plane/local/request-routes.ts';
import { cart, running } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { RoutedPrograms } from './routed-programs.ts';
import { until } from './until.ts';

/** Holds requests once the test lets it. */
function slowRoutes() {
  const nobody = new NobodyRoutes();
  const asked = Promise.withResolvers<() => void>();
  const published: ServiceRoute[] = [];
  const routes: RequestRoutes = {
    haveRoutersGathered: true,
    route: (_key, route) => void published.push(route),
    withdraw: () => {},
    hold: (key, acknowledged) => asked.resolve(() => nobody.hold(key, acknowledged)),
    release: (key) => nobody.release(key),
    holdOf: (key) => nobody.holdOf(key),
    isUnused: () => true,
  };
  return { routes, published, asked: asked.promise };
}

let machine: RoutedPrograms;
beforeEach(async () => {
  machine = new RoutedPrograms();
  await machine.open();
  onTestFinished(() => machine.discard());
});

test('no request fails if the control plane ends while no instance runs, and another one starts', async () => {
  const failures = await machine.replaceInterrupted(IMAGES.slow, () => {
    const process = machine.instanceOf(1)?.lastRun?.process;
    return process === undefined || processEnd(process) !== undefined;
  });
  expect(failures).toEqual([]);
});

test('requests wait while an instance that was killed is started again', async () => {
  await machine.serve(IMAGES.good);
  process.kill(machine.instanceOf(1)!.lastRun!.process!.pid, 'SIGKILL');
  await until(async () => machine.instanceOf(1)!.lastRun!.restarts === 1);
  await machine.complete(1);
  await until(async () => machine.answered.at(-1)?.outcome === '200');
  // What is under way when it is killed is lost, and what comes before the control plane has noticed.
  for (const failure of await machine.stopRequests())
    expect(failure).toMatch(/ECONNREFUSED|ECONNRESET|socket hang up/);
  expect(Math.max(...machine.answered.map(({ tookMs }) => tookMs))).toBeGreaterThan(100);
});

test('an instance is asked to end, and leaves the routes, as soon as requests are held', async () => {
  const { routes, published, asked } = slowRoutes();
  const pollMs = 1000;
  const options = { hasDataFolder: true, routes, section: { takeoverPollMs: pollMs } };
  const quiet = new MachineUnderTest(options);
  onTestFinished(() => quiet.discard());
  await running(quiet, IMAGES.stubborn, 1);
  await quiet.orchestrator.reconcile(cart(IMAGES.good, 2));
  const acknowledge = await asked;
  expect(published.at(-1)?.instances.length).toBe(1);
  const sinceMs = performance.now();
  acknowledge();
  await until(async () => published.at(-1)?.instances.length === 0);
  expect(performance.now() - sinceMs).toBeLessThan(pollMs);
});
