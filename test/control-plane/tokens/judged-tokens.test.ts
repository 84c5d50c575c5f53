// Which tokens are remembered, and for how long.
import { expect, test } from 'vitest';
import { JudgedTokens, type JudgedToken } from '../../../control-plane/tokens/judged-tokens.ts';
import { ManualClock } from './judge-under-test.ts';

function judged(clock: ManualClock, lifetimeMs = 3_600_000): JudgedToken {
  return {
    caller: { subject: 'ada', emailVerified: false, platformAdmin: false },
    hint: { alg: 'ES256' },
    key: {} as JudgedToken['key'],
    expiresMs: clock.nowMs() + lifetimeMs,
  };
}

test('a token is remembered for a minute at most', () => {
  const clock = new ManualClock();
  const tokens = new JudgedTokens(clock, 10);
  const ada = judged(clock);
  tokens.remember('a', ada);
  clock.advance(59_999);
  expect(tokens.find('a')).toBe(ada);
  // Finding it does not prolong it.
  clock.advance(1);
  expect(tokens.find('a')).toBeUndefined();
  expect(tokens.size).toBe(0);
});

test('a token is not remembered past its expiry', () => {
  const clock = new ManualClock();
  const tokens = new JudgedTokens(clock, 10);
  tokens.remember('a', judged(clock, 10_000));
  clock.advance(9999);
  expect(tokens.find('a')).toBeDefined();
  clock.advance(1);
  expect(tokens.find('a')).toBeUndefined();
});

test('the token that was judged first gives way', () => {
  const clock = new ManualClock();
  const tokens = new JudgedTokens(clock, 2);
  for (const token of ['a', 'b', 'a', 'c']) tokens.remember(token, judged(clock));
  expect(['a', 'b', 'c'].filter((token) => tokens.find(token) !== undefined)).toEqual(['a', 'c']);
  expect(tokens.size).toBe(2);
  tokens.forget('a');
  expect(tokens.find('a')).toBeUndefined();
});

test('nothing is remembered with a limit of 0', () => {
  const clock = new ManualClock();
  const tokens = new JudgedTokens(clock, 0);
  tokens.remember('a', judged(clock));
  expect(tokens.size).toBe(0);
});
