// What of the claims of a good token makes a caller of the control plane.
import { describe, expect, test } from 'vitest';
import { callerOf } from '../../../control-plane/access/token-caller.ts';

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
