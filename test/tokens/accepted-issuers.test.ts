// The settings that say whose tokens a service takes.
import { describe, expect, test } from 'vitest';
import { SettingsReader } from '../../kit/settings-reader.ts';
import { readAcceptedIssuers } from '../../tokens/accepted-issuers.ts';

const read = (given: Readonly<Record<string, string>>) =>
  readAcceptedIssuers(new SettingsReader(new Map(Object.entries(given)), {}));

test('without an issuer there is none', () => {
  expect(read({})).toEqual([]);
});

test('each issuer has the audiences, and the claims where roles and scopes are', () => {
  const paths = { rolesPath: ['roles'], scopesPath: ['https://a.b/scp'] };
  expect(
    read({
      'svc.auth.issuer': 'https://id.test, http://127.0.0.1:8080/realm',
      'svc.auth.audience': 'a,b',
      'svc.auth.roles-claim': 'roles',
      'svc.auth.scopes-claim': String.raw`https://a\.b/scp`,
    }),
  ).toEqual([
    { issuer: 'https://id.test', audiences: ['a', 'b'], ...paths },
    { issuer: 'http://127.0.0.1:8080/realm', audiences: ['a', 'b'], ...paths },
  ]);
});

describe('refused is', () => {
  const GOOD = { 'svc.auth.issuer': 'https://id.test', 'svc.auth.audience': 'a' };
  test.each([
    ['no audience', { 'svc.auth.audience': undefined }, /svc\.auth\.audience is missing/],
    ['an issuer without TLS', { 'svc.auth.issuer': 'http://id.test' }, /URLs with https/],
    ['an issuer with a query', { 'svc.auth.issuer': 'https://id.test?a' }, /URLs with https/],
    ['an audience with a blank', { 'svc.auth.audience': 'a b' }, /without blanks/],
    ['a path of claims with an empty name', { 'svc.auth.roles-claim': 'a..b' }, /names of claims/],
    ['nine issuers', { 'svc.auth.issuer': Array(9).fill('https://id.test').join(',') }, /up to 8/],
  ])('%s', (_what, more, expected) => {
    const given = Object.entries({ ...GOOD, ...more }).filter(([, value]) => value !== undefined);
    expect(() => read(Object.fromEntries(given) as Record<string, string>)).toThrow(expected);
  });
});
