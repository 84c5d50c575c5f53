// In which order the programs of one machine start, start again and end; also over random histories.
import { expect, test } from 'vitest';
import {
  type SupervisedProgram,
  Supervision,
  SUPERVISION_LIMITS,
  type SupervisionEffect,
} from '../../../cli/one-machine/supervision.ts';
import { Random } from '../../support/random.ts';

const PROGRAMS: readonly SupervisedProgram[] = [
  { name: 'login' },
  { name: 'plane' },
  { name: 'gateway', after: 'plane' },
];
const { restartPauseMs, stableMs, stopTimeoutMs, restartPauseMaxMs } = SUPERVISION_LIMITS;
const start = (name: string) => ({ kind: 'start', name });
const signal = (name: string, sent = 'SIGTERM') => ({ kind: 'signal', name, signal: sent });

function started(): Supervision {
  const supervision = new Supervision(PROGRAMS);
  supervision.start();
  for (const { name } of PROGRAMS) supervision.ready(name, 0);
  return supervision;
}

test('a program that needs another one starts once that is ready, and all are ready once', () => {
  const supervision = new Supervision(PROGRAMS);
  expect(supervision.start()).toEqual([start('login'), start('plane')]);
  expect(supervision.ready('login', 1)).toEqual([]);
  expect(supervision.ready('plane', 2)).toEqual([start('gateway')]);
  expect(supervision.ready('gateway', 3)).toEqual([{ kind: 'all-ready' }]);
  supervision.ended('gateway', 4);
  supervision.advance(4 + restartPauseMs);
  expect(supervision.ready('gateway', 200)).toEqual([]);
});

test('a program that ends is started again after a pause, which doubles up to a bound', () => {
  const supervision = started();
  let nowMs = 0;
  const pauses: number[] = [];
  for (let count = 0; count < 12; count++) {
    expect(supervision.ended('gateway', nowMs)).toEqual([]);
    const dueMs = supervision.dueMs!;
    pauses.push(dueMs - nowMs);
    expect(supervision.advance(dueMs - 1)).toEqual([]);
    expect(supervision.advance(dueMs)).toEqual([start('gateway')]);
    nowMs = dueMs + 1;
  }
  expect(pauses.slice(0, 3)).toEqual([restartPauseMs, 2 * restartPauseMs, 4 * restartPauseMs]);
  expect(pauses.at(-1)).toBe(restartPauseMaxMs);
  supervision.ready('gateway', nowMs);
  supervision.ended('gateway', nowMs + stableMs);
  expect(supervision.dueMs).toBe(nowMs + stableMs + restartPauseMs);
});

test('a program that ends well, however often, is started again after the shortest pause', () => {
  const supervision = started();
  let nowMs = 0;
  for (let count = 0; count < 12; count++) {
    supervision.ended('gateway', nowMs, true);
    expect(supervision.dueMs! - nowMs).toBe(restartPauseMs);
    nowMs = supervision.dueMs!;
    expect(supervision.advance(nowMs)).toEqual([start('gateway')]);
    supervision.ready('gateway', nowMs);
  }
});

test('a program that ends well before it is ready is one that fails', () => {
  const supervision = started();
  supervision.ended('gateway', 0, true);
  supervision.advance(supervision.dueMs!);
  const nowMs = 1_000;
  supervision.ended('gateway', nowMs, true);
  expect(supervision.dueMs).toBe(nowMs + 2 * restartPauseMs);
});

test('a program that was never ready is given up after some starts, and all others are ended', () => {
  const supervision = new Supervision(PROGRAMS);
  supervision.start();
  supervision.ready('login', 0);
  for (const nowMs of [0, 1000]) {
    expect(supervision.ended('plane', nowMs)).toEqual([]);
    expect(supervision.advance(supervision.dueMs!)).toEqual([start('plane')]);
  }
  expect(supervision.ended('plane', 2000)).toEqual([
    { kind: 'broken', name: 'plane' },
    signal('login'),
  ]);
  expect(supervision.ended('login', 2001)).toEqual([{ kind: 'stopped' }]);
});

test('programs end one after the other, the last one first, and one that does not end is killed', () => {
  const supervision = started();
  expect(supervision.stop(0)).toEqual([signal('gateway')]);
  expect(supervision.stop(1)).toEqual([]);
  expect(supervision.ended('gateway', 10)).toEqual([signal('plane')]);
  expect(supervision.advance(10 + stopTimeoutMs)).toEqual([signal('plane', 'SIGKILL')]);
  expect(supervision.ended('plane', 20_000)).toEqual([signal('login')]);
  expect(supervision.ended('login', 20_001)).toEqual([{ kind: 'stopped' }]);
});

test('a program that waits for its next start is not started by a stop', () => {
  const supervision = started();
  supervision.ended('gateway', 0);
  expect(supervision.stop(1)).toEqual([signal('plane')]);
  expect(supervision.advance(restartPauseMaxMs)).toEqual([signal('plane', 'SIGKILL')]);
});

/** A supervision whose programs start, become ready and end at random; it notes what must never happen. */
class RandomHistory {
  readonly complaints: string[] = [];
  readonly #supervision = new Supervision(PROGRAMS);
  readonly #running = new Set<string>();
  readonly #random: Random;
  #nowMs = 0;
  #isStopping = false;
  #isStopped = false;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#follow(this.#supervision.start());
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) if (!this.#isStopped) this.#step();
    this.#stop();
    for (const { name } of PROGRAMS.toReversed()) this.#end(name);
    if (!this.#isStopped || this.#running.size > 0) this.complaints.push('a stop left something');
  }

  #step(): void {
    this.#nowMs += this.#random.below(2000);
    const { name } = PROGRAMS[this.#random.below(PROGRAMS.length)]!;
    const event = this.#random.below(8);
    if (event === 0) this.#stop();
    else if (event < 4) this.#follow(this.#supervision.advance(this.#nowMs));
    else if (event > 5) this.#end(name);
    else if (this.#running.has(name)) this.#follow(this.#supervision.ready(name, this.#nowMs));
  }

  #stop(): void {
    this.#isStopping = true;
    this.#follow(this.#supervision.stop(this.#nowMs));
  }

  #end(name: string): void {
    if (this.#running.delete(name)) this.#follow(this.#supervision.ended(name, this.#nowMs));
  }

  #follow(effects: readonly SupervisionEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'broken') this.#isStopping = true;
      if (effect.kind === 'stopped') this.#isStopped = true;
      if (effect.kind === 'signal' && !this.#running.has(effect.name))
        this.complaints.push('a signal to a program that does not run');
      if (effect.kind !== 'start') continue;
      if (this.#isStopping) this.complaints.push('a start during a stop');
      if (this.#running.has(effect.name)) this.complaints.push('a program started twice');
      this.#running.add(effect.name);
    }
  }
}

test('over random histories no program runs twice, none starts during a stop, and a stop ends all', () => {
  for (let seed = 0; seed < 500; seed++) {
    const history = new RandomHistory(seed);
    history.run(100);
    expect(history.complaints).toEqual([]);
  }
});
