// The keys of the login provider in its folder.
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptKeys } from '../../login-provider/kept-keys.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function refusal(text: string) {
  return expect.objectContaining({
    code: 'SVC_DATA_UNUSABLE',
    message: expect.stringContaining(text) as string,
  });
}

test('keys are created once, for their user only, and read again', () => {
  const folder = join(temporaryFolder(), 'deep', 'keys');
  const keys = keptKeys(folder);
  expect(keys.signing).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256' });
  expect(keptKeys(folder)).toEqual(keys);
  expect(readdirSync(folder)).toEqual(['keys.json']);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'keys.json')).mode & 0o777).toBe(0o600);
  rmSync(join(folder, 'keys.json'));
  expect(keptKeys(folder).signing.kid).not.toBe(keys.signing.kid);
});

test('a folder or a file that others can read is refused', () => {
  const folder = join(temporaryFolder(), 'keys');
  keptKeys(folder);
  chmodSync(join(folder, 'keys.json'), 0o644);
  expect(() => keptKeys(folder)).toThrow(refusal('chmod 600'));
  chmodSync(folder, 0o755);
  expect(() => keptKeys(folder)).toThrow(refusal('chmod 700'));
});

test.each(['', '{', 'null', '[]', '{"version":2}', '{"version":1,"signing":{"kty":"EC"}}'])(
  'a file with %j is refused and not replaced',
  (text) => {
    const folder = join(temporaryFolder(), 'keys');
    keptKeys(folder);
    writeFileSync(join(folder, 'keys.json'), text);
    expect(() => keptKeys(folder)).toThrow(refusal('does not contain keys'));
  },
);

test('a path through a file is refused with its reason', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => keptKeys(join(file, 'keys'))).toThrow(refusal('(ENOTDIR)'));
});
