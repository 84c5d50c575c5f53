// The lines that a module logged before a fault, as far as the fault keeps them.
import { expect, test } from 'vitest';
import { lastLogLines } from '../../model/last-log-lines.ts';

test('the last 20 lines are kept, the oldest first', () => {
  const lines = Array.from({ length: 1_000 }, (_, number) => `line ${number}`);
  expect(lastLogLines(lines)).toEqual(lines.slice(980));
  expect(lastLogLines(['a', '', 'b'])).toEqual(['a', '', 'b']);
  expect(lastLogLines([])).toBeUndefined();
});

test('a line that leaves the 2,000 characters is cut, and those before it are left out', () => {
  const kept = lastLogLines(['x', 'y'.repeat(1_500), 'z'.repeat(600)])!;
  expect(kept).toEqual([`${'y'.repeat(1_399)}…`, 'z'.repeat(600)]);
  const most = lastLogLines(Array.from({ length: 20 }, () => 'x'.repeat(16_384)))!;
  expect(most).toEqual([`${'x'.repeat(1_999)}…`]);
});
