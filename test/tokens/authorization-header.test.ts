// The bearer token of a request, and the challenge of an answer 401.
import { expect, test } from 'vitest';
import { bearerToken, challengeOf } from '../../tokens/authorization-header.ts';
import { refusedFor, TOKEN_FAULTS } from '../../tokens/token-fault.ts';

test.each(['Bearer a.b.c', 'bearer a.b.c', 'bEaReR   a.b.c', ' \tBearer a.b.c \t'])(
  'a token is found in %j',
  (value) => {
    expect(bearerToken([value])).toEqual({ kind: 'token', token: 'a.b.c' });
  },
);

test.each([
  [[]],
  [['']],
  [['Basic YTpi']],
  [['Bearer']],
  [['Bearer   ']],
  [['Bearerx a']],
  [['a.b.c']],
])('no token is sent with %j', (values) => {
  expect(bearerToken(values)).toEqual({ kind: 'missing' });
});

test.each([
  'Bearer a b',
  'Bearer "a"',
  'Bearer a,b',
  'Bearer a, Bearer b',
  'Bearer\ta',
  'Bearer ä',
  'Bearer a=b',
])('what is sent is no token: %j', (value) => {
  const found = bearerToken([value]);
  // A tab after the scheme makes it another scheme.
  expect(found).toEqual(
    value.includes('\t') ? { kind: 'missing' } : { kind: 'faulty', fault: 'malformed' },
  );
});

test('two headers are refused, even if they are the same', () => {
  for (const values of [
    ['Bearer a', 'Bearer b'],
    ['Bearer a', 'Bearer a'],
    ['Basic a', 'Bearer a'],
    ['', ''],
  ])
    expect(bearerToken(values)).toEqual({ kind: 'faulty', fault: 'several-headers' });
});

test('a token may have 16,384 characters', () => {
  expect(bearerToken([`Bearer ${'a'.repeat(16_384)}`]).kind).toBe('token');
  expect(bearerToken([`Bearer ${'a'.repeat(16_385)}`])).toEqual({
    kind: 'faulty',
    fault: 'too-long',
  });
});

test('the challenge names an error only where a token was sent', () => {
  expect(challengeOf({ kind: 'missing' })).toBe('Bearer realm="svc"');
  const refused = refusedFor('expired');
  expect(challengeOf(refused)).toBe(
    'Bearer realm="svc", error="invalid_token", error_description="The access token has expired. Request a new one."',
  );
});

test('every reason may stand in a challenge', () => {
  for (const reason of Object.values(TOKEN_FAULTS))
    expect(reason).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{10,200}$/);
});
