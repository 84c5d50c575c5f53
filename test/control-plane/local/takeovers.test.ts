// Takeovers and restarts on one machine under requests, with real processes.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { processEnd } from '@svc/kit/process-start';
import { IMAGES } from './machine-under-test.ts';
import { RoutedPrograms } from './routed-programs.ts';
import { until } from './until.ts';

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
