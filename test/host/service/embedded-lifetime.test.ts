// What an embedded service leaves to its program: listeners of the process, and whether the program may end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createService } from '../../../host/embed.ts';
import { filesIn } from '../../support/observed-process.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { within } from '../../support/within.ts';
import { order, ordersView } from './support/order-service.ts';

test('many services of a program listen once for its end, and no more when they have stopped', async () => {
  const before = process.listenerCount('exit');
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const runningFolder = temporaryFolder();
  const start = async () =>
    createService({
      name: 'many',
      entities: [],
      journal: 'memory',
      log: 'none',
      observability: { local: true, runningFolder },
    });
  const services = await Promise.all(Array.from({ length: 12 }, start));
  expect(filesIn(runningFolder)).toHaveLength(12);
  expect(process.listenerCount('exit')).toBe(before + 1);
  await Promise.all(services.map((service) => service.stop()));
  expect(process.listenerCount('exit')).toBe(before);
  expect(filesIn(runningFolder)).toEqual([]);
  expect(warnings).toEqual([]);
});

test.each([
  { what: 'with a view', views: [ordersView] },
  { what: 'without views', views: [] },
])('a service $what is no longer in memory once it has stopped', async ({ views }) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const stopped = await stoppedService(views.map((view) => view()));
  const isInMemory = () => {
    collectGarbage();
    return stopped.deref() !== undefined;
  };
  await expect.poll(isInMemory).toBe(false);
});

/** Resolves with a service that nothing else refers to. */
async function stoppedService(views: readonly ReturnType<typeof ordersView>[]) {
  const service = await createService({
    name: 'stopped',
    entities: [order],
    views,
    journal: 'memory',
    http: false,
    log: 'none',
  });
  await service.stop();
  return new WeakRef(service);
}

test('a program that stops no service ends when its work is done, and is not registered any more', async () => {
  const receiver = await otlpReceiver();
  const folder = temporaryFolder();
  const program = join(import.meta.dirname, '..', '..', 'support', 'idle-program.ts');
  const child = spawn(process.execPath, [program, folder, receiver.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  expect(await within(60, 'the work of the program', text(child.stdout))).toBe('{"value":1}\n');
  expect(await within(60, 'the end of the program', exited)).toEqual([0, null]);
  expect(filesIn(folder)).toEqual([]);
});
