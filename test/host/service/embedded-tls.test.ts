// An embedded service that listens with TLS: its callers need no certificate, new files are taken into use, and a stop does not wait
// for a handshake.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEndpoint,
  get,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import {
  ServerCertificate,
  type ServerCertificateFiles,
} from '../../../identity/server-certificate.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import {
  CertificateAuthority,
  type IssuedCertificate,
} from '../../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HOUR_MS = 3_600_000;
const NEVER_MS = 2 ** 31 - 1;
const dnsNames = ['localhost'];
const ca = await CertificateAuthority.create('ca');
const first = await ca.issue({ dnsNames });
const second = await ca.issue({ dnsNames });
const expired = await ca.issue({ dnsNames, from: new Date(0), to: new Date(HOUR_MS) });
const future = await ca.issue({ dnsNames, from: new Date(Date.now() + HOUR_MS) });

function filesOf({ certificate, key }: IssuedCertificate): ServerCertificateFiles {
  const folder = temporaryFolder();
  const files = { certificate: join(folder, 'api.crt'), key: join(folder, 'api.key') };
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key);
  return files;
}

const hello = defineEndpoint({
  prefix: '',
  access: 'local',
  routes: { hello: get('/hello', { reply: 'text' }, ({ caller }) => `hello ${caller}`) },
});
const options = {
  name: 'secured',
  journal: 'memory',
  endpoints: [hello],
  log: 'none',
} as const satisfies ServiceOptions;

async function start(tls: ServerCertificateFiles): Promise<Service> {
  const service = await createService({ ...options, http: { port: 0, tls } });
  onTestFinished(() => service.stop(0));
  return service;
}

const portOf = (service: Service) => Number(new URL(service.url!).port);

async function requested(port: number) {
  const request = httpsGet({
    host: '127.0.0.1',
    port,
    path: '/hello',
    servername: 'localhost',
    ca: ca.certificate,
    agent: false,
  });
  const [response] = await once(request, 'response');
  let body = '';
  for await (const part of response) body += String(part);
  return { status: response.statusCode, body };
}

/** Returns the serial number of the server's certificate and the protocol of a new connection. */
async function handshake(port: number, more: ConnectionOptions = {}) {
  const to = { host: '127.0.0.1', port, servername: 'localhost', ca: ca.certificate };
  const socket = connect({ ...to, ...more });
  await once(socket, 'secureConnect');
  const serial = socket.getPeerX509Certificate()!.serialNumber;
  const protocol = socket.getProtocol();
  socket.destroy();
  return { serial, protocol };
}

describe('a service with TLS', () => {
  test('answers a caller without a certificate, and has an address of https', async () => {
    const service = await start(filesOf(first));
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await requested(portOf(service))).toEqual({ status: 200, body: 'hello local' });
  });

  test('speaks TLS 1.2 and 1.3, and nothing older or without TLS', async () => {
    const port = portOf(await start(filesOf(first)));
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      expect(await handshake(port, { minVersion: version, maxVersion: version })).toMatchObject({
        protocol: version,
      });
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(handshake(port, old as ConnectionOptions)).rejects.toMatchObject({
      code: expect.stringContaining('SSL'),
    });
    await expect(fetch(`http://127.0.0.1:${port}/hello`)).rejects.toThrow('fetch failed');
  });

  test('stops although a handshake is under way', async () => {
    const service = await start(filesOf(first));
    const socket = connectPlain(portOf(service), '127.0.0.1');
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    await requested(portOf(service));
    await service.stop();
    await expect(closed).resolves.toBeDefined();
  });

  test.each<readonly [string, () => ServerCertificateFiles, string, string]>([
    [
      'a missing file',
      () => ({ ...filesOf(first), key: '/nowhere/api.key' }),
      'SVC_CERTIFICATE_MISSING',
      '/nowhere/api.key cannot be read (ENOENT)',
    ],
    [
      'the key of another certificate',
      () => ({ ...filesOf(first), key: filesOf(second).key }),
      'SVC_CERTIFICATE_UNUSABLE',
      'The private key does not belong to the certificate.',
    ],
    [
      'a key in place of the certificate',
      () => filesOf({ ...first, certificate: first.key }),
      'SVC_CERTIFICATE_UNUSABLE',
      'The certificate is missing in its file',
    ],
    [
      'a certificate in place of the key',
      () => filesOf({ ...first, key: first.certificate }),
      'SVC_CERTIFICATE_UNUSABLE',
      'The private key is missing in its file',
    ],
    [
      'an expired certificate',
      () => filesOf(expired),
      'SVC_CERTIFICATE_UNUSABLE',
      'expired at 1970-01-01T01:00:00.000Z',
    ],
    [
      'a certificate of the future',
      () => filesOf(future),
      'SVC_CERTIFICATE_UNUSABLE',
      'is valid only from',
    ],
  ])('does not start with %s', async (_what, files, code, message) => {
    await expect(start(files())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

async function opened(files: ServerCertificateFiles, now = Date.now) {
  const log: LogEntry[] = [];
  const certificate = await ServerCertificate.open(files, {
    log: (entry) => log.push(entry),
    pollMs: NEVER_MS,
    now,
  });
  const server = certificate.createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    certificate.close();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { certificate, log, serial: async () => (await handshake(port)).serial };
}

describe('the certificate of a server', () => {
  test('is another one for new connections once its files are, and stays while they cannot be used', async () => {
    const files = filesOf(first);
    const { certificate, log, serial } = await opened(files);
    const before = await serial();
    await certificate.check();
    expect(log).toEqual([]);

    writeFileSync(files.certificate, second.certificate);
    await certificate.check();
    await certificate.check();
    expect(await serial()).toBe(before);
    expect(log).toMatchObject([
      {
        level: 'warn',
        message:
          'A new certificate cannot be used: The private key does not belong to the certificate. The previous one remains in use.',
        fields: { file: files.certificate },
      },
    ]);

    writeFileSync(files.key, second.key);
    await certificate.check();
    expect(await serial()).not.toBe(before);
    expect(log.at(-1)).toMatchObject({ level: 'info', message: 'A new certificate is in use' });
  });

  test('is reported before it expires, once for each stage', async () => {
    let nowMs = Date.now();
    const files = filesOf(first);
    const { certificate, log } = await opened(files, () => nowMs);
    nowMs += 22 * HOUR_MS;
    await certificate.check();
    await certificate.check();
    expect(log).toMatchObject([{ level: 'warn', fields: { file: files.certificate } }]);
  });
});
