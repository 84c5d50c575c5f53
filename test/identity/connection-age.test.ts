import { expect, test } from 'vitest';
import { CONNECTION_AGE, connectionTerm, hasToClose } from '../../identity/connection-age.ts';

const MINUTE_MS = 60_000;
const NO_REMOVAL = { authorityRemovedIn: 0 };

test.each([
  [0, 27],
  [0.5, 30],
  [1, 33],
])('with the random number %d a connection closes after %i minutes', (random, minutes) => {
  const term = connectionTerm(1, 1000, random);
  const endMs = 1000 + minutes * MINUTE_MS;
  expect(hasToClose(term, NO_REMOVAL, endMs - 1)).toBe(false);
  expect(hasToClose(term, NO_REMOVAL, endMs)).toBe(true);
});

test('a connection that began before an authority was removed closes, one that began with or after that does not', () => {
  const close = [2, 3, 4].map((generation) =>
    hasToClose(connectionTerm(generation, 0, 0), { authorityRemovedIn: 3 }, 1),
  );
  expect(close).toEqual([true, false, false]);
});

test('the age is an argument', () => {
  const term = connectionTerm(1, 0, 0.9, { ...CONNECTION_AGE, ageMs: 100, spread: 0 });
  expect(term).toEqual({ generation: 1, closesAtMs: 100 });
});
