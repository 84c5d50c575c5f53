// The certificates of a machine are there before anything needs them, renewed in time, and not replaced needlessly.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CertificateGenerations } from '../../../identity/certificate-generations.ts';
import { parseCertificates } from '../../../identity/certificates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { connectTo, startServer } from '../../identity/tls-harness.ts';
import {
  certificateIn,
  CertificatesUnderTest,
  DAY_MS,
  HOUR_MS,
  textsIn,
} from './certificates-under-test.ts';
import { printed, verified, withoutOpenssl } from './openssl.ts';

const CART = 'spiffe://svc.localhost/ns/svc-shop/sa/cart';
const TO_CART = { expectedId: CART };
const GATEWAY = 'spiffe://svc.localhost/gateway';

/** Returns what the program to which the identity belongs finds wrong with it. */
function problemOf(folder: string, id: string, nowMs: number): string | undefined {
  const parsed = parseCertificates(textsIn(folder), nowMs, id);
  return 'problem' in parsed ? parsed.problem : undefined;
}

const fingerprint = (folder: string, name?: string) => certificateIn(folder, name).fingerprint256;

describe('the certificates of a machine', () => {
  test('are there once it is opened: the identity and the hostnames of the gateway, and what clients have to trust', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const { paths } = machine;
    expect(problemOf(paths.gatewayIdentity, GATEWAY, machine.nowMs)).toBeUndefined();
    expect(certificates.rules).toEqual({ trustDomain: 'svc.localhost', gatewayId: GATEWAY });
    const host = certificateIn(paths.gatewayCertificates, 'default.crt');
    expect(host.subjectAltName).toBe('DNS:svc.localhost, DNS:*.svc.localhost');
    // Trusting the gateway's hostnames trusts no identity, and the other way round.
    expect(readFileSync(paths.hostnamesAuthority, 'utf8')).not.toBe(
      textsIn(paths.gatewayIdentity).authorities,
    );
  });

  test.skipIf(withoutOpenssl !== undefined)(
    'for hostnames are accepted by OpenSSL, with an authority that is limited to the base domain',
    async () => {
      const machine = new CertificatesUnderTest();
      await machine.open();
      const { gatewayCertificates, hostnamesAuthority } = machine.paths;
      const authority = readFileSync(hostnamesAuthority, 'utf8');
      const leaf = certificateIn(gatewayCertificates, 'default.crt').toString();
      expect(verified(temporaryFolder(), { authority, leaf })).toBe('leaf: OK');
      expect(printed(authority)).toMatch(/Permitted:\s+DNS:svc.localhost\n/);
    },
  );

  test('keep the keys of the authorities to their owner, and out of the folders of instances', async () => {
    const machine = new CertificatesUnderTest();
    const folder = await machine.instance(await machine.open(), 'cart');
    const mode = (...path: string[]) => statSync(join(machine.folder, ...path)).mode & 0o777;
    expect(mode('authorities')).toBe(0o700);
    expect(mode('gateway')).toBe(0o700);
    const keys = ['identities', 'hostnames'].map((kind) => {
      expect(mode('authorities', `${kind}.json`)).toBe(0o600);
      const path = join(machine.folder, 'authorities', `${kind}.json`);
      return (JSON.parse(readFileSync(path, 'utf8')) as { readonly key: string }).key;
    });
    expect(mode('ca.pem')).toBe(0o644);
    expect(statSync(join(folder, 'tls.key')).mode & 0o777).toBe(0o600);
    const texts = [dirname(folder), machine.paths.gateway].flatMap((around) =>
      readdirSync(around, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
    );
    expect(texts.length).toBeGreaterThanOrEqual(8);
    expect(texts.filter((text) => keys.some((key) => text.includes(key)))).toEqual([]);
  });

  test('remain as they are when they are opened again', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const folder = await machine.instance(certificates, 'cart');
    await certificates.close();
    const before = [textsIn(folder), textsIn(machine.paths.gatewayIdentity)];
    const host = fingerprint(machine.paths.gatewayCertificates, 'default.crt');
    machine.nowMs += 11 * HOUR_MS;
    await machine.open();
    expect([textsIn(folder), textsIn(machine.paths.gatewayIdentity)]).toEqual(before);
    expect(fingerprint(machine.paths.gatewayCertificates, 'default.crt')).toBe(host);
  });

  test('are renewed at half of their lifetime, so that every moment has a valid one', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const folder = await machine.instance(certificates, 'cart');
    const folders = [
      { path: folder, id: CART },
      { path: machine.paths.gatewayIdentity, id: GATEWAY },
    ];
    const seen = new Set<string>();
    for (let look = 0; look < 2 * 4; look++) {
      machine.nowMs += 6 * HOUR_MS;
      await certificates.check();
      for (const { path, id } of folders)
        expect(problemOf(path, id, machine.nowMs)).toBeUndefined();
      seen.add(fingerprint(folder));
      const left = certificateIn(folder).validToDate.getTime() - machine.nowMs;
      expect(left).toBeGreaterThan(12 * HOUR_MS);
    }
    expect(seen.size).toBe(2 * 2 + 1);
  });

  test('for hostnames last for a month, and are renewed after half of it', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const seen = new Set<string>();
    for (let look = 0; look < 12; look++) {
      machine.nowMs += 5 * DAY_MS;
      await certificates.check();
      const host = certificateIn(machine.paths.gatewayCertificates, 'default.crt');
      seen.add(host.fingerprint256);
      expect(host.validToDate.getTime() - machine.nowMs).toBeGreaterThan(15 * DAY_MS);
    }
    expect(seen.size).toBe(5);
  });

  test.each([
    ['ahead', 1],
    ['behind', -1],
  ])(
    'are valid although the clock is a day %s, and good again when it is set right',
    async (_what, sign) => {
      const machine = new CertificatesUnderTest();
      const right = machine.nowMs;
      machine.nowMs += sign * DAY_MS;
      const certificates = await machine.open();
      const folder = await machine.instance(certificates, 'cart');
      machine.nowMs = right;
      // What was made by a clock that was ahead is good at once, and what was made by one that was behind has expired.
      expect(problemOf(folder, CART, right) === undefined).toBe(sign === 1);
      await certificates.check();
      expect(problemOf(folder, CART, right)).toBeUndefined();
      expect(certificateIn(folder).validToDate.getTime() - right).toBeLessThanOrEqual(DAY_MS);
      await certificates.close();
      await machine.open();
    },
  );

  test.each([
    ['torn', (folder: string) => writeFileSync(join(folder, '..data', 'tls.crt'), '-----BEGIN')],
    ['without its key', (folder: string) => rmSync(join(folder, 'tls.key'))],
    ['gone', (folder: string) => rmSync(folder, { recursive: true })],
  ])('are issued anew where they are %s', async (_what, damage) => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const folder = await machine.instance(certificates, 'cart');
    const { gatewayIdentity } = machine.paths;
    for (const one of [folder, gatewayIdentity]) damage(one);
    await certificates.check();
    expect(problemOf(folder, CART, machine.nowMs)).toBeUndefined();
    expect(problemOf(gatewayIdentity, GATEWAY, machine.nowMs)).toBeUndefined();
  });

  test('are not those of another service: a foreign identity is replaced', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const [cart, orders] = [
      await machine.instance(certificates, 'cart'),
      await machine.instance(certificates, 'orders'),
    ];
    rmSync(cart, { recursive: true });
    cpSync(orders, cart, { recursive: true, verbatimSymlinks: true });
    await certificates.check();
    expect(problemOf(cart, CART, machine.nowMs)).toBeUndefined();
  });

  test('are not written for an instance that is gone', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const folder = await machine.instance(certificates, 'cart');
    rmSync(dirname(folder), { recursive: true });
    machine.nowMs += 13 * HOUR_MS;
    await certificates.check();
    expect(existsSync(dirname(folder))).toBe(false);
    expect(machine.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('are renewed where they can be, if a folder cannot be written, and the log says so once', async () => {
    const machine = new CertificatesUnderTest();
    const certificates = await machine.open();
    const folder = await machine.instance(certificates, 'cart');
    const { gatewayIdentity } = machine.paths;
    rmSync(gatewayIdentity, { recursive: true });
    writeFileSync(gatewayIdentity, 'a file in its place');
    const before = fingerprint(folder);
    machine.nowMs += 13 * HOUR_MS;
    await certificates.check();
    await certificates.check();
    expect(fingerprint(folder)).not.toBe(before);
    expect(machine.logged.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { path: gatewayIdentity } },
    ]);
    rmSync(gatewayIdentity);
    await certificates.check();
    expect(problemOf(gatewayIdentity, GATEWAY, machine.nowMs)).toBeUndefined();
  });
});

const file = (machine: CertificatesUnderTest, kind = 'identities') =>
  join(machine.paths.authorities, `${kind}.json`);
async function closed(): Promise<CertificatesUnderTest> {
  const machine = new CertificatesUnderTest();
  await (await machine.open()).close();
  return machine;
}

function diskIsFull(): never {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}

describe('a folder in which no authority can be written', () => {
  test('is an error when it has something else in the place of the authorities', async () => {
    const machine = new CertificatesUnderTest();
    writeFileSync(machine.paths.authorities, '');
    await expect(machine.open()).rejects.toMatchObject({ code: 'SVC_DATA_UNUSABLE' });
  });

  test('is an error when its disk is full, and has all certificates once there is space', async () => {
    const machine = new CertificatesUnderTest();
    await expect(machine.open({ carryOut: diskIsFull })).rejects.toMatchObject({
      code: 'SVC_DISK_FULL',
    });
    await machine.open();
    expect(problemOf(machine.paths.gatewayIdentity, GATEWAY, machine.nowMs)).toBeUndefined();
  });
});

describe('an authority', () => {
  test.each(['identities', 'hostnames'])(
    'for %s that is lost is an error, which says how to replace it',
    async (kind) => {
      const machine = await closed();
      rmSync(file(machine, kind));
      await expect(machine.open()).rejects.toMatchObject({
        code: 'SVC_AUTHORITY_LOST',
        message: expect.stringMatching(/no file .*\. .*--new-authority/) as string,
      });
      expect(existsSync(file(machine, kind))).toBe(false);
    },
  );

  test.each([
    ['torn', 'is torn, or no authority', (path: string) => writeFileSync(path, '{"version":1,"ke')],
    ['empty', 'is torn, or no authority', (path: string) => writeFileSync(path, '')],
    [
      'for something else',
      'is of an authority for hostnames',
      (path: string) => cpSync(path.replace('identities', 'hostnames'), path),
    ],
    ['readable by others', 'may be read by other users', (path: string) => chmodSync(path, 0o640)],
    [
      'a folder',
      'is no file of an authority',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])('whose file is %s is an error, and the file is left', async (_what, problem, damage) => {
    const machine = await closed();
    damage(file(machine));
    await expect(machine.open()).rejects.toMatchObject({
      code: 'SVC_AUTHORITY_UNUSABLE',
      message: expect.stringContaining(problem) as string,
    });
    expect(existsSync(file(machine))).toBe(true);
  });

  test('with the key of another one is an error', async () => {
    const machine = await closed();
    const other = await closed();
    const read = (one: CertificatesUnderTest) =>
      JSON.parse(readFileSync(file(one), 'utf8')) as Record<string, unknown>;
    writeFileSync(file(machine), JSON.stringify({ ...read(machine), key: read(other)['key'] }));
    await expect(machine.open()).rejects.toThrow('has a key that is not of its certificate');
  });

  test('of another base domain is an error', async () => {
    const machine = await closed();
    await expect(machine.open({ domain: 'example.org' })).rejects.toMatchObject({
      code: 'SVC_AUTHORITY_UNUSABLE',
      message: expect.stringContaining(
        'is of the domain svc.localhost, and not of example.org',
      ) as string,
    });
    const replaced = await machine.open({ domain: 'example.org', isNew: true });
    expect(replaced.rules.gatewayId).toBe('spiffe://example.org/gateway');
    expect(
      problemOf(machine.paths.gatewayIdentity, 'spiffe://example.org/gateway', machine.nowMs),
    ).toBeUndefined();
    const host = certificateIn(machine.paths.gatewayCertificates, 'default.crt');
    expect(host.subjectAltName).toBe('DNS:example.org, DNS:*.example.org');
  });

  test('that has expired is an error, and one that expires within a year is announced', async () => {
    const machine = await closed();
    const createdAtMs = machine.nowMs;
    machine.nowMs = createdAtMs + 3300 * DAY_MS;
    await (await machine.open()).close();
    expect(machine.logged).toContainEqual(
      expect.objectContaining({
        message:
          'An authority expires: replace it with --new-authority (svc.local.new-authority=true) before',
      }),
    );
    machine.nowMs = createdAtMs + 3649 * DAY_MS;
    await expect(machine.open()).rejects.toThrow('too soon to issue certificates');
  });

  test.each(['whose file is lost', 'that is good'])(
    '%s is replaced when the operator asks for it, and nobody is refused meanwhile',
    async (what) => {
      const machine = new CertificatesUnderTest();
      const certificates = await machine.open();
      const cart = await machine.instance(certificates, 'cart');
      const orders = await machine.instance(certificates, 'orders');
      await certificates.close();
      const before = fingerprint(cart);
      if (what === 'whose file is lost')
        for (const kind of ['identities', 'hostnames']) rmSync(file(machine, kind));
      const trusted = readFileSync(machine.paths.hostnamesAuthority, 'utf8');
      machine.nowMs += HOUR_MS;
      const renewed = await machine.open({ isNew: true });
      // The gateway's clients have to be told; programs of the machine trust both.
      expect(readFileSync(machine.paths.hostnamesAuthority, 'utf8')).not.toBe(trusted);
      expect(fingerprint(cart)).toBe(before);
      const { port } = await startServer(generationsIn(cart));
      expect(await connectTo(generationsIn(orders), port, TO_CART)).toMatchObject({
        kind: 'connected',
      });
      // An instance that starts now is of the new authority.
      const started = await machine.instance(renewed, 'started');
      expect(await connectTo(generationsIn(started), port, TO_CART)).toMatchObject({
        kind: 'connected',
      });
      machine.nowMs += 60_000;
      await renewed.check();
      expect(fingerprint(cart)).not.toBe(before);
      expect(await connectTo(generationsIn(cart), port, TO_CART)).toMatchObject({
        kind: 'connected',
      });
      // Once no certificate of the former one can be valid, it is trusted no more.
      expect(textsIn(cart).authorities.match(/BEGIN/g)).toHaveLength(2);
      machine.nowMs += DAY_MS;
      await renewed.check();
      expect(textsIn(cart).authorities.match(/BEGIN/g)).toHaveLength(1);
      expect(problemOf(cart, CART, machine.nowMs)).toBeUndefined();
    },
  );

  test('is not replaced again and again by a control plane that is started in a loop', async () => {
    const machine = await closed();
    machine.nowMs += HOUR_MS;
    await (await machine.open({ isNew: true })).close();
    const { authorities } = textsIn(machine.paths.gatewayIdentity);
    for (let start = 0; start < 3; start++) {
      machine.nowMs += 1000;
      await (await machine.open({ isNew: true })).close();
    }
    expect(textsIn(machine.paths.gatewayIdentity).authorities).toBe(authorities);
  });
});

function generationsIn(folder: string): CertificateGenerations {
  const parsed = parseCertificates(textsIn(folder), undefined);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return new CertificateGenerations(parsed);
}
