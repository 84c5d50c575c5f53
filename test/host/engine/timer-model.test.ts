// Random histories of timers and firings (test/support/timer-histories.ts): each occurrence has its effect once, a cancel that
// was stored first wins, no timer is lost, and no other call fails because a firing has lost. A failing history names its
// seed: put it into `SEEDS` to see it again.
import { expect, test } from 'vitest';
import { TimerHistory } from '../../support/timer-histories.ts';

const SEEDS = Array.from({ length: 150 }, (_, index) => index + 1);
const CHANCE = Math.floor(Math.random() * 2 ** 31);
const FRESH = Array.from({ length: 50 }, (_, index) => CHANCE + index);

test.each([
  ['appends fail', 'failed'],
  ['it is unknown of appends whether they are stored, and they settle in any order', 'unknown'],
  ['no append fails, so no call may fail', 'none'],
] as const)(
  'each occurrence has its effect once, and what is stored first wins: %s',
  async (_what, faults) => {
    const ends = new Set<string>();
    for (const seed of [...SEEDS, ...FRESH]) {
      const history = new TimerHistory(seed, faults);
      await history.run();
      expect(history.problems, `seed ${seed}`).toEqual([]);
      for (const end of history.ends.keys()) ends.add(end);
    }
    // Else the histories have shown nothing.
    expect(ends).toEqual(
      new Set([
        'replied',
        'refused',
        'gone',
        'retried',
        'dead',
        ...(faults === 'none' ? [] : ['unavailable']),
      ]),
    );
  },
  60_000,
);
