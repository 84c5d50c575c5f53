// TokenCache: which tokens are kept, and for how long.
import { expect, test } from 'vitest';
import { TokenCache } from '../../tokens/token-cache.ts';
import { VirtualClock } from '../../host/testing.ts';

function verified(clock: VirtualClock, lifetimeMs = 3_600_000) {
  return { expiresMs: clock.nowMs() + lifetimeMs };
}

test('a token is kept for a minute at most', async () => {
  const clock = new VirtualClock();
  const tokens = new TokenCache(clock, 10);
  const ada = verified(clock);
  tokens.set('a', ada);
  await clock.advance(59_999);
  expect(tokens.find('a')).toBe(ada);
  // Finding it does not prolong it.
  await clock.advance(1);
  expect(tokens.find('a')).toBeUndefined();
  expect(tokens.size).toBe(0);
});

test('a token is not kept past its expiry', async () => {
  const clock = new VirtualClock();
  const tokens = new TokenCache(clock, 10);
  tokens.set('a', verified(clock, 10_000));
  await clock.advance(9999);
  expect(tokens.find('a')).toBeDefined();
  await clock.advance(1);
  expect(tokens.find('a')).toBeUndefined();
});

test('the token that was verified first gives way', () => {
  const clock = new VirtualClock();
  const tokens = new TokenCache(clock, 2);
  for (const token of ['a', 'b', 'a', 'c']) tokens.set(token, verified(clock));
  expect(['a', 'b', 'c'].filter((token) => tokens.find(token) !== undefined)).toEqual(['a', 'c']);
  expect(tokens.size).toBe(2);
  tokens.delete('a');
  expect(tokens.find('a')).toBeUndefined();
});

test('nothing is kept with a limit of 0', () => {
  const clock = new VirtualClock();
  const tokens = new TokenCache(clock, 0);
  tokens.set('a', verified(clock));
  expect(tokens.size).toBe(0);
});
