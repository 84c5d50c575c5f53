// A webhook service on a disk that is really full: reports are refused, nothing that was answered is lost, and it goes on once there is
// space.
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { LogEntry } from '@svc/client';
import { SmallDisk, whyNoSmallDisk } from '../../support/small-disk.ts';
import { reported } from '../reported-dataset.ts';
import { startReceiver, WebhookServiceUnderTest } from './webhook-service-under-test.ts';

/** Views need a gibibyte of free space. The disk is in memory, of which it takes what is written. */
const BYTES = 2 * 1_073_741_824;
const SOON = { timeout: 25_000, interval: 200 };
/** Reports that are sent while the disk is full. */
const REPORTS = 20;
const problem = whyNoSmallDisk();
if (problem !== undefined) console.log(problem);
beforeEach((context) => context.skip(problem !== undefined, problem));

/** Takes the disk all that it has free, and returns what gives it back. */
function filled(disk: SmallDisk): () => void {
  const { blocks, bfree, bsize } = statfsSync(disk.folder);
  disk.resize((blocks - bfree) * bsize);
  return () => disk.resize(blocks * bsize);
}

test('reports are refused while the disk is full, and nothing that was answered is lost', async () => {
  const disk = new SmallDisk(BYTES);
  const service = new WebhookServiceUnderTest({ dataFolder: join(disk.folder, 'data') });
  await service.start();
  const { url, received } = await startReceiver((number) => (number === 1 ? 500 : 200));
  await service.send('POST', '/webhooks', { url });
  const answered: string[] = [];
  const report = async (dataset: string, seq = 1): Promise<number> => {
    const { status, json } = await service.send('PUT', `/datasets/${dataset}`, reported({ seq }));
    if (status === 200) answered.push((json as { eventId: string }).eventId);
    return status;
  };
  expect(await report('before')).toBe(200);
  await expect.poll(() => received.length, SOON).toBe(1);

  const free = filled(disk);
  const statuses: number[] = [];
  for (let index = 0; index < REPORTS; index++) statuses.push(await report(`full${index}`));
  // Some bytes may be left of what the journal has reserved.
  expect(new Set(statuses.slice(-REPORTS / 2))).toEqual(new Set([503]));
  expect(service.logged.join('\n')).toContain('SVC_DISK_FULL');
  // The first event may have been sent again meanwhile. Nothing is sent of a report that was refused.
  const sent = received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
  expect(answered).toEqual(expect.arrayContaining([...new Set(sent)]));
  free();

  await expect.poll(() => report('after'), SOON).toBe(200);
  // Nothing was kept of a report that was refused: it is an event now.
  const refused = statuses.flatMap((status, index) => (status === 200 ? [] : [`full${index}`]));
  for (const dataset of refused) expect(await report(dataset)).toBe(200);
  const log = async () =>
    (await service.send('GET', '/webhooks/deliveries?limit=250')).json as LogEntry[];
  await expect
    .poll(async () => (await log()).map(({ outcome }) => outcome), SOON)
    .toEqual(answered.map(() => 'delivered'));
});
