// Measurement (u): how long an event that is on disk takes until its row is stored, too, while events come at a steady rate.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Journal } from '../host/engine/needs/journal.ts';
import { wasmSource } from '../host/hosting/guest-source.ts';
import { admitModule } from '../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import { ViewThreads } from '../host/service/view-threads.ts';
import { SUPERVISOR_LIMITS_DEFAULT } from '../host/shards/supervisor-limits.ts';
import { openFeed } from '../host/storage/follower-connection.ts';
import { SharedView } from '../host/views/shared-view.ts';
import { appendEvents, withJournal } from './filled-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';
import { VIEW_FIXTURE } from './views.ts';

const VIEW = 'counters';
const EVENTS_PER_SECOND = 5_000;
const ENTITIES = 1_000;
const LIVE_MS_MAX = 30_000;

export async function measureViewLag({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const figures: number[] = [];
  const module = await benchModule(VIEW_FIXTURE);
  const source = wasmSource(admitModule(readFileSync(module.file), WASM_LIMITS_DEFAULT));
  await withJournal(join(module.folder, 'data'), async (journal, opened) => {
    const { followerConnection } = opened;
    const threads = new ViewThreads({
      connection: Promise.resolve(followerConnection),
      hosting: { wasm: WASM_LIMITS_DEFAULT },
      limits: VIEW_LIMITS_DEFAULT,
      supervision: SUPERVISOR_LIMITS_DEFAULT,
      env: {},
      log() {},
    });
    const feed = await openFeed(followerConnection);
    try {
      const view = new SharedView(threads.serve(source)![VIEW]);
      if (!(await view.reached(({ state }) => state === 'live', performance.now() + LIVE_MS_MAX)))
        throw new Error('the view is not live');
      const load = new LagLoad(journal, () => feed.end());
      if (warmUpSeconds > 0) await load.p99Ms(view, feed.hasReached.bind(feed), warmUpSeconds);
      for (let round = 0; round < rounds; round++)
        figures.push(await load.p99Ms(view, feed.hasReached.bind(feed), seconds));
    } finally {
      feed.close();
      await threads.stop();
    }
  });
  module.remove();
  return [
    {
      letter: 'u',
      what: `p99 of the time from an event on disk to its row, at ${EVENTS_PER_SECOND.toLocaleString('en-US')} events a second`,
      svc: median(figures),
      beside: 'the aim is 100 ms',
      other: undefined,
      unit: 'ms',
      ratio: undefined,
      cores: `a thread that appends, one that writes and one that folds share ${availableParallelism()}`,
    },
  ];
}

/** Appends events at a steady rate, and measures when their rows are stored. */
class LagLoad {
  readonly #journal: Journal;
  readonly #end: () => string;
  readonly #seqs = new Uint32Array(ENTITIES);

  constructor(journal: Journal, end: () => string) {
    this.#journal = journal;
    this.#end = end;
  }

  async p99Ms(
    view: SharedView,
    hasReached: (position: string, wanted: string) => boolean,
    seconds: number,
  ): Promise<number> {
    /** Events that are on disk, oldest first, and whose rows are not known to be stored. */
    const stored: { position: string; atMs: number }[] = [];
    const lags: number[] = [];
    const appending = this.#append(seconds, () =>
      stored.push({ position: this.#end(), atMs: performance.now() }),
    );
    const progress = { isAppending: true };
    void appending.then(() => (progress.isAppending = false));
    while (progress.isAppending || stored.length > 0) {
      const [first] = stored;
      if (first === undefined) {
        await pause(1);
        continue;
      }
      await view.reached(
        ({ position }) => hasReached(position, first.position),
        performance.now() + LIVE_MS_MAX,
      );
      const nowMs = performance.now();
      const { position } = view;
      while (stored.length > 0 && hasReached(position, stored[0]!.position))
        lags.push(nowMs - stored.shift()!.atMs);
    }
    await appending;
    lags.sort((a, b) => a - b);
    return lags[Math.floor(lags.length * 0.99)]!;
  }

  async #append(seconds: number, onStored: () => void): Promise<void> {
    const count = Math.ceil(seconds * EVENTS_PER_SECOND);
    const startedMs = performance.now();
    const appends: Promise<void>[] = [];
    while (appends.length < count) {
      const due = ((performance.now() - startedMs) / 1_000) * EVENTS_PER_SECOND;
      while (appends.length < Math.min(due, count)) {
        const no = appends.length % ENTITIES;
        const seq = this.#seqs[no]!++;
        appends.push(appendEvents(this.#journal, `c${no}`, seq, 1).then(onStored));
      }
      await pause(1);
    }
    await Promise.all(appends);
  }
}
