// Which addresses are the same, and which texts are none.
import { assert, constantFrom, pre, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { normalizedEmail } from '../../../client/control-plane/email-address.ts';

test.each([
  ['ada@example.com', 'ada@example.com'],
  ['  Ada.Lovelace@EXAMPLE.com\n', 'ada.lovelace@example.com'],
  ["o'neil+svc/x=1@sub.example.com", "o'neil+svc/x=1@sub.example.com"],
  ['ada@localhost', 'ada@localhost'],
  // One letter, or a letter and a combining mark.
  ['Zoë@example.com', 'zoë@example.com'],
  ['Zoe\u{308}@example.com', 'zoë@example.com'],
  ['ADA@MÜNCHEN.de', 'ada@xn--mnchen-3ya.de'],
  ['ada@xn--mnchen-3ya.de', 'ada@xn--mnchen-3ya.de'],
  // The domain names the same host with a Kelvin sign or a full-width letter.
  ['ada@\u{212a}.com', 'ada@k.com'],
  ['ada@ｅxample.com', 'ada@example.com'],
  ['ada@example。com', 'ada@example.com'],
])('%j is %j', (text, normal) => {
  expect(normalizedEmail(text)).toBe(normal);
});

test.each([
  '',
  'ada',
  '@example.com',
  'ada@',
  'ada lovelace@example.com',
  '"ada lovelace"@example.com',
  '"ada"@example.com',
  'ada@exam ple.com',
  'ada@b@example.com',
  'ada\0@example.com',
  'ada\r\nBcc: eve@example.com',
  'ada\u{202e}@example.com',
  'ada\u{200b}@example.com',
  'ada\ud800@example.com',
  'ada@example.com.',
  'ada@-example.com',
  'ada@a..b',
  'ada@exa%6dple.com',
  'ada@example.com/x',
  'ada@example.com:25',
  'ada@127.1',
  'ada@0x7f.1',
  'ada@[127.0.0.1]',
  'ada@under_score.com',
  `${'a'.repeat(300)}@example.com`,
  `ada@${'a.'.repeat(130)}com`,
  // Folded, these would be the address of somebody else.
  '\u{212a}ada@example.com',
  'İda@example.com',
  'a\u{37e}b@example.com',
])('%j is no address', (text) => {
  expect(normalizedEmail(text)).toBeUndefined();
});

test('no letter beyond ASCII folds into one of ASCII before the @', () => {
  const folding: string[] = [];
  for (let code = 0x80; code <= 0x1ffff; code++) {
    const letter = String.fromCodePoint(code);
    if (letter.normalize('NFC').toLowerCase() === letter) continue;
    const [local] = normalizedEmail(`x${letter}@example.com`)?.split('@') ?? [];
    // Only a combining mark could join the letter before it, and then nothing of ASCII is left.
    if (local !== undefined && /^x?[\0-\u{7f}]*$/u.test(local)) folding.push(letter);
  }
  expect(folding).toEqual([]);
});

test('the normal form is its own normal form, and the case of ASCII does not matter', () => {
  const part = string({
    unit: constantFrom(...Array.from('aZ0.-_+ëË\u{308}\u{212a}İßǅ。')),
    minLength: 1,
    maxLength: 8,
  });
  assert(
    property(part, part, (local, domain) => {
      const text = `${local}@${domain}`;
      const normal = normalizedEmail(text);
      pre(normal !== undefined);
      expect(normalizedEmail(normal)).toBe(normal);
      const upper = text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
      expect(normalizedEmail(upper)).toBe(normal);
    }),
  );
});
