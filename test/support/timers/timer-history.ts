// TimerHistory: a random history of timers, clock jumps, failures and slow firings, from a seed. It ends in a quiet time in
// which the dispatcher has to settle all that is due.
import { TIMER_SETTINGS_DEFAULT, type TimerSettings } from '../../../host/engine/timer-settings.ts';
import { SimulatedTimers, type Ending } from './simulated-timers.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START_MS = Date.UTC(2026, 2, 27, 12);

export interface HistoryResult {
  readonly violations: readonly string[];
  readonly started: number;
  readonly missed: number;
  readonly failures: number;
}

/** A source of random numbers below a limit, that gives the same ones for the same seed. */
export function randomOf(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

type Pick = <T>(...values: readonly T[]) => T;

function settingsOf(pick: Pick): TimerSettings {
  return {
    ...TIMER_SETTINGS_DEFAULT,
    firesPerSecond: pick(2, 20, 1000),
    inFlight: pick(1, 2, 8, 64),
    attemptsMax: pick(1, 3, 10),
  };
}

/** Runs the history of a seed, in which `spanMs` of virtual time pass. */
export async function runHistory(seed: number, spanMs: number): Promise<HistoryResult> {
  const random = randomOf(seed);
  const pick: Pick = (...values) => values[random(values.length)]!;
  const settings = settingsOf(pick);
  let isQuiet = false;
  const failsOften = pick(true, false);
  const isRemote = pick(true, false);
  const ending = (): Ending =>
    isQuiet || random(failsOften ? 2 : 20) > 0
      ? 'done'
      : pick<Ending>('retry', 'retry', 'dead', 'unavailable', 'rejected');
  const timers = new SimulatedTimers(
    {
      settings,
      next: () => ({
        ending: ending(),
        tookMs: isQuiet ? 1 : pick(0, 1, 5, 50, random(10) === 0 ? 40 * SECOND : 3),
        retryMs: random(20 * SECOND),
      }),
      lateMs: () => pick(0, 0, 1, 15),
      readMs: () => (isRemote && !isQuiet ? pick(0, 2, 4, 30) : 0),
    },
    START_MS,
  );
  const targets = 1 + random(pick(1, 5, 60));
  const numbers: number[] = [];
  const setOne = () => {
    const dueMs = timers.time.nowMs() + pick(-HOUR, -1, 0, 500, random(spanMs), random(MINUTE));
    const schedule = pick(
      undefined,
      undefined,
      { kind: 'every', everyMs: pick(SECOND, 7 * SECOND, MINUTE, HOUR) } as const,
      { kind: 'cron', expression: pick('* * * * *', '30 2 * * *'), zone: 'Europe/Berlin' } as const,
    );
    numbers.push(timers.set({ dueMs, schedule, target: `t${random(targets)}` }));
  };
  timers.dispatcher.start();
  const step = () => timers.noteDue();
  const endMs = timers.time.monotonicMs() + spanMs;
  while (timers.time.monotonicMs() < endMs) {
    const action = random(20);
    if (action < 12 && timers.count < 60) setOne();
    else if (action === 12) timers.time.jump(pick(-DAY, DAY, -HOUR, HOUR, -3 * SECOND, 3 * SECOND));
    else if (action < 15 && numbers.length > 0) timers.cancel(pick(...numbers));
    else if (action === 15) timers.isReadable = random(3) > 0;
    step();
    // oxlint-disable-next-line no-await-in-loop -- an action follows the other
    await timers.time.advance(random(Math.min(spanMs / 20, HOUR)), step);
  }
  isQuiet = true;
  timers.isReadable = true;
  // Recurring timers would never let the quiet time end.
  for (const number of numbers) {
    const timer = timers.stored(number);
    if (timer?.schedule !== undefined && timer.nextMs > timers.time.nowMs()) timers.cancel(number);
  }
  const quietMs = 2 * MINUTE + (numbers.length * SECOND) / settings.firesPerSecond;
  await timers.time.advance(quietMs, step);
  const left = await timers.dispatcher.stop(0);
  return {
    violations: [
      ...timers.violations,
      ...checkEnd(timers, settings),
      ...(left > 0 ? [`${left} firings did not end`] : []),
    ],
    started: timers.started.length,
    missed: timers.started.reduce((sum, { missed }) => sum + missed, 0),
    failures: timers.failures.length,
  };
}

function checkEnd(timers: SimulatedTimers, { firesPerSecond }: TimerSettings): readonly string[] {
  const found: string[] = [];
  // Timers that recur each second are due again at every moment.
  const waiting = timers
    .overdue()
    .filter(
      ({ dueMs, schedule }) => schedule === undefined || timers.time.nowMs() - dueMs > MINUTE,
    );
  for (const { number } of waiting) found.push(`${number} was not fired`);
  const most = timers.mostStartsInSecond();
  if (most > firesPerSecond + Math.max(1, firesPerSecond / 10))
    found.push(`${most} firings started within a second`);
  for (const [number, passed] of timers.passed) {
    const timer = timers.stored(number);
    if (timer?.schedule?.kind !== 'every') continue;
    const expected = (timer.dueMs - timers.firstDueMs(number)) / timer.schedule.everyMs;
    if (passed !== expected)
      found.push(`${number} stood for ${passed} occurrences instead of ${expected}`);
  }
  if (timers.time.sleeper.longestMs > SECOND) found.push('a sleep was longer than a second');
  return found;
}
