// Measurements (q), (q2): how many events per second the building of a view folds, with one index, compared with the same
// guest folding events into a state, without a journal, as in (m). In (q) the events of a key follow one another; in (q2)
// they are of keys at random.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Guest } from '@svc/model/guest';
import type { Journal } from '../host/engine/needs/journal.ts';
import { type WasmSource, wasmSource } from '../host/hosting/guest-source.ts';
import { admitModule } from '../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import {
  type FollowerConnection,
  openFeed,
  openViews,
} from '../host/storage/follower-connection.ts';
import { viewsFolder } from '../host/storage/views/view-file.ts';
import { PolitePace, threadPaceClock } from '../host/views/polite-pace.ts';
import { SharedBuilding } from '../host/views/shared-building.ts';
import { declaredViews } from '../host/views/view-definitions.ts';
import { ViewFollower } from '../host/views/view-follower.ts';
import { appendAtRandom, appendToAll, withJournal } from './filled-journal.ts';
import { foldedPerSecond } from './replay.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';

export const VIEW_FIXTURE = 'counter-list';
export const EVENTS_PER_KEY = 10;
/** A building takes as long as the journal is; more rounds would take minutes. */
const BUILDINGS_MAX = 3;

const SCENARIOS = [
  { letter: 'q', keys: '10 events of a key in a row', fill: appendToAll },
  {
    letter: 'q2',
    keys: 'keys at random',
    fill: (journal: Journal, keys: number, _after: number, events: number) =>
      appendAtRandom(journal, keys, keys * events),
  },
] as const;

export async function measureViews(
  wanted: ReadonlySet<string>,
  pace: Pace,
  events: number,
): Promise<Measurement[]> {
  const module = await benchModule(VIEW_FIXTURE);
  const measurements: Measurement[] = [];
  try {
    const source = wasmSource(admitModule(readFileSync(module.file), WASM_LIMITS_DEFAULT));
    for (const { letter, keys, fill } of SCENARIOS)
      if (wanted.has(letter)) {
        const keyCount = Math.ceil(events / EVENTS_PER_KEY);
        const what = `building of a view: ${(keyCount * EVENTS_PER_KEY).toLocaleString('en-US')} events of ${keyCount.toLocaleString('en-US')} keys, ${keys}, one index`;
        const building = {
          letter,
          what,
          fill: (journal: Journal) => fill(journal, keyCount, 0, EVENTS_PER_KEY),
        };
        measurements.push(await measureBuilding(building, source, pace));
      }
    return measurements;
  } finally {
    module.remove();
  }
}

interface Building {
  readonly letter: string;
  readonly what: string;
  readonly fill: (journal: Journal) => Promise<void>;
}

async function measureBuilding(
  { letter, what, fill }: Building,
  source: WasmSource,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement> {
  const figures: { built: number; folded: number }[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    await withJournal(join(folder, 'data'), async (journal, opened) => {
      await fill(journal);
      const guest = startWasmGuest(source.module, WASM_LIMITS_DEFAULT, () => {});
      try {
        await foldedPerSecond(guest, warmUpSeconds);
        for (let round = 0; round < Math.min(rounds, BUILDINGS_MAX); round++)
          figures.push({
            built: await builtPerSecond(opened.followerConnection, source, guest),
            folded: await foldedPerSecond(guest, seconds),
          });
      } finally {
        await guest.close();
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    letter,
    what,
    svc: median(figures.map(({ built }) => built)),
    beside: 'the guest alone, with nothing to read, as in (m)',
    other: median(figures.map(({ folded }) => folded)),
    unit: 'per second',
    ratio: median(figures.map(({ built, folded }) => built / folded)),
    cores: '1',
  };
}

/** Builds the rows from nothing, indexes included, and returns the events per second. */
async function builtPerSecond(
  connection: Extract<FollowerConnection, { kind: 'sqlite' }>,
  source: WasmSource,
  guest: Guest,
): Promise<number> {
  rmSync(viewsFolder(connection.dir), { recursive: true, force: true });
  const [view] = declaredViews(source.descriptor, source.fingerprint);
  const feed = await openFeed(connection);
  const startedMs = performance.now();
  const follower = await ViewFollower.open({
    view: view!.folded,
    guest: guest.views!,
    feed,
    store: await openViews(connection, VIEW_LIMITS_DEFAULT),
    limits: VIEW_LIMITS_DEFAULT,
    building: new SharedBuilding(feed, new PolitePace(threadPaceClock)),
    observer: { folded() {}, building() {}, live() {} },
  });
  try {
    await follower.build(new AbortController().signal);
    return (feed.count(feed.start, feed.end()) * 1_000) / (performance.now() - startedMs);
  } finally {
    follower.close();
    feed.close();
  }
}
