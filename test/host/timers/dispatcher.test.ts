// The dispatcher on a virtual clock: when firings start, in which order, within which limits, and what failures cost.
// dispatcher.long.test.ts runs thousands of random histories, of which a few run here.
import { describe, expect, test } from 'vitest';
import { TIMER_SETTINGS_DEFAULT, type TimerSettings } from '../../../host/engine/timer-settings.ts';
import { SimulatedTimers, type Ending } from '../../support/timers/simulated-timers.ts';
import { runHistory } from '../../support/timers/timer-history.ts';

const NOW = Date.UTC(2026, 4, 1, 9);
const DAY = 86_400_000;

interface Options {
  readonly settings?: Partial<TimerSettings>;
  readonly ending?: (start: number) => Ending;
  readonly tookMs?: number;
  readonly readMs?: () => number;
  readonly inputMs?: number;
}

/** Starts a dispatcher whose firings all end in the same way, or as `ending` says of the first, the second and so on. */
function started({ settings, ending = () => 'done', tookMs = 1, ...source }: Options = {}) {
  let starts = 0;
  const timers = new SimulatedTimers(
    {
      settings: { ...TIMER_SETTINGS_DEFAULT, ...settings },
      next: () => ({ ending: ending(starts++), tookMs, retryMs: 1000 }),
      lateMs: () => 0,
      ...source,
    },
    NOW,
  );
  timers.dispatcher.start();
  return timers;
}

const targetsOf = (timers: SimulatedTimers) => timers.started.map(({ target }) => target.id);
const once = (dueMs: number, target: string) => ({ dueMs, target, schedule: undefined });
const everyMinute = { kind: 'every', everyMs: 60_000 } as const;

describe('a due timer', () => {
  test('is fired at its time, and not a millisecond before', async () => {
    const timers = started();
    timers.set(once(NOW + 90_000, 'a'));
    await timers.time.advance(89_999);
    expect(timers.started).toEqual([]);
    await timers.time.advance(1);
    expect(targetsOf(timers)).toEqual(['a']);
    await timers.time.advance(DAY / 24);
    expect(timers.started).toHaveLength(1);
    expect(timers.time.sleeper.longestMs).toBe(1000);
  });

  test('is fired at once when it is set after its time', async () => {
    const timers = started();
    await timers.time.advance(300);
    timers.set(once(NOW - DAY, 'a'));
    await timers.time.advance(1);
    expect(targetsOf(timers)).toEqual(['a']);
  });

  test('carries what its execution needs', async () => {
    const timers = started();
    const number = timers.set({ dueMs: NOW - 150_000, target: 'a', schedule: everyMinute });
    await timers.time.advance(1);
    expect(timers.started).toEqual([
      {
        number,
        target: { component: 'account', id: 'a' },
        command: 'remind',
        input: '{}',
        dueMs: NOW - 150_000,
        attempts: 0,
        traceParent: undefined,
        rearmMs: NOW + 30_000,
        missed: 2,
      },
    ]);
  });

  test('is noticed within a second when the clock goes forward, and waits when it goes back', async () => {
    const timers = started();
    timers.set(once(NOW + DAY, 'a'));
    timers.set(once(NOW + DAY + 10_000, 'b'));
    await timers.time.advance(5000);
    timers.time.jump(DAY);
    await timers.time.advance(1000);
    expect(targetsOf(timers)).toEqual(['a']);
    timers.time.jump(-DAY);
    await timers.time.advance(10_000);
    expect(targetsOf(timers)).toEqual(['a']);
    timers.set(once(NOW + 20_000, 'c'));
    await timers.time.advance(10_000);
    expect(targetsOf(timers)).toEqual(['a', 'c']);
  });
});

describe('overdue timers', () => {
  test('start in the order of their due times, at the rate of the setting', async () => {
    const timers = started({ settings: { firesPerSecond: 10 } });
    for (let index = 0; index < 40; index += 1) timers.set(once(NOW - index * 1000, `t${index}`));
    await timers.time.advance(2000);
    expect(targetsOf(timers)).toEqual(Array.from({ length: 21 }, (_, index) => `t${39 - index}`));
    await timers.time.advance(2000);
    expect(timers.started).toHaveLength(40);
    expect(timers.mostStartsInSecond()).toBeLessThanOrEqual(11);
  });

  test('are executed up to the limit of those in flight, one at a time for each target', async () => {
    const timers = started({ settings: { inFlight: 3 }, tookMs: 100 });
    for (const target of ['a', 'a', 'b', 'a', 'c', 'd']) timers.set(once(NOW - 1, target));
    await timers.time.advance(50);
    expect(targetsOf(timers)).toEqual(['a', 'b', 'c']);
    expect(timers.dispatcher.inFlight).toBe(3);
    await timers.time.advance(100);
    expect(targetsOf(timers)).toEqual(['a', 'b', 'c', 'a', 'd']);
    await timers.time.advance(100);
    expect(targetsOf(timers)).toEqual(['a', 'b', 'c', 'a', 'd', 'a']);
    expect(timers.violations).toEqual([]);
  });

  test('of one target, 5,000 of them, neither stop another target nor wait for it', async () => {
    const timers = started({ tookMs: 2 });
    for (let index = 0; index < 5000; index += 1) timers.set(once(NOW - DAY + index, 'busy'));
    timers.set(once(NOW - 1, 'other'));
    await timers.time.advance(1000);
    expect(targetsOf(timers)).toContain('other');
    const reads = timers.reads;
    await timers.time.advance(5000);
    const fired = timers.started.filter(({ target }) => target.id === 'busy');
    expect(fired.length).toBeGreaterThan(1900);
    expect(fired.map(({ dueMs }) => dueMs)).toEqual(fired.map((_, index) => NOW - DAY + index));
    // The sweeps over the backlog, of 20 pages each, rest in between.
    expect(timers.reads - reads).toBeLessThan(5 * 30);
    expect(timers.violations).toEqual([]);
  });

  test('of a recurring timer become one firing, and the next one is on the grid', async () => {
    const timers = started();
    timers.set({ dueMs: NOW - DAY, target: 'a', schedule: everyMinute });
    await timers.time.advance(130_000);
    expect(timers.started.map(({ dueMs, missed }) => [dueMs - NOW, missed])).toEqual([
      [-DAY, 1440],
      [60_000, 0],
      [120_000, 0],
    ]);
  });
});

describe('a firing that the runtime cannot execute', () => {
  test.each<Ending>(['unavailable', 'moved'])(
    'and is %s costs no attempt, and is tried again after pauses that double',
    async (ending) => {
      const timers = started({
        settings: { unavailablePauseMs: 2000, unavailablePauseMaxMs: 8000 },
        ending: (start) => (start < 5 ? ending : 'done'),
        tookMs: 0,
      });
      timers.set(once(NOW, 'a'));
      await timers.time.advance(40_000);
      const pauses = timers.startsMs.slice(1).map((ms, index) => ms - timers.startsMs[index]!);
      expect(timers.started.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0, 0]);
      for (const [index, least] of [2000, 4000, 8000, 8000, 8000].entries()) {
        expect(pauses[index]).toBeGreaterThanOrEqual(least);
        expect(pauses[index]).toBeLessThan(least + 2000);
      }
      expect(timers.settled.size).toBe(1);
    },
  );

  test('does not stop other targets, and a rejection is reported', async () => {
    const timers = started({ ending: (start) => (start === 0 ? 'rejected' : 'done') });
    timers.set(once(NOW - 2, 'a'));
    timers.set(once(NOW - 1, 'b'));
    await timers.time.advance(50);
    expect(targetsOf(timers)).toEqual(['a', 'b']);
    expect(timers.failures.map(String)).toEqual(['Error: The link was lost.']);
    expect(timers.failures).toHaveLength(1);
    await timers.time.advance(3000);
    expect(targetsOf(timers)).toEqual(['a', 'b', 'a']);
  });
});

test('a timer whose schedule cannot be evaluated is dead, and other timers of its target are fired', async () => {
  const timers = started();
  const schedule = { kind: 'cron', expression: '* * * * *', zone: 'Europe/Atlantis' } as const;
  const number = timers.set({ dueMs: NOW, target: 'a', schedule });
  timers.set(once(NOW + 1, 'a'));
  await timers.time.advance(50);
  expect(targetsOf(timers)).toEqual(['a', 'a']);
  expect(timers.dead.get(number)).toMatch(
    /^the schedule of the timer cannot be evaluated: .*Atlantis/,
  );
  expect([timers.count, timers.failures]).toEqual([0, []]);
});

describe('a long input', () => {
  const input = JSON.stringify('x'.repeat(1000));

  test('is read when its timer is fired', async () => {
    const timers = started();
    timers.input = input;
    timers.set(once(NOW, 'a'));
    await timers.time.advance(1);
    expect(timers.started).toMatchObject([{ input }]);
  });

  test('that is damaged or gone fires nothing, and holds nothing back', async () => {
    const timers = started();
    timers.input = input;
    const number = timers.set(once(NOW, 'a'));
    timers.input = '{}';
    timers.set(once(NOW + 1, 'a'));
    timers.unreadable.add(number);
    await timers.time.advance(50);
    expect(timers.started.map(({ dueMs }) => dueMs)).toEqual([NOW + 1]);
    timers.unreadable.clear();
    timers.input = input;
    await timers.time.advance(2000);
    expect(timers.started.map(({ dueMs }) => dueMs)).toEqual([NOW + 1, NOW]);
  });
});

test('a failed read of the journal is reported, and tried again within a second', async () => {
  const timers = started();
  timers.isReadable = false;
  timers.set(once(NOW, 'a'));
  await timers.time.advance(3000);
  expect(timers.started).toEqual([]);
  expect(timers.failures.length).toBeGreaterThan(1);
  expect(timers.failures.length).toBeLessThan(6);
  timers.isReadable = true;
  await timers.time.advance(1000);
  expect(targetsOf(timers)).toEqual(['a']);
});

describe('a stop', () => {
  test('starts nothing more, and waits for the firings in flight', async () => {
    const timers = started({ tookMs: 500 });
    timers.set(once(NOW, 'a'));
    await timers.time.advance(10);
    const stopped = timers.dispatcher.stop(10_000);
    timers.set(once(NOW, 'b'));
    await timers.time.advance(1000);
    expect(await stopped).toBe(0);
    expect(timers.settled.size).toBe(1);
    expect(targetsOf(timers)).toEqual(['a']);
  });

  test('waits no longer than it is allowed to, and says how many firings are left', async () => {
    const timers = started({ tookMs: 60_000 });
    timers.set(once(NOW, 'a'));
    timers.set(once(NOW, 'b'));
    await timers.time.advance(10);
    const stopped = timers.dispatcher.stop(2000);
    await timers.time.advance(2001);
    expect(await stopped).toBe(2);
  });

  test('counts the time that a blocked event loop takes to end the present sleep', async () => {
    const timers = started({ tookMs: 60_000 });
    timers.set(once(NOW, 'a'));
    await timers.time.advance(10);
    timers.time.sleeper.interrupt = () => {};
    let left: number | undefined;
    void timers.dispatcher.stop(2000).then((firings) => (left = firings));
    await timers.time.advance(2001);
    expect(left).toBe(1);
  });

  test('waits for a page that is being read no longer than it is allowed to, and starts none of its timers', async () => {
    const timers = started({ readMs: () => 60_000 });
    timers.set(once(NOW, 'a'));
    await timers.time.advance(10);
    let left: number | undefined;
    void timers.dispatcher.stop(2000).then((firings) => (left = firings));
    await timers.time.advance(1999);
    expect(left).toBeUndefined();
    await timers.time.advance(2);
    expect(left).toBe(0);
    timers.isReadable = false;
    await timers.time.advance(60_000);
    expect([timers.started, timers.failures]).toEqual([[], []]);
  });

  test('ends with the page that is being read', async () => {
    const timers = started({ readMs: () => 500 });
    timers.set(once(NOW, 'a'));
    await timers.time.advance(10);
    const stopped = timers.dispatcher.stop(1_000_000);
    await timers.time.advance(1000);
    expect(await stopped).toBe(0);
    expect(timers.started).toEqual([]);
  });

  test('starts no firing whose input is read only later', async () => {
    const timers = started({ inputMs: 500 });
    timers.input = JSON.stringify('x'.repeat(1000));
    timers.set(once(NOW, 'a'));
    await timers.time.advance(10);
    const stopped = timers.dispatcher.stop(2000);
    await timers.time.advance(1000);
    expect(await stopped).toBe(0);
    expect([timers.started, timers.count]).toEqual([[], 1]);
  });

  test('may come before the start', async () => {
    const timers = started();
    expect(await timers.dispatcher.stop(0)).toBe(0);
  });
});

test('nobody wakes the dispatcher while nothing is due, and it reads once a second', async () => {
  const timers = started();
  timers.set(once(NOW + DAY, 'a'));
  await timers.time.advance(100_000);
  expect(timers.reads).toBeLessThan(105);
});

test.each(Array.from({ length: 30 }, (_, index) => index + 1))(
  'the history of seed %i keeps every promise',
  async (seed) => {
    const { violations } = await runHistory(seed, 300_000);
    expect(violations).toEqual([]);
  },
);
