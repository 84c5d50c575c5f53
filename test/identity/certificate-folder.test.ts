// P33, and how new files are noticed.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  CertificateFolder,
  type CertificateFolderOptions,
} from '../../identity/certificate-folder.ts';
import type { LogEntry } from '../../kit/log-entry.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import {
  certificateTexts,
  mountCertificates,
  writeCertificates,
} from '../support/certificates/certificate-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const CART = 'spiffe://td/ns/svc-shop/sa/cart';
const DAY_MS = 86_400_000;
const NEVER_MS = 2 ** 31 - 1;
const ca = await CertificateAuthority.create('ca');
const otherCa = await CertificateAuthority.create('other');
const first = await ca.issue({ uris: [CART] });
const second = await ca.issue({ uris: [CART] });

function mounted(texts = certificateTexts(first, ca)): string {
  const folder = temporaryFolder();
  mountCertificates(folder, texts);
  return folder;
}

async function open(folder: string, options: Partial<CertificateFolderOptions> = {}) {
  const log: LogEntry[] = [];
  const opened = await CertificateFolder.open(folder, {
    log: (entry) => log.push(entry),
    pollMs: NEVER_MS,
    ...options,
  });
  onTestFinished(() => opened.close());
  return { opened, log, leaf: () => opened.current.certificates.leaf.toString() };
}

describe('at the start', () => {
  test('the certificates of the folder are in use', async () => {
    const { opened, leaf, log } = await open(mounted(), { ownId: CART });
    expect(opened.current.number).toBe(1);
    expect(leaf()).toBe(first.certificate);
    expect(log).toEqual([]);
  });

  test.each(['tls.crt', 'tls.key', 'ca.crt'])('without %s it fails', async (file) => {
    const folder = mounted();
    rmSync(join(folder, file));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'SVC_CERTIFICATE_MISSING',
      message: expect.stringMatching(new RegExp(`/${file} cannot be read \\(ENOENT\\).*Mount`)),
    });
  });

  test('without the folder it fails', async () => {
    await expect(open('/nowhere/at/all')).rejects.toMatchObject({
      code: 'SVC_CERTIFICATE_MISSING',
    });
  });

  test('a folder in the place of a file, and a file of over a mebibyte, are refused', async () => {
    const folder = temporaryFolder();
    writeCertificates(folder, certificateTexts(first, ca));
    writeFileSync(join(folder, 'ca.crt'), Buffer.alloc(1024 * 1024 + 1));
    await expect(open(folder)).rejects.toThrow(/ca\.crt has more than 1048576 bytes/);
    rmSync(join(folder, 'ca.crt'));
    mkdirSync(join(folder, 'ca.crt'));
    await expect(open(folder)).rejects.toThrow(/ca\.crt is not a file/);
  });

  test.each([
    ['a pair that does not match', { ...certificateTexts(first, ca), key: second.key }],
    ['the certificate of another service', certificateTexts(first, ca)],
  ])('with %s it fails', async (_name, texts) => {
    const options = texts.key === second.key ? {} : { ownId: `${CART}2` };
    await expect(open(mounted(texts), options)).rejects.toMatchObject({
      code: 'SVC_CERTIFICATE_UNUSABLE',
      message: expect.stringContaining('cannot be used'),
    });
  });
});

describe('new files', () => {
  test('are noticed when the link of the mounted folder turns', async () => {
    const folder = mounted();
    const { opened, leaf, log } = await open(folder);
    mountCertificates(folder, certificateTexts(second, ca, otherCa));
    await expect.poll(leaf).toBe(second.certificate);
    expect(opened.current).toMatchObject({ number: 2, isLeafNew: true, authoritiesAdded: 1 });
    expect(log).toEqual([
      {
        level: 'info',
        message: 'New certificates are in use',
        fields: {
          folder,
          expiresAt: opened.current.certificates.leaf.validToDate.toISOString(),
          authoritiesAdded: 1,
          authoritiesRemoved: 0,
        },
      },
    ]);
  });

  test('are noticed by polling when nothing watches the folder', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'certificates');
    mkdirSync(folder);
    writeCertificates(folder, certificateTexts(first, ca));
    const { leaf } = await open(folder, { pollMs: 20 });
    // The watch stays with the folder that was renamed.
    mkdirSync(join(parent, 'next'));
    writeCertificates(join(parent, 'next'), certificateTexts(second, ca));
    renameSync(folder, join(parent, 'before'));
    renameSync(join(parent, 'next'), folder);
    await expect.poll(leaf).toBe(second.certificate);
  });

  test('are watched for in a folder that has taken the place of the first', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'certificates');
    mkdirSync(folder);
    writeCertificates(folder, certificateTexts(first, ca));
    const { opened, leaf } = await open(folder);
    rmSync(folder, { recursive: true });
    await opened.check();
    mkdirSync(folder);
    await opened.check();
    writeCertificates(folder, certificateTexts(second, ca));
    await expect.poll(leaf).toBe(second.certificate);
  });

  test('that are half written leave the pair before in use, and are logged once', async () => {
    const folder = temporaryFolder();
    writeCertificates(folder, certificateTexts(first, ca));
    const { opened, log, leaf } = await open(folder);
    writeCertificates(folder, { certificate: second.certificate });
    await opened.check();
    await opened.check();
    expect(leaf()).toBe(first.certificate);
    expect(log).toEqual([
      {
        level: 'warn',
        message: expect.stringMatching(/^New certificates cannot be used: The key .*remain in use/),
        fields: { folder },
      },
    ]);
    rmSync(join(folder, 'tls.key'));
    await opened.check();
    await opened.check();
    expect(log).toHaveLength(2);
    expect(log[1]!.message).toContain('tls.key cannot be read (ENOENT)');
    writeCertificates(folder, { key: second.key });
    await opened.check();
    expect(leaf()).toBe(second.certificate);
    expect(log[2]!.message).toBe('New certificates are in use');
    expect(log).toHaveLength(3);
  });

  test('that cannot be used are logged again after others were in use', async () => {
    const folder = temporaryFolder();
    writeCertificates(folder, certificateTexts(first, ca));
    const { opened, log } = await open(folder);
    for (const key of [second.key, first.key, second.key]) {
      writeCertificates(folder, { key });
      await opened.check();
    }
    expect(log.map(({ level }) => level)).toEqual(['warn', 'warn']);
  });

  test('that are not valid yet are in use once they are', async () => {
    const later = await ca.issue({ uris: [CART], from: new Date(Date.now() + DAY_MS / 4) });
    const folder = temporaryFolder();
    writeCertificates(folder, certificateTexts(first, ca));
    let nowMs = Date.now();
    const { opened, log, leaf } = await open(folder, { now: () => nowMs });
    writeCertificates(folder, certificateTexts(later, ca));
    await opened.check();
    expect(leaf()).toBe(first.certificate);
    nowMs += DAY_MS / 4;
    await opened.check();
    expect(leaf()).toBe(later.certificate);
    expect(log.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('are not taken into use any more once it is closed', async () => {
    const folder = mounted();
    const { opened, leaf } = await open(folder);
    opened.close();
    mountCertificates(folder, certificateTexts(second, ca));
    await opened.check();
    expect(leaf()).toBe(first.certificate);
  });
});

test('a certificate that is not renewed is warned of before it expires, and stays in use', async () => {
  const folder = mounted();
  let nowMs = Date.now();
  const { opened, log, leaf } = await open(folder, { now: () => nowMs });
  const endMs = opened.current.certificates.leaf.validToDate.getTime();
  const levels: string[][] = [];
  for (const leftMs of [DAY_MS / 2, DAY_MS / 8, DAY_MS / 9, DAY_MS / 16, -1, -2]) {
    nowMs = endMs - leftMs;
    await opened.check();
    levels.push(log.splice(0).map(({ level }) => level));
  }
  expect(levels).toEqual([[], ['warn'], [], ['warn'], ['error'], []]);
  expect(leaf()).toBe(first.certificate);
});
