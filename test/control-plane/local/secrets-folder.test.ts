// The folder of secrets is for its owner alone, and the control plane runs without it.
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSecretsFolder } from '../../../control-plane/local/secrets-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function made(folder: string): string[] {
  const messages: string[] = [];
  makeSecretsFolder(folder, ({ message }) => messages.push(message));
  return messages;
}

test('a folder that is made is for its owner alone', () => {
  const folder = join(temporaryFolder(), 'a', 'secrets');
  expect(made(folder)).toEqual([]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.each([0o750, 0o701, 0o770])(
  'a folder with the rights %i is warned of, and stays as it is',
  (mode) => {
    const folder = join(temporaryFolder(), 'secrets');
    mkdirSync(folder);
    chmodSync(folder, mode);
    expect(made(folder)).toEqual([expect.stringContaining('give it the rights 0700')]);
    expect(statSync(folder).mode & 0o777).toBe(mode);
  },
);

test('rights behind a link are warned of', () => {
  const scratch = temporaryFolder();
  const [folder, link] = [join(scratch, 'secrets'), join(scratch, 'link')];
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  symlinkSync(folder, link);
  expect(made(link)).toEqual([expect.stringContaining('give it the rights 0700')]);
});

test('a folder that cannot be made is warned of', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(made(join(file, 'secrets'))).toEqual([
    expect.stringMatching(/cannot be made \(ENOTDIR\): modules get no secrets from it/),
  ]);
});
