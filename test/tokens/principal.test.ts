// What a program is told of the caller: the claims that can be relied on, and no text that cannot be shown.
import { describe, expect, test } from 'vitest';
import type { Claims } from '../../tokens/claims.ts';
import { principalOf } from '../../tokens/principal.ts';

const PATHS = { rolesPath: ['realm_access', 'roles'], scopesPath: ['scope'] };
const LEAST = { iss: 'https://id.test', sub: 'ada', exp: 1_700_000_000 };
const principal = (claims: Claims) => principalOf({ ...LEAST, ...claims }, PATHS);

test('the least that a token says', () => {
  expect(principal({})).toEqual({
    subject: 'ada',
    issuer: 'https://id.test',
    name: undefined,
    email: undefined,
    roles: [],
    scopes: [],
    claims: LEAST,
    expiresMs: 1_700_000_000_000,
  });
});

test('an address counts once it is verified', () => {
  expect(principal({ email: 'a@b.test', email_verified: true })?.email).toBe('a@b.test');
  for (const verified of [false, 'true', 1, undefined])
    expect(principal({ email: 'a@b.test', email_verified: verified })?.email).toBeUndefined();
});

describe('roles and scopes are', () => {
  test.each<readonly [string, Claims, readonly string[], readonly string[]]>([
    ['lists', { realm_access: { roles: ['a', 'b'] }, scope: ['x', 'y'] }, ['a', 'b'], ['x', 'y']],
    ['a text with blanks', { scope: ' x  y ' }, [], ['x', 'y']],
    ['each once', { scope: 'x x', realm_access: { roles: ['a', 'a'] } }, ['a'], ['x']],
    ['none of another type', { scope: 7, realm_access: { roles: { a: true } } }, [], []],
    ['texts only', { realm_access: { roles: [1, null, ['a'], { b: 1 }, 'c'] } }, ['c'], []],
    [
      'what can be shown',
      { realm_access: { roles: ['', 'a\u0000', '\uD800', 'b\u2028', 'x'.repeat(256), 'c'] } },
      ['c'],
      [],
    ],
    ['not inherited', { realm_access: Object.create({ roles: ['a'] }) as unknown }, [], []],
  ])('%s', (_what, claims, roles, scopes) => {
    expect(principal(claims)).toMatchObject({ roles, scopes });
  });
});

test.each<Claims>([{ sub: '' }, { sub: 7 }, { sub: 'a\n' }, { iss: undefined }, { exp: 'x' }])(
  'without what says who it is there is nobody: %j',
  (claims) => {
    expect(principal(claims)).toBeUndefined();
  },
);
