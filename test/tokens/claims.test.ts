// What of the claims of a good token makes a caller.
import { describe, expect, test } from 'vitest';
import { claimAt, parseClaimPath } from '../../tokens/claim-path.ts';
import { callerOf } from '../../tokens/claims.ts';

const PATH = ['realm_access', 'roles'];
const caller = (claims: Readonly<Record<string, unknown>>) =>
  callerOf({ sub: 'ada', ...claims }, PATH);

test.each([
  ['Ada Lovelace', 'Ada Lovelace'],
  ['  Ada \n\t Lovelace\0 ', 'Ada Lovelace'],
  ['\u{202e}Ada\u{200b}\ud800', 'Ada'],
  ['Zoe\u{308}', 'Zoë'],
  ['x'.repeat(300), 'x'.repeat(200)],
  ['👩'.repeat(300), '👩'.repeat(200)],
  ['x'.repeat(1_000_000), 'x'.repeat(200)],
  ['\u{200b}\n', undefined],
  ['', undefined],
  [7, undefined],
])('the name %.20j is shown as %.20j', (name, shown) => {
  expect(caller({ name })?.name).toBe(shown);
});

describe('hard case 10: an address is verified', () => {
  test('only with the claim true', () => {
    const email = 'Ada@Example.com';
    expect(caller({ email, email_verified: true })).toEqual({
      subject: 'ada',
      email,
      emailVerified: true,
      platformAdmin: false,
    });
    for (const verified of [false, 'true', 'false', 1, {}, [true], null, undefined])
      expect(caller({ email, email_verified: verified })?.emailVerified).toBe(false);
  });

  test('only if there is one', () => {
    for (const email of [undefined, '', 'ada', 7, `${'a'.repeat(300)}@example.com`])
      expect(caller({ email, email_verified: true })).toEqual({
        subject: 'ada',
        emailVerified: false,
        platformAdmin: false,
      });
  });

  test('not by what every object inherits', () => {
    const claims = JSON.parse(
      '{"sub":"ada","__proto__":{"email_verified":true,"email":"a@b.c"}}',
    ) as Record<string, unknown>;
    expect(callerOf(claims, PATH)).toMatchObject({ emailVerified: false });
    const inherited = Object.create({ email_verified: true, email: 'a@b.c' }) as Record<
      string,
      unknown
    >;
    inherited['sub'] = 'ada';
    expect(callerOf(inherited, PATH)).toEqual({
      subject: 'ada',
      emailVerified: false,
      platformAdmin: false,
    });
  });
});

test('subjects of other providers are texts as they are', () => {
  for (const sub of ['auth0|a/b', 'auth0%7Ca%2Fb', ' ada', 'Ada', 'ädä', 'a'.repeat(255)])
    expect(callerOf({ sub }, PATH)?.subject).toBe(sub);
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
