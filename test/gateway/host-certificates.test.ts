// The folder of certificates: which one serves a hostname, and what becomes of files that cannot be used, are renewed or are gone.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HostCertificates } from '../../gateway/host-certificates.ts';
import type { LogEntry } from '../../kit/log-entry.ts';
import {
  CertificateAuthority,
  type CertificateContents,
} from '../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const authority = await CertificateAuthority.create('names');
const HOUR_MS = 3_600_000;

async function issue(
  folder: string,
  name: string,
  dnsNames: readonly string[],
  contents: CertificateContents = {},
): Promise<void> {
  const { certificate, key } = await authority.issue({ dnsNames, ...contents });
  writeFileSync(join(folder, `${name}.crt`), certificate);
  writeFileSync(join(folder, `${name}.key`), key);
}

async function folderOf(all: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const folder = temporaryFolder();
  for (const [name, dnsNames] of Object.entries(all)) await issue(folder, name, dnsNames);
  return folder;
}

async function open(folder: string, certificatesMax = 10) {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry): void => void entries.push(entry);
  const certificates = await HostCertificates.open(folder, { log, certificatesMax });
  onTestFinished(() => certificates.close());
  const warnings = () => entries.filter(({ level }) => level !== 'info').map((one) => one.message);
  return { certificates, warnings };
}

test('a name of its own goes before a wildcard, a wildcard stands for one label, and the default for the rest', async () => {
  const folder = await folderOf({
    default: ['*.svc.test'],
    cart: ['cart.svc.test', 'shop.example'],
  });
  const { certificates } = await open(folder);
  const nameAt = (hostname?: string) => certificates.find(hostname)?.name;
  expect(nameAt('cart.svc.test')).toBe('cart');
  expect(nameAt('shop.example')).toBe('cart');
  expect(nameAt('web.svc.test')).toBe('default');
  expect(nameAt('a.b.svc.test')).toBe('default');
  expect(nameAt()).toBe('default');
  expect(certificates.covering('a.b.svc.test')).toBeUndefined();
  expect(certificates.covering('svc.test')).toBeUndefined();
  expect(certificates.covering('test')).toBeUndefined();
});

test('of two certificates for a hostname the one that lasts longer is used', async () => {
  const folder = temporaryFolder();
  await issue(folder, 'a', ['shop.example'], { to: new Date(Date.now() + 40 * HOUR_MS) });
  await issue(folder, 'b', ['shop.example']);
  expect((await open(folder)).certificates.find('shop.example')?.name).toBe('a');
});

test('files that cannot be used leave the former certificate in use, and are logged once', async () => {
  const folder = await folderOf({ default: ['*.svc.test'] });
  const { certificates, warnings } = await open(folder);
  const before = certificates.fallback;
  await issue(folder, 'default', ['*.svc.test'], { to: new Date(Date.now() - HOUR_MS / 2) });
  await certificates.check();
  await certificates.check();
  expect(warnings()).toEqual([expect.stringMatching(/expired at/)]);
  expect(certificates.fallback).toBe(before);
  const { key } = await authority.issue({ dnsNames: ['*.svc.test'] });
  await issue(folder, 'default', ['*.svc.test']);
  writeFileSync(join(folder, 'default.key'), key);
  await certificates.check();
  expect(warnings()[1]).toMatch(/does not belong to the certificate/);
  rmSync(join(folder, 'default.key'));
  await certificates.check();
  expect(warnings()[2]).toMatch(/default\.key cannot be read \(ENOENT\)/);
  await issue(folder, 'default', []);
  await certificates.check();
  expect(warnings()[3]).toMatch(/names no host/);
  expect(certificates.fallback).toBe(before);
  await issue(folder, 'default', ['*.svc.test']);
  await certificates.check();
  expect(certificates.fallback).not.toBe(before);
});

test('a certificate whose files are gone is not used any more', async () => {
  const folder = await folderOf({ default: ['*.svc.test'], shop: ['shop.example'] });
  const { certificates } = await open(folder);
  for (const file of ['shop.crt', 'shop.key']) rmSync(join(folder, file));
  await certificates.check();
  expect(certificates.find('shop.example')?.name).toBe('default');
});

test('the default is read also if there are more certificates than are used', async () => {
  const folder = await folderOf({
    a: ['a.example'],
    b: ['b.example'],
    default: ['*.svc.test'],
  });
  const { certificates, warnings } = await open(folder, 2);
  expect([certificates.find('a.example')?.name, certificates.fallback?.name]).toEqual([
    'a',
    'default',
  ]);
  expect(certificates.covering('b.example')).toBeUndefined();
  expect(warnings()).toEqual([expect.stringMatching(/it has 3 certificates/)]);
});

test('a folder that is missing, empty or has nothing usable is SVC_CERTIFICATE_MISSING', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'bad.crt'), 'no certificate');
  for (const name of ['none', 'empty', '.'])
    await expect(open(join(folder, name))).rejects.toMatchObject({
      code: 'SVC_CERTIFICATE_MISSING',
    });
});

test('a folder that takes the place of the one before is watched from the next look on', async () => {
  const folder = join(temporaryFolder(), 'certificates');
  mkdirSync(folder);
  await issue(folder, 'default', ['*.svc.test']);
  const { certificates } = await open(folder);
  renameSync(folder, `${folder}-before`);
  mkdirSync(folder);
  await issue(folder, 'default', ['*.svc.test']);
  await certificates.check();
  await issue(folder, 'cart', ['shop.example']);
  // Nothing asks for a look: a watch that was left on the former folder would leave it to the poll, ten seconds later.
  await expect
    .poll(() => certificates.covering('shop.example')?.name, { timeout: 5000 })
    .toBe('cart');
});
