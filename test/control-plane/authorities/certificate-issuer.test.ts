// Certificates are judged by others: OpenSSL, Node and curl accept what the authorities issue for their purpose, and refuse everything else.
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recognise } from '../../../identity/caller.ts';
import {
  type IssuedPair,
  issueLeaf,
  newAuthority,
} from '../../../control-plane/authorities/certificate-issuer.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { printed, verified, withoutOpenssl } from './openssl.ts';

const withoutCurl = spawnSync('curl', ['--version']).status !== 0;
if (withoutCurl) process.stderr.write('left out: curl is not installed\n');
const DAY_MS = 86_400_000;
const CART = 'spiffe://svc.localhost/ns/svc-shop/sa/cart';
const HOSTNAMES = ['svc.localhost', '*.svc.localhost'];
const validity = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS };

let identities: IssuedPair;
let hostnames: IssuedPair;

beforeAll(async () => {
  const authority = { fromMs: validity.fromMs, toMs: validity.toMs + DAY_MS };
  identities = await newAuthority({
    name: 'svc identities 1',
    permittedDomain: undefined,
    validity: authority,
  });
  hostnames = await newAuthority({
    name: 'svc hostnames 1',
    permittedDomain: 'svc.localhost',
    validity: authority,
  });
});

const identity = (uri = CART) => issueLeaf(identities, { names: { uri }, validity });
const server = (names: readonly string[]) =>
  issueLeaf(hostnames, { names: { hostnames: names }, validity });

describe.skipIf(withoutOpenssl !== undefined)('OpenSSL', () => {
  test.each(['sslserver', 'sslclient'])('accepts an identity as %s', async (purpose) => {
    const { certificate: leaf } = await identity();
    const authority = identities.certificate;
    expect(verified(temporaryFolder(), { authority, leaf }, '-purpose', purpose)).toBe('leaf: OK');
  });

  test('finds nothing in an identity but one critical URI', async () => {
    const text = printed((await identity()).certificate);
    expect(text).toMatch(/Subject: *\n/);
    expect(text).toMatch(new RegExp(`X509v3 Subject Alternative Name: critical\\s+URI:${CART}\\n`));
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/X509v3 Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toContain('ASN1 OID: prime256v1');
  });

  test('accepts the certificate for the base domain and one label below it', async () => {
    const { certificate: leaf } = await server(HOSTNAMES);
    const texts = { authority: hostnames.certificate, leaf };
    for (const name of ['svc.localhost', 'cart-shop.svc.localhost', 'api.svc.localhost'])
      expect(
        verified(temporaryFolder(), texts, '-purpose', 'sslserver', '-verify_hostname', name),
      ).toBe('leaf: OK');
    expect(verified(temporaryFolder(), texts, '-verify_hostname', 'a.b.svc.localhost')).toContain(
      'hostname mismatch',
    );
    // What is for servers proves nothing about a client.
    expect(verified(temporaryFolder(), texts, '-purpose', 'sslclient')).toContain(
      'unsuitable certificate purpose',
    );
  });

  test.each([
    ['another domain', ['bank.example']],
    ['another domain beside a permitted one', ['svc.localhost', 'bank.example']],
    ['a domain that ends like the permitted one', ['evilsvc.localhost']],
    ['the domain around the permitted one', ['localhost']],
  ])('refuses a certificate for %s', async (_what, names) => {
    const { certificate: leaf } = await server(names);
    expect(verified(temporaryFolder(), { authority: hostnames.certificate, leaf })).toContain(
      'permitted subtree violation',
    );
  });

  test('finds an authority that allows none below it and nothing but its domain, and that is not the other one', async () => {
    const { certificate: leaf } = await identity();
    expect(verified(temporaryFolder(), { authority: hostnames.certificate, leaf })).toContain(
      'unable to get local issuer certificate',
    );
    const text = printed(hostnames.certificate);
    expect(text).toMatch(/X509v3 Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(text).toMatch(
      /X509v3 Name Constraints: critical\s+Permitted:\s+DNS:svc.localhost\s+Excluded:\s+IP:0.0.0.0\/0.0.0.0\s+IP:0:0:0:0:0:0:0:0\/0:0:0:0:0:0:0:0/,
    );
  });
});

test('an identity names its service, and no two certificates have the same key or number', async () => {
  const [one, other] = (await Promise.all([identity(), identity()])).map(
    ({ certificate }) => new X509Certificate(certificate),
  ) as [X509Certificate, X509Certificate];
  const rules = { trustDomain: 'svc.localhost', gatewayId: 'spiffe://svc.localhost/gateway' };
  expect(recognise(one, rules)).toEqual({ kind: 'service', project: 'shop', service: 'cart' });
  expect(one.serialNumber).not.toBe(other.serialNumber);
  expect(one.publicKey.equals(other.publicKey)).toBe(false);
});

async function serve(names: readonly string[]): Promise<number> {
  const { certificate: cert, key } = await server(names);
  const listening = createServer({ cert, key }, (_request, response) => response.end('hello'));
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => {
    listening.close();
    listening.closeAllConnections();
  });
  return (listening.address() as AddressInfo).port;
}

/** Returns what Node says of the server: `ok`, or its error. */
async function asNode(port: number, servername: string): Promise<string> {
  const ca = hostnames.certificate;
  const socket = connect({ port, host: '127.0.0.1', servername, ca });
  onTestFinished(() => void socket.destroy());
  return await new Promise((resolve) => {
    socket.on('secureConnect', () => resolve('ok'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.message));
  });
}

describe('a server with a certificate for hostnames', () => {
  test('is accepted by Node for a hostname below the base domain, and refused for another one', async () => {
    const port = await serve(HOSTNAMES);
    expect(await asNode(port, 'cart-shop.svc.localhost')).toBe('ok');
    expect(await asNode(port, 'bank.example')).toContain("does not match certificate's altnames");
    expect(await asNode(await serve(['bank.example']), 'bank.example')).toBe(
      'permitted subtree violation',
    );
  });

  test.skipIf(withoutCurl)('is accepted by curl, and refused for a foreign name', async () => {
    const file = join(temporaryFolder(), 'ca.pem');
    writeFileSync(file, hostnames.certificate);
    const asked = async (names: readonly string[], host: string) => {
      const port = await serve(names);
      const to = ['--connect-to', `${host}:443:127.0.0.1:${port}`];
      const curl = spawn('curl', ['-sS', '--cacert', file, ...to, `https://${host}/`]);
      let output = '';
      for (const stream of [curl.stdout, curl.stderr])
        stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
      await once(curl, 'close');
      return output;
    };
    expect(await asked(HOSTNAMES, 'cart-shop.svc.localhost')).toBe('hello');
    expect(await asked(['bank.example'], 'bank.example')).toContain('permitted subtree violation');
  });
});
