// Timers of a module that runs as a service, which is stopped, killed and started again: each is fired, and once.
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { ALARMS, rung, serveAlarms, setAlarm } from '../support/timers/alarm-service.ts';

const module = join(temporaryFolderOfFile(), 'alarms.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('alarms')));

test('timers that are due while the service is not there are fired once it is, and once only', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serveAlarms(module, data);
  for (const id of ALARMS) await setAlarm(first.url, id, 500);
  await first.service.end('SIGKILL');
  const second = await serveAlarms(module, data);
  for (const id of ALARMS)
    await expect.poll(() => rung(second.url, id), { timeout: 20_000 }).toBe(1);
  await second.service.end('SIGKILL');
  const third = await serveAlarms(module, data);
  await setAlarm(third.url, 'last', 10);
  await expect.poll(() => rung(third.url, 'last'), { timeout: 20_000 }).toBe(1);
  for (const id of ALARMS) expect(await rung(third.url, id)).toBe(1);
});

test('a service with timers stops when it is asked to', async () => {
  const { url, service } = await serveAlarms(module, join(temporaryFolder(), 'data'));
  await setAlarm(url, 'a', 3_600_000);
  await setAlarm(url, 'b', 1);
  await expect.poll(() => rung(url, 'b'), { timeout: 20_000 }).toBe(1);
  const { code } = await service.end('SIGTERM');
  expect(code).toBe(0);
});

test('timers are counted for the metrics', async () => {
  const { svc, management } = await startDeployed(module, join(temporaryFolder(), 'data'));
  const url = await svc.listening();
  const metrics = async () => (await fetch(`${management}/svc/metrics`)).text();
  expect(await metrics()).toContain('\nsvc_timers{state="pending"} 0\n');
  for (const id of ALARMS) await setAlarm(url, id, 3_600_000);
  const pending = `\nsvc_timers{state="pending"} ${ALARMS.length}\n`;
  await expect.poll(metrics, { timeout: 20_000 }).toContain(pending);
});

test('a service with timers that cannot listen ends', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serveAlarms(module, data);
  await setAlarm(first.url, 'a', 3_600_000);
  await first.service.end('SIGKILL');
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const words = ['run', module, '--port', String(port), '--data', data, '--shards', '1'];
  const second = new SvcProcess(words);
  onTestFinished(async () => void (await second.end('SIGKILL')));
  expect((await second.ended).code).toBe(1);
});
