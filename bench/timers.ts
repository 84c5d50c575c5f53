// Measurement (p): firing due timers of entities with the dispatcher, while many others are pending, compared with the same
// commands called directly, as in (d). Measurement (v): how late timers are fired while nothing else happens.
import { availableParallelism } from 'node:os';
import type { EntityEngine } from '../host/engine/entity-engine.ts';
import type { Journal } from '../host/engine/needs/journal.ts';
import { COMPONENT } from './filled-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { setPending, setTimers, withTimedEngine } from './timed-engine.ts';

const IN_FLIGHT = 64;
/** Number of entities that are called, as in (d). */
const ENTITIES = 1_000;
/** Fewest firings of a round, and firings for each second of the pace. */
const FIRINGS_MIN = 100;
const FIRINGS_PER_SECOND = 10_000;
/** Times between two timers of (v), in milliseconds, which no period of the dispatcher divides. */
const IDLE_GAPS_MS = [7, 19, 31, 43];
const LATE_AIM_MS = 50;

/** `pending`: number of timers that are due much later. */
export function measureTimers(
  wanted: ReadonlySet<string>,
  pace: Pace,
  pending: number,
): Promise<Measurement[]> {
  return withTimedEngine(async (timed) => {
    const { engine, journal } = timed;
    const observed = new ObservedFirings(engine);
    await setPending(journal, pending);
    timed.begin(observed, IN_FLIGHT);
    const others = `${pending.toLocaleString('en-US')} others pending`;
    const cores = `a thread that fires and decides and one that writes share ${availableParallelism()}`;
    const measured: Measurement[] = [];
    if (wanted.has('p')) {
      const count = Math.max(FIRINGS_MIN, Math.round(pace.seconds * FIRINGS_PER_SECOND));
      const figures: { fired: number; called: number }[] = [];
      for (let round = 0; round < pace.rounds; round++)
        figures.push({
          fired: await firedPerSecond(journal, observed, count),
          called: await calledPerSecond(engine, count),
        });
      measured.push({
        letter: 'p',
        what: `due timers fired, ${others}`,
        svc: median(figures.map(({ fired }) => fired)),
        beside: 'the same commands called',
        other: median(figures.map(({ called }) => called)),
        unit: 'per second',
        ratio: median(figures.map(({ fired, called }) => fired / called)),
        cores,
      });
    }
    if (wanted.has('v')) {
      const latenesses = await idleLatenessesMs(journal, observed, pace.seconds * pace.rounds);
      const at = (share: number) => latenesses[Math.floor((latenesses.length - 1) * share)]!;
      measured.push({
        letter: 'v',
        what: `from the due time of a timer to the answer of its command, 99th percentile of ${latenesses.length}, nothing else happens, ${others}`,
        svc: Math.max(at(0.99), Number.MIN_VALUE),
        beside: `median ${at(0.5).toFixed(1)} ms, longest ${at(1).toFixed(1)} ms; the aim is ${LATE_AIM_MS} ms`,
        other: undefined,
        unit: 'ms',
        ratio: undefined,
        cores,
      });
    }
    return measured;
  });
}

/** An engine whose firings are counted, with the lateness of each. */
class ObservedFirings implements Pick<EntityEngine, 'fire'> {
  readonly #engine: EntityEngine;
  /** From the due time to the answer, in milliseconds. */
  readonly latenessesMs: number[] = [];
  firstMs = 0;
  #until = { count: Infinity, resolve: () => {} };

  constructor(engine: EntityEngine) {
    this.#engine = engine;
  }

  fire: EntityEngine['fire'] = async (firing) => {
    if (this.firstMs === 0) this.firstMs = performance.now();
    const outcome = await this.#engine.fire(firing);
    if (outcome.kind !== 'replied') throw new Error(`a firing has ended as ${outcome.kind}`);
    this.latenessesMs.push(performance.timeOrigin + performance.now() - firing.dueMs);
    if (this.latenessesMs.length === this.#until.count) this.#until.resolve();
    return outcome;
  };

  /** Resolves once this many firings have ended. */
  reached(count: number): Promise<void> {
    this.latenessesMs.length = 0;
    this.firstMs = 0;
    return new Promise((resolve) => {
      this.#until = { count, resolve };
    });
  }
}

async function firedPerSecond(
  journal: Journal,
  observed: ObservedFirings,
  count: number,
): Promise<number> {
  const fired = observed.reached(count);
  // Far enough ahead for all of them to be set before the first is due.
  const dueMs = Date.now() + 1_000 + count / 10;
  // They are due in the order in which the entities are called.
  for (let turn = 0; turn < count; turn += ENTITIES)
    await Promise.all(
      Array.from({ length: Math.min(ENTITIES, count - turn) }, (_, index) =>
        setTimers(journal, entityOfTurn(turn + index), `due-${turn}`, 1, dueMs),
      ),
    );
  await fired;
  return (count * 1_000) / (performance.now() - observed.firstMs);
}

async function calledPerSecond(engine: EntityEngine, count: number): Promise<number> {
  const startedMs = performance.now();
  let turn = 0;
  const worker = async () => {
    while (turn < count) {
      const target = { component: COMPONENT, id: entityOfTurn(turn++) };
      const answer = await engine.call(target, 'add', '{"amount":1}', []);
      if (answer.kind !== 'reply') throw new Error(answer.message);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (count * 1_000) / (performance.now() - startedMs);
}

/** Returns how late timers are that are due one after the other during some seconds, in order of size. */
async function idleLatenessesMs(
  journal: Journal,
  observed: ObservedFirings,
  seconds: number,
): Promise<readonly number[]> {
  const startMs = Date.now() + 500;
  const dueTimes: number[] = [];
  for (let dueMs = startMs; dueMs < startMs + seconds * 1_000;) {
    dueTimes.push(dueMs);
    dueMs += IDLE_GAPS_MS[dueTimes.length % IDLE_GAPS_MS.length]!;
  }
  const fired = observed.reached(dueTimes.length);
  await Promise.all(
    dueTimes.map((dueMs, turn) => setTimers(journal, entityOfTurn(turn), `idle-${turn}`, 1, dueMs)),
  );
  await fired;
  return observed.latenessesMs.toSorted((a, b) => a - b);
}

function entityOfTurn(turn: number): string {
  return `c${(turn * 7919) % ENTITIES}`;
}
