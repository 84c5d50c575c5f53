// Measurement (p): firing due timers of entities with the dispatcher, while many others are pending, compared with the same
// commands called directly, as in (d).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type EntityEngine } from '../host/engine/entity-engine.ts';
import type { Journal } from '../host/engine/needs/journal.ts';
import type { TimerToStore } from '../host/engine/needs/timers.ts';
import { TIMER_SETTINGS_DEFAULT } from '../host/engine/timer-settings.ts';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { EmbeddedTimers } from '../host/service/embedded-timers.ts';
import { timersInFile } from '../host/service/journal-timers.ts';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';
import { TimerSeries } from '../host/storage/timer-series.ts';
import { systemClock, systemDigest, systemEventLoop, systemRandom } from '../host/system.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';

const COMPONENT = 'counter';
const IN_FLIGHT = 64;
/** Number of entities that are called, as in (d). */
const ENTITIES = 1_000;
/** Number of pending timers of one entity, and of those that one append sets. */
const PENDING_PER_ENTITY = 1_000;
const PER_APPEND = 100;
const APPENDS_AT_ONCE = 200;
const DAY_MS = 86_400_000;
/** Firings of a round for each second of the pace. */
const FIRINGS_PER_SECOND = 10_000;

/** `pending`: number of timers that are due much later. */
export async function measureTimers(pace: Pace, pending: number): Promise<Measurement[]> {
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
  const counted = new CountedFirings(engine);
  const timers = new EmbeddedTimers({
    timers: timersInFile(opened),
    settings: { ...TIMER_SETTINGS_DEFAULT, firesPerSecond: 1_000_000, inFlight: IN_FLIGHT },
    engine: counted,
    series: new TimerSeries(),
    report: (reason) => {
      throw new Error(reason);
    },
  });
  try {
    await setPending(journal, pending);
    timers.begin();
    const count = Math.max(PER_APPEND, Math.round(pace.seconds * FIRINGS_PER_SECOND));
    const figures: { fired: number; called: number }[] = [];
    for (let round = 0; round < pace.rounds; round++)
      figures.push({
        fired: await firedPerSecond(journal, counted, count),
        called: await calledPerSecond(engine, count),
      });
    return [
      {
        letter: 'p',
        what: `due timers fired, ${pending.toLocaleString('en-US')} others pending`,
        svc: median(figures.map(({ fired }) => fired)),
        beside: 'the same commands called',
        other: median(figures.map(({ called }) => called)),
        unit: 'per second',
        ratio: median(figures.map(({ fired, called }) => fired / called)),
        cores: `a thread that fires and decides and one that writes share ${availableParallelism()}`,
      },
    ];
  } finally {
    await timers.stop(0);
    await engine.close();
    await journal.close();
    await opened.close();
    await guest.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

/** An engine whose firings are counted. */
class CountedFirings implements Pick<EntityEngine, 'fire'> {
  readonly #engine: EntityEngine;
  count = 0;
  firstMs = 0;
  #until = { count: Infinity, resolve: () => {} };

  constructor(engine: EntityEngine) {
    this.#engine = engine;
  }

  fire: EntityEngine['fire'] = async (firing) => {
    if (this.count === 0) this.firstMs = performance.now();
    const outcome = await this.#engine.fire(firing);
    if (outcome.kind !== 'replied') throw new Error(`a firing has ended as ${outcome.kind}`);
    if (++this.count === this.#until.count) this.#until.resolve();
    return outcome;
  };

  /** Resolves once this many firings have ended. */
  reached(count: number): Promise<void> {
    this.count = 0;
    return new Promise((resolve) => {
      this.#until = { count, resolve };
    });
  }
}

async function firedPerSecond(
  journal: Journal,
  counted: CountedFirings,
  count: number,
): Promise<number> {
  const fired = counted.reached(count);
  // Far enough ahead for all of them to be set before the first is due.
  const dueMs = Date.now() + 1_000 + count / 10;
  // An entity after the other, as they are called.
  for (let turn = 0; turn < count; turn += ENTITIES)
    await Promise.all(
      Array.from({ length: Math.min(ENTITIES, count - turn) }, (_, index) => {
        const id = `c${((turn + index) * 7919) % ENTITIES}`;
        return set(journal, id, `due-${turn}`, 1, dueMs);
      }),
    );
  await fired;
  return (count * 1_000) / (performance.now() - counted.firstMs);
}

async function calledPerSecond(engine: EntityEngine, count: number): Promise<number> {
  const startedMs = performance.now();
  let turn = 0;
  const worker = async () => {
    while (turn < count) {
      const target = { component: COMPONENT, id: `c${(turn++ * 7919) % ENTITIES}` };
      const answer = await engine.call(target, 'add', '{"amount":1}', []);
      if (answer.kind !== 'reply') throw new Error(answer.message);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (count * 1_000) / (performance.now() - startedMs);
}

async function setPending(journal: Journal, pending: number): Promise<void> {
  const appends: (() => Promise<void>)[] = [];
  for (let from = 0; from < pending; from += PER_APPEND) {
    const id = `pending-${Math.floor(from / PENDING_PER_ENTITY)}`;
    const count = Math.min(PER_APPEND, pending - from);
    appends.push(() => set(journal, id, `later-${from}`, count, Date.now() + DAY_MS));
  }
  while (appends.length > 0)
    await Promise.all(appends.splice(0, APPENDS_AT_ONCE).map((append) => append()));
}

/** Sets timers of one entity, whose names begin with `prefix`. */
function set(
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
