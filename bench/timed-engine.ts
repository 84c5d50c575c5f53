// TimedEngine: an engine with the SQLite journal and the dispatcher of its timers, in one thread and without HTTP, and timers
// that are set through `append` as the engine does.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type EntityEngine } from '../host/engine/entity-engine.ts';
import { FIRING_ENDINGS } from '@svc/model/firing-ending';
import type { Journal } from '../host/engine/needs/journal.ts';
import type { TimerToStore } from '../host/engine/needs/timers.ts';
import { TIMER_SETTINGS_DEFAULT } from '../host/engine/timer-settings.ts';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { SharedSeries } from '@svc/model/shared-series';
import { EmbeddedTimers } from '../host/service/embedded-timers.ts';
import { firedCommand } from '../host/service/fired-command.ts';
import { storedTimers } from '../host/service/journal-timers.ts';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';
import { TimerSeries } from '../host/storage/timer-series.ts';
import { systemClock, systemDigest, systemEventLoop, systemRandom } from '../host/system.ts';
import { COMPONENT } from './filled-journal.ts';
import { benchModule } from './service.ts';

/** Number of pending timers of one entity, and of those that one append sets. */
const PENDING_PER_ENTITY = 1_000;
const PER_APPEND = 100;
const APPENDS_AT_ONCE = 200;
const DAY_MS = 86_400_000;

export interface TimedEngine {
  readonly engine: EntityEngine;
  readonly journal: Journal;
  /** Fires due timers from now on, without a limit of its rate. `observed` executes the firings. */
  begin(observed: Pick<EntityEngine, 'fire'>, inFlight: number): void;
}

/** Makes an engine of the counter with an empty journal for `work`, and removes both afterwards. */
export async function withTimedEngine<T>(work: (timed: TimedEngine) => Promise<T>): Promise<T> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const opened = await openSqliteJournal(join(folder, 'data'), { bytesMax: 0 });
  const journal = attachSqliteJournal(opened.connect());
  const guest = await createWasmGuest(readFileSync(module.file), WASM_LIMITS_DEFAULT, () => {});
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    random: systemRandom(),
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });
  let timers: EmbeddedTimers | undefined;
  try {
    return await work({
      engine,
      journal,
      begin(observed, inFlight) {
        const endings = new SharedSeries(FIRING_ENDINGS);
        timers = new EmbeddedTimers({
          timers: storedTimers(opened),
          settings: { ...TIMER_SETTINGS_DEFAULT, firesPerSecond: 1_000_000, inFlight },
          fire: (firing) => firedCommand(observed, firing, endings),
          series: new TimerSeries(),
          report: (reason) => {
            throw new Error(reason);
          },
        });
        timers.begin();
      },
    });
  } finally {
    await timers?.stop(0);
    await engine.close();
    await journal.close();
    await opened.close();
    await guest.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

/** Sets timers that are due in a day, of entities that nobody calls. */
export async function setPending(journal: Journal, pending: number): Promise<void> {
  const appends: (() => Promise<void>)[] = [];
  for (let from = 0; from < pending; from += PER_APPEND) {
    const id = `pending-${Math.floor(from / PENDING_PER_ENTITY)}`;
    const count = Math.min(PER_APPEND, pending - from);
    appends.push(() => setTimers(journal, id, `later-${from}`, count, Date.now() + DAY_MS));
  }
  while (appends.length > 0)
    await Promise.all(appends.splice(0, APPENDS_AT_ONCE).map((append) => append()));
}

/** Sets timers of one entity, whose names begin with `prefix`. */
export function setTimers(
  journal: Journal,
  id: string,
  prefix: string,
  count: number,
  atMs: number,
): Promise<void> {
  const target = { component: COMPONENT, id };
  const changes = Array.from({ length: count }, (_, index): TimerToStore => ({
    kind: 'set',
    name: `${prefix}-${index}`,
    target,
    command: 'add',
    input: '{"amount":1}',
    due: { kind: 'at', atMs },
    attemptsMax: undefined,
    setMs: Date.now(),
    traceParent: undefined,
  }));
  const settled = Promise.withResolvers<void>();
  const beside = { timers: { changes }, isDetached: true };
  journal.append(
    target,
    [],
    (failure) => (failure === undefined ? settled.resolve() : settled.reject(failure)),
    beside,
  );
  return settled.promise;
}
