// What every program reads of the claims of a good token.
import { describe, expect, test } from 'vitest';
import { claimAt, claimPathText, parseClaimPath } from '../../tokens/claim-path.ts';
import { hasRole, subjectOf } from '../../tokens/claims.ts';

test('subjects of other providers are texts as they are', () => {
  for (const sub of ['auth0|a/b', 'auth0%7Ca%2Fb', ' ada', 'Ada', 'ädä', 'a'.repeat(255)])
    expect(subjectOf({ sub })).toBe(sub);
});

describe('a path of claims', () => {
  test.each([
    ['realm_access.roles', ['realm_access', 'roles']],
    ['roles', ['roles']],
    [String.raw`https://svc\.example/roles`, ['https://svc.example/roles']],
    [String.raw`a\.b.c`, ['a.b', 'c']],
    ['', undefined],
    ['a..b', undefined],
    ['.a', undefined],
    ['a.', undefined],
    ['a.'.repeat(20), undefined],
    [Array.from({ length: 17 }, () => 'a').join('.'), undefined],
  ])('%j', (text, path) => {
    expect(parseClaimPath(text)).toEqual(path);
  });

  test.each([['roles'], ['realm_access', 'roles'], ['https://svc.example/roles', 'a.b']])(
    'is written as the text that is parsed to it: %j, %j',
    (...path) => {
      expect(parseClaimPath(claimPathText(path))).toEqual(path);
    },
  );

  test('leads through own members of objects only', () => {
    const claims = { a: { b: ['x'], c: 'text' }, n: null };
    expect(claimAt(claims, ['a', 'b'])).toEqual(['x']);
    for (const path of [
      ['a', 'b', '0'],
      ['a', 'b', 'length'],
      ['a', 'c', 'length'],
      ['n', 'x'],
      ['constructor', 'name'],
      ['__proto__'],
      ['toString'],
      ['x', 'y'],
    ])
      expect([path, claimAt(claims, path)]).toEqual([path, undefined]);
  });
});

test('a caller has the roles that the list at the path names, in these letters', () => {
  const path = ['realm', 'roles'];
  expect(hasRole({ realm: { roles: ['a', 'admin'] } }, path, 'admin')).toBe(true);
  for (const roles of [
    [],
    ['Admin', 'admins', ['admin']],
    'admin',
    { 0: 'admin' },
    null,
    undefined,
  ])
    expect([roles, hasRole({ realm: { roles } }, path, 'admin')]).toEqual([roles, false]);
});
