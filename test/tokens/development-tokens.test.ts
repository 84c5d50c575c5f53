// Tokens that a developer makes: they are good for who reads the key from the same file, and for nobody else.
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { developmentKeyFile } from '@svc/kit/development-key-file';
import { AUTH_DEFAULTS } from '../../tokens/auth-section.ts';
import {
  DEVELOPMENT_ISSUER,
  developmentProvider,
  developmentToken,
  ensureDevelopmentKey,
} from '../../tokens/development-tokens.ts';
import { PrincipalVerifier } from '../../tokens/principal-verifier.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const CALLER = {
  subject: 'user-1',
  roles: ['librarian'],
  scopes: [],
  claims: {},
  lifetimeMs: 60_000,
};
const verifierOf = (file: string) => {
  const provider = developmentProvider(file);
  return new PrincipalVerifier({
    issuers: [DEVELOPMENT_ISSUER],
    section: AUTH_DEFAULTS,
    log: () => {},
    fetchOf: () => provider,
  });
};
const noHome = () => {
  throw new Error('ENOENT');
};
const newFile = () => join(temporaryFolder(), 'made', 'key.json');

test('a token says who calls, and the key is for its owner alone', async () => {
  const file = newFile();
  const claims = {
    name: 'Ada',
    iss: 'https://evil.test',
    sub: 'root',
    exp: 1,
    aud: 'x',
    roles: ['admin'],
  };
  const token = await developmentToken(file, { ...CALLER, scopes: ['a', 'b'], claims }, Date.now());
  expect(await verifierOf(file).verify([`Bearer ${token}`])).toMatchObject({
    kind: 'known',
    caller: { subject: 'user-1', roles: ['librarian'], scopes: ['a', 'b'], name: 'Ada' },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a token of another key, or whose time is over, is refused', async () => {
  const [file, other] = [newFile(), newFile()];
  const foreign = await developmentToken(other, CALLER, Date.now());
  expect(await verifierOf(file).verify([`Bearer ${foreign}`])).toMatchObject({ kind: 'refused' });
  const old = await developmentToken(file, CALLER, Date.now() - 120_000);
  expect(await verifierOf(file).verify([`Bearer ${old}`])).toMatchObject({ kind: 'refused' });
});

test('of programs that make the key at the same time one does, and all use it', async () => {
  const file = newFile();
  const tokens = await Promise.all(
    Array.from({ length: 8 }, () => developmentToken(file, CALLER, Date.now())),
  );
  const verifier = verifierOf(file);
  for (const token of tokens)
    expect(await verifier.verify([`Bearer ${token}`])).toMatchObject({ kind: 'known' });
});

test('a file that is no key is left as it is, and named without its content', async () => {
  const file = join(temporaryFolder(), 'key.json');
  writeFileSync(file, 'secret words', { mode: 0o600 });
  const made = developmentToken(file, CALLER, Date.now());
  await expect(made).rejects.toThrow(/is no key of development tokens\. Delete it/);
  await expect(made).rejects.not.toThrow(/secret words/);
  expect(readFileSync(file, 'utf8')).toBe('secret words');
});

test('roles and scopes of the claims count where none are given', async () => {
  const file = newFile();
  const claims = { roles: ['admin'], scope: 'a b' };
  const token = await developmentToken(file, { ...CALLER, roles: [], claims }, Date.now());
  expect(await verifierOf(file).verify([`Bearer ${token}`])).toMatchObject({
    kind: 'known',
    caller: { roles: ['admin'], scopes: ['a', 'b'] },
  });
});

test.runIf(process.platform !== 'win32')(
  'a key that other users of the machine can read is not used',
  async () => {
    const file = newFile();
    await ensureDevelopmentKey(file);
    chmodSync(file, 0o640);
    await expect(developmentToken(file, CALLER, Date.now())).rejects.toThrow(
      /open to other users of this machine \(its mode is 640\)/,
    );
    chmodSync(file, 0o600);
    await expect(ensureDevelopmentKey(file)).resolves.toBeUndefined();
  },
);

test('a key that cannot be read is a setting that is wrong, and no bug', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'key.json'), { mode: 0o700 });
  await expect(ensureDevelopmentKey(join(folder, 'key.json'))).rejects.toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining('EISDIR') as string,
    }) as Error,
  );
});

test('a user without a home folder has no key, rather than one in the working folder', () => {
  expect(developmentKeyFile(() => '/home/ada')).toBe('/home/ada/.svc/development-tokens.json');
  for (const home of [() => '', () => '.', noHome])
    expect(() => developmentKeyFile(home)).toThrow(/Set HOME to the absolute path/);
});
