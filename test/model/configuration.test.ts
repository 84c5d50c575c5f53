// The texts that are printed in the place of those with secrets.
import { expect, test } from 'vitest';
import { CurrentConfiguration } from '../../model/configuration.ts';
import { lastLogLines } from '../../model/last-log-lines.ts';

const SECRET = 'sk_live_ö1234567890';
const configuration = new CurrentConfiguration({ json: '{}', secrets: [SECRET, 'pass-pass-word'] });

test.each([
  ['nothing of it', 'nothing of it'],
  [`a ${SECRET} and ${SECRET}…`, 'a *** and ***…'],
  ['a sk_live_ö123… b pass-pa… c', 'a ***… b ***… c'],
  ['a sk_live_\ufffd…', 'a ***…'],
  ['pass-pass-pass-w…', 'pass-***…'],
  ['sk_live… begins a key…', '***… begins a key…'],
  ['sk_live_ begins a key', 'sk_live_ begins a key'],
  ['sk_… and sk_live_other…', 'sk_… and sk_live_other…'],
])('%j is printed as %j', (text, shown) => {
  expect(configuration.withoutSecrets(text)).toBe(shown);
});

test('a line that is cut within a secret shows no more than three characters of it', () => {
  for (let before = 1_980; before <= 2_000; before++) {
    const [line] = lastLogLines([`${'x'.repeat(before)}${SECRET}${'y'.repeat(99)}`])!;
    const [, after] = /^x*(.*)$/.exec(configuration.withoutSecrets(line!))!;
    expect(after).toMatch(/^(\*\*\*y*|s?k?_?)…$/);
  }
});

test('texts without a secret are printed as they are where there are none', () => {
  expect(new CurrentConfiguration().withoutSecrets('a sk_live_ö1…')).toBe('a sk_live_ö1…');
});

test('a long text that repeats the beginning of a secret is judged at once', () => {
  const secret = `${'a'.repeat(1_000)}b`;
  const long = new CurrentConfiguration({ json: '{}', secrets: [secret] });
  const text = `${'a'.repeat(16_000)}c…`;
  expect(long.withoutSecrets(text)).toBe(text);
  expect(long.withoutSecrets('aaaa…'.repeat(4_000))).toBe('***…'.repeat(4_000));
});
