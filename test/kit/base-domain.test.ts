// The setting for a base domain: what is one.
import { expect, test } from 'vitest';
import { readBaseDomain } from '../../kit/base-domain.ts';
import { SettingsReader } from '../../kit/settings-reader.ts';

function read(text: string | undefined) {
  return readBaseDomain(new SettingsReader(new Map(), { SVC_A_B: text }), 'svc.a.b');
}

test('there may be none', () => {
  expect(read(undefined)).toBeUndefined();
});

test.each([
  'example',
  'example.org',
  'xn--bcher-kva.example',
  'example.org:8443',
  `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.ch`,
])('a base domain can be %s', (domain) => {
  expect(read(domain)).toBe(domain);
});

test.each([
  'Example.org',
  '.example.org',
  'example.org.',
  'a..b',
  '-a.org',
  '*.example.org',
  'https://example.org',
  'example.org/',
  'example.org:',
  'example.org:443',
  'example.org:0',
  'example.org:08443',
  'example.org:65536',
  '10.0.0.1',
  'bücher.example',
  `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.abcdefg`,
])('a base domain cannot be %s', (domain) => {
  expect(() => read(domain)).toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining('svc.a.b') as string,
    }),
  );
});
