// Timers of a module that runs as a service of two shards: they are fired in the shard of their target.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { ALARMS, rung, serveAlarms, setAlarm } from '../support/timers/alarm-service.ts';

const module = join(temporaryFolderOfFile(), 'alarms.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('alarms')));

test('timers of commands and handlers are fired, whichever shard has set them', async () => {
  const { url, service } = await serveAlarms(module, join(temporaryFolder(), 'data'));
  for (const id of ALARMS) {
    await setAlarm(url, id, 10);
    await setAlarm(url, `${id}/other`, 10);
    await setAlarm(url, `${id}/soon`, 10);
  }
  for (const id of ALARMS) {
    await expect.poll(() => rung(url, id), { timeout: 20_000 }).toBe(2);
    await expect.poll(() => rung(url, `other-${id}`), { timeout: 20_000 }).toBe(1);
  }
  const { code } = await service.end('SIGTERM');
  expect(code).toBe(0);
});
