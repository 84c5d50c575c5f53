// An authority that somebody else writes issues what everybody verifies, and is changed while the control plane runs.
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { IssuedPair } from '../../../control-plane/authorities/certificate-issuer.ts';
import { parseCertificates } from '../../../identity/certificates.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  DAY_MS,
  GivenFolder,
  madeAuthority,
  SETTLE_MS,
} from '../../support/certificates/given-folder.ts';
import { verified, withoutOpenssl } from './openssl.ts';

const CART = { uri: 'spiffe://example.org/ns/svc-shop/sa/cart' };
const leafOf = ({ certificate }: IssuedPair) => new X509Certificate(certificate);

const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const KEY_USAGE = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];

/** Makes an authority with the command of the documentation. */
function opensslAuthority(...options: readonly string[]): IssuedPair {
  const folder = temporaryFolder();
  const [certificate, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const args = ['req', '-x509', '-nodes', '-days', '3650', '-subj', '/CN=svc identities'];
  const files = ['-keyout', keyFile, '-out', certificate];
  const made = spawnSync('openssl', [...args, ...options, ...files], { encoding: 'utf8' });
  expect(made).toMatchObject({ status: 0 });
  return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

/** Options by which the certificate has these extensions alone. */
function extensions(...lines: readonly string[]): readonly string[] {
  const file = join(temporaryFolder(), 'openssl.cnf');
  const text = ['[req]', 'distinguished_name=name', 'x509_extensions=all', '[name]', '[all]'];
  writeFileSync(file, [...text, 'basicConstraints=critical,CA:TRUE', ...lines].join('\n'));
  return ['-config', file];
}

describe.skipIf(withoutOpenssl !== undefined)('OpenSSL', () => {
  test.each([
    ['P-256', () => [...P256, ...KEY_USAGE]],
    ['P-384', () => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', ...KEY_USAGE]],
    ['RSA', () => ['-newkey', 'rsa:2048', ...KEY_USAGE]],
    [
      'P-256, which its certificate identifies by something else than a digest',
      () => [
        ...P256,
        ...extensions('keyUsage=critical,keyCertSign', 'subjectKeyIdentifier=01:02:03'),
      ],
    ],
  ])('accepts what an authority issues with a key of %s', async (_, options) => {
    const pair = opensslAuthority(...options());
    const folder = new GivenFolder();
    folder.write(pair);
    const authority = await folder.open();
    const issued = await authority.issue(CART, folder.nowMs);
    const texts = { ...issued, authorities: authority.trusted() };
    expect(parseCertificates(texts, folder.nowMs, CART.uri)).toMatchObject({ id: CART.uri });
    for (const purpose of ['sslserver', 'sslclient']) {
      const given = { authority: texts.authorities, leaf: issued.certificate };
      expect(verified(temporaryFolder(), given, '-purpose', purpose)).toBe('leaf: OK');
    }
  });

  test('makes authorities with keys that not everybody verifies, which are refused', async () => {
    const pair = opensslAuthority('-newkey', 'ed25519');
    const folder = new GivenFolder();
    folder.write(pair);
    await expect(folder.open()).rejects.toThrow('neither RSA nor of P-256, P-384 or P-521');
  });
});

describe('an authority in a folder', () => {
  test('is trusted itself, without and with a ca.crt that does not have it', async () => {
    const [one, other] = [await madeAuthority(), await madeAuthority()];
    const folder = new GivenFolder();
    folder.write(one);
    expect((await folder.open()).trusted()).toBe(one.certificate);
    folder.write(one, [other]);
    expect((await folder.open()).trusted()).toBe(`${other.certificate}${one.certificate}`);
    folder.write(one, [one, other]);
    expect((await folder.open()).trusted()).toBe(`${one.certificate}${other.certificate}`);
  });

  test('below another one is sent with each certificate, and the one above is trusted', async () => {
    const root = await CertificateAuthority.create('root');
    const { certificate, key } = await root.issue({ isAuthority: true, subject: 'CN=below' });
    const folder = new GivenFolder();
    folder.write({ certificate, key }, [{ certificate: root.certificate, key: '' }]);
    const authority = await folder.open();
    expect(authority.trusted()).toBe(root.certificate);
    const issued = await authority.issue(CART, folder.nowMs);
    expect(issued.certificate.match(/BEGIN/g)).toHaveLength(2);
    expect(issued.certificate.endsWith(certificate)).toBe(true);
    expect(authority.isSuccessorOf(leafOf(issued), folder.nowMs)).toBe(false);
  });

  test('issues nothing that lasts longer than itself, and warns when it expires', async () => {
    const folder = new GivenFolder();
    const pair = await madeAuthority(DAY_MS / 2);
    folder.write(pair);
    const authority = await folder.open();
    const issued = leafOf(await authority.issue(CART, folder.nowMs));
    expect(issued.validToDate).toEqual(leafOf(pair).validToDate);
    await authority.refresh();
    expect(folder.logged).toEqual([
      {
        level: 'warn',
        message: 'The authority for identities expires: replace it before',
        fields: { folder: folder.folder, expiresAt: issued.validToDate.toISOString() },
      },
    ]);
  });

  test('is replaced in three steps: services trust another one before they get certificates of it', async () => {
    const [former, next] = [await madeAuthority(), await madeAuthority()];
    const folder = new GivenFolder();
    folder.write(former);
    const authority = await folder.open();
    const leaf = leafOf(await authority.issue(CART, folder.nowMs));
    folder.nowMs += 2 * SETTLE_MS;
    expect(await authority.refresh()).toBe(false);

    folder.write(former, [former, next]);
    expect(await authority.refresh()).toBe(true);
    const both = `${former.certificate}${next.certificate}`;
    expect(authority.trusted()).toBe(both);
    expect(authority.isSuccessorOf(leaf, folder.nowMs)).toBe(false);
    expect(authority.changesAtMs(folder.nowMs)).toBe(Infinity);

    folder.write(next, [former, next]);
    await authority.refresh();
    expect(authority.trusted()).toBe(both);
    expect(authority.isSuccessorOf(leaf, folder.nowMs)).toBe(false);
    const settledMs = folder.nowMs + SETTLE_MS;
    expect(authority.changesAtMs(folder.nowMs)).toBe(settledMs);
    expect(authority.isSuccessorOf(leaf, settledMs - 1)).toBe(false);
    expect(authority.isSuccessorOf(leaf, settledMs)).toBe(true);

    folder.write(next);
    await authority.refresh();
    expect(authority.trusted()).toBe(next.certificate);
    expect(authority.isSuccessorOf(leaf, folder.nowMs)).toBe(true);
    expect(folder.logged.map(({ level }) => level)).toEqual(['info', 'info', 'info']);
  });

  test('that is replaced without the former one says what comes of it', async () => {
    const folder = new GivenFolder();
    folder.write(await madeAuthority());
    const authority = await folder.open();
    folder.write(await madeAuthority());
    await authority.refresh();
    expect(folder.logged).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining('ca.crt does not have the former one'),
      }),
    ]);
  });
});

/** Ways in which the folder cannot be used. */
const UNUSABLE: readonly [string, (folder: GivenFolder) => Promise<void> | void, string][] = [
  ['has no files', ({ folder }) => rmSync(join(folder, 'tls.crt')), 'has no tls.crt (ENOENT)'],
  ['has no key', ({ folder }) => rmSync(join(folder, 'tls.key')), 'has no tls.key (ENOENT)'],
  [
    'has a folder in the place of a file',
    ({ folder }) => mkdirSync(join(folder, 'ca.crt')),
    'has a ca.crt that cannot be read (no file)',
  ],
  [
    'has a file that is too large',
    ({ folder }) => writeFileSync(join(folder, 'tls.crt'), Buffer.alloc(1024 * 1024 + 1)),
    'has no tls.crt (too large)',
  ],
  [
    'has garbage',
    ({ folder }) => writeFileSync(join(folder, 'tls.crt'), 'garbage'),
    'has a tls.crt without a certificate',
  ],
  [
    'has a key that is garbage',
    ({ folder }) => writeFileSync(join(folder, 'tls.key'), 'garbage'),
    'has a tls.key without a private key that is readable',
  ],
  [
    'has the key of another one',
    async ({ folder }) => writeFileSync(join(folder, 'tls.key'), (await madeAuthority()).key),
    'has a tls.key that does not belong to the certificate of tls.crt',
  ],
  [
    'has the certificate of a service',
    async (folder) => {
      const ca = await CertificateAuthority.create('ca');
      folder.write(await ca.issue({ uris: [CART.uri] }));
    },
    'has a tls.crt that is not of a certificate authority',
  ],
  [
    'has an authority that nobody trusts',
    async (folder) => {
      const ca = await CertificateAuthority.create('ca');
      folder.write(await ca.issue({ isAuthority: true }), [await madeAuthority()]);
    },
    'has a tls.crt that no authority of ca.crt has issued',
  ],
  [
    'has something else in ca.crt',
    ({ folder }) => writeFileSync(join(folder, 'ca.crt'), 'garbage'),
    'has a ca.crt with something else than certificates of authorities',
  ],
  [
    'has too many authorities in ca.crt',
    async (folder) => {
      const many = await Promise.all(Array.from({ length: 17 }, () => madeAuthority()));
      folder.write(many[0]!, many);
    },
    'has a ca.crt with more than 16 authorities',
  ],
  [
    'has expired',
    (folder) => void (folder.nowMs += 4000 * DAY_MS),
    'has a tls.crt that expired at',
  ],
  [
    'is not valid yet',
    (folder) => void (folder.nowMs -= 2 * DAY_MS),
    'has a tls.crt that is valid only from',
  ],
];

describe('an authority that', () => {
  test.each(UNUSABLE)('%s is refused at the start', async (_, spoil, problem) => {
    const folder = new GivenFolder();
    folder.write(await madeAuthority());
    await spoil(folder);
    await expect(folder.open()).rejects.toMatchObject({
      code: 'SVC_AUTHORITY_UNUSABLE',
      message: expect.stringContaining(`${folder.folder} ${problem}`),
    });
  });

  test.each(UNUSABLE.slice(0, -2))(
    '%s later leaves the one before in use, and the log says so once, without a key',
    async (_, spoil, problem) => {
      const folder = new GivenFolder();
      const first = await madeAuthority();
      folder.write(first);
      const authority = await folder.open();
      await spoil(folder);
      expect([await authority.refresh(), await authority.refresh()]).toEqual([false, false]);
      expect(authority.trusted()).toBe(first.certificate);
      const leaf = leafOf(await authority.issue(CART, folder.nowMs));
      expect(authority.isSuccessorOf(leaf, folder.nowMs)).toBe(false);
      expect(folder.logged).toHaveLength(1);
      expect(folder.logged[0]!.message).toContain(problem);
      expect(JSON.stringify(folder.logged)).not.toContain('PRIVATE');
    },
  );
});
