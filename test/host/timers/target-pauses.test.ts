// The pauses of targets: they double up to a limit, end with a success, and take bounded memory.
import { expect, test } from 'vitest';
import { TargetPauses } from '../../../host/timers/target-pauses.ts';

const SETTINGS = { unavailablePauseMs: 100, unavailablePauseMaxMs: 350 };

test('the pauses of a target double up to the limit, and start anew once it is forgotten', () => {
  const pauses = new TargetPauses(SETTINGS);
  for (const pauseMs of [100, 200, 350, 350]) {
    pauses.begin('a', 1000);
    expect(pauses.isPaused('a', 1000 + pauseMs - 1)).toBe(true);
    expect(pauses.isPaused('a', 1000 + pauseMs)).toBe(false);
    expect(pauses.isPaused('b', 1000)).toBe(false);
  }
  pauses.forget('a');
  expect(pauses.isPaused('a', 1000)).toBe(false);
  pauses.begin('a', 1000);
  expect(pauses.isPaused('a', 1100)).toBe(false);
});

test('10,000 targets are remembered, and the pause that was set first is forgotten', () => {
  const pauses = new TargetPauses(SETTINGS);
  pauses.begin('first', 0);
  pauses.begin('second', 0);
  pauses.begin('first', 0);
  for (let index = 0; index < 9998; index += 1) pauses.begin(`t${index}`, 0);
  expect(pauses.isPaused('second', 50)).toBe(true);
  pauses.begin('one more', 0);
  expect(pauses.isPaused('second', 50)).toBe(false);
  expect(pauses.isPaused('first', 50)).toBe(true);
  expect(pauses.isPaused('one more', 50)).toBe(true);
});
