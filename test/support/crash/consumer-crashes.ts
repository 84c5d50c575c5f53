// ConsumerCrashes simulates a crash at the writes of a service with a consumer: a service that is started on what each of them may
// have left has to handle every stored event, and book each once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Service } from '../../../host/embed.ts';
import { Random } from '../random.ts';
import { account, ACCOUNTS, openBank, transfer, TRANSFERS } from './consumer-bank.ts';
import { type CrashImage, CrashImages } from './crash-images.ts';
import { type DiskOperation, readTrace } from './disk-trace.ts';
import { FaultDisk } from './fault-disk.ts';

const WORKLOAD = join(import.meta.dirname, 'consumer-workload.ts');
const EVENTS_MAX = 1_000;
/** Time in which a service has to handle all events, in milliseconds, and the pause between two looks. */
const HANDLED_MS = 30_000;
const LOOK_MS = 50;

export interface ConsumerCrashesOptions {
  readonly scratch: string;
  readonly seed: number;
  /** Events of the workload. */
  readonly orders: number;
  /** One of so many operations is looked after: a service is started for each image. 1: all are. */
  readonly oneOf: number;
  /** Ends the simulation after the present image. */
  readonly signal?: AbortSignal;
  /** Receives the number of images so far. */
  readonly onImage?: (images: number) => void;
}

/** Returns the number of orders that each service has found. Rejects at the first violated guarantee. */
export async function consumerCrashes(options: ConsumerCrashesOptions): Promise<readonly number[]> {
  const { scratch, seed, orders, oneOf, signal, onImage } = options;
  const operations = await traced(scratch, orders);
  const random = new Random(seed);
  const images = new CrashImages(operations, new Map(), random);
  const found: number[] = [];
  for (const image of images.of(() => random.below(oneOf) === 0)) {
    if (signal?.aborted === true) break;
    // oxlint-disable-next-line no-await-in-loop -- one service at a time
    found.push(await recovered(image, scratch));
    onImage?.(found.length);
  }
  return found;
}

async function traced(scratch: string, orders: number): Promise<readonly DiskOperation[]> {
  const dir = join(scratch, 'data');
  mkdirSync(dir);
  const disk = new FaultDisk(dir, scratch, { traced: true });
  const child = spawn(process.execPath, [WORKLOAD, dir, String(orders)], {
    env: { ...process.env, ...disk.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
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
      assert((await service.call(transfer, id).order(ACCOUNTS[0]!)).isOk);
    await settled(service, found.length + TRANSFERS.length);
    const [ordered, booked] = await ordersAndBookings(service);
    assert.deepEqual(booked, ordered, `${image.kind} after operation ${image.after}`);
    return found.length;
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Waits until so many events are booked, or the time is over. */
async function settled(service: Service, events: number): Promise<void> {
  const endMs = performance.now() + HANDLED_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- it waits for the consumer
    const [, booked] = await ordersAndBookings(service);
    if (new Set(booked).size >= events || performance.now() > endMs) return;
    // oxlint-disable-next-line no-await-in-loop -- it waits for the consumer
    await after(LOOK_MS);
  }
}
