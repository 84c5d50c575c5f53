// CartGuest: the cart of a process as a guest in the thread of the benchmark, without HTTP and without a shard.
import { setTimeout as pause } from 'node:timers/promises';
import type { Guest } from '@svc/model/guest';
import { ProcessAway } from '../../host/hosting/process/process-failures.ts';
import { startProcessGuest } from '../../host/hosting/process/process-guest.ts';
import { PROCESS_SETTINGS_DEFAULT } from '../../host/hosting/process/process-settings.ts';
import { type ProcessSource, readProcess } from '../../host/hosting/process/process-source.ts';
import { type CartLanguage, startCartProcess } from './cart-languages.ts';

/** A process that does not answer after this time, in milliseconds, is ended. */
const START_MS_MAX = 30_000;
const LOOK_MS = 50;

/** Runs `work` with a process that holds the cart. */
export async function withCartProcess<Result>(
  language: CartLanguage,
  work: (source: ProcessSource) => Promise<Result>,
): Promise<Result> {
  const held = await startCartProcess(language);
  try {
    return await work(await reached(held.address));
  } finally {
    await held.stop();
  }
}

/** Runs `work` with a guest of the cart in a process. */
export async function withCartGuest<Result>(
  language: CartLanguage,
  work: (guest: Guest) => Promise<Result>,
): Promise<Result> {
  return withCartProcess(language, async (source) => {
    const guest = await startProcessGuest(source, { shard: 0, shards: 1 }, () => {});
    try {
      return await work(guest);
    } finally {
      await guest.close();
    }
  });
}

/** Returns what the process holds, once it listens. */
async function reached(address: string): Promise<ProcessSource> {
  const settings = PROCESS_SETTINGS_DEFAULT;
  const connection = { address, service: 'carts', developing: false, settings };
  const untilMs = performance.now() + START_MS_MAX;
  for (;;)
    try {
      return await readProcess(connection);
    } catch (error) {
      if (!(error instanceof ProcessAway) || performance.now() > untilMs) throw error;
      await pause(LOOK_MS);
    }
}
