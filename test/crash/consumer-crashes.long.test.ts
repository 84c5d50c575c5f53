// A crash at the writes of a service with a consumer: a service that is started on what each of them may have left handles every
// stored event, and books each once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Service } from '../../host/embed.ts';
import {
  account,
  ACCOUNTS,
  openBank,
  transfer,
  TRANSFERS,
} from '../support/crash/consumer-bank.ts';
import { type CrashImage, CrashImages } from '../support/crash/crash-images.ts';
import { type DiskOperation, readTrace } from '../support/crash/disk-trace.ts';
import { FaultDisk, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const WORKLOAD = join(import.meta.dirname, '../support/crash/consumer-workload.ts');
const ORDERS = 24;
/** One of so many operations is looked after: a service is started for each image. */
const ONE_OF = 8;
const EVENTS_MAX = 1_000;

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

async function traced(scratch: string): Promise<readonly DiskOperation[]> {
  const dir = join(scratch, 'data');
  mkdirSync(dir);
  const disk = new FaultDisk(dir, scratch, { traced: true });
  const child = spawn(process.execPath, [WORKLOAD, dir, String(ORDERS)], {
    env: { ...process.env, ...disk.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(child, 'close')).toEqual([0, null]);
  return readTrace(disk.tracePath);
}

/** The events of transfers, and those for which accounts have booked something, each as `TRANSFER SEQ`. */
async function ordersAndBookings(service: Service): Promise<readonly [string[], string[]]> {
  const ordered = await Promise.all(
    TRANSFERS.map(async (id) =>
      (await service.readEvents(transfer, id, 0, EVENTS_MAX)).map(({ seq }) => `${id} ${seq}`),
    ),
  );
  const booked = await Promise.all(
    ACCOUNTS.map(async (id) =>
      (await service.readEvents(account, id, 0, EVENTS_MAX)).map(
        ({ event }) => `${event.transfer} ${event.seq}`,
      ),
    ),
  );
  return [ordered.flat().toSorted(), booked.flat().toSorted()];
}

/** Starts a service on what a crash has left, and returns the number of orders that it found. */
async function recovered(image: CrashImage, scratch: string): Promise<number> {
  const dir = mkdtempSync(join(scratch, 'crash-'));
  for (const [name, bytes] of image.files) writeFileSync(join(dir, name), bytes);
  const service = await openBank(dir, () => {});
  try {
    const [found] = await ordersAndBookings(service);
    // One more event of each transfer: when it is booked, all those before it are settled.
    for (const id of TRANSFERS)
      // oxlint-disable-next-line no-await-in-loop -- the order of the events is that of the transfers
      expect((await service.call(transfer, id).order(ACCOUNTS[0]!)).isOk).toBe(true);
    const all = found.length + TRANSFERS.length;
    await expect
      .poll(async () => new Set((await ordersAndBookings(service))[1]).size, { timeout: 30_000 })
      .toBe(all);
    const [ordered, booked] = await ordersAndBookings(service);
    expect(booked, `${image.kind} after operation ${image.after}`).toEqual(ordered);
    return found.length;
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

test('at any write, sync or rename, no event is skipped, and none is booked twice', async () => {
  const scratch = temporaryFolder();
  const operations = await traced(scratch);
  const random = new Random(1);
  const images = new CrashImages(operations, new Map(), random);
  const found: number[] = [];
  for (const image of images.of(() => random.below(ONE_OF) === 0))
    // oxlint-disable-next-line no-await-in-loop -- one service at a time
    found.push(await recovered(image, scratch));
  expect(found.length).toBeGreaterThan(40);
  // There were crashes at the beginning, in between and at the end.
  expect(Math.min(...found)).toBe(0);
  expect(new Set(found).size).toBeGreaterThan(ORDERS / 4);
  expect(Math.max(...found)).toBe(ORDERS);
}, 600_000);
