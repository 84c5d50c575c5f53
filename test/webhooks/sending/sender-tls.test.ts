// Attempts with TLS: the certificate of a receiver is verified, whatever the environment says.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { deliveryTo, startSender } from './receiver-under-test.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const DNS_NAMES = ['receiver.localhost'];

async function issued(from: CertificateAuthority, contents: object): Promise<TlsOptions> {
  const { certificate: cert, key } = await from.issue({ dnsNames: DNS_NAMES, ...contents });
  return { cert, key };
}

async function attemptAt(
  options: TlsOptions,
  authority: CertificateAuthority,
  host = 'receiver.localhost',
) {
  const received: string[] = [];
  const server = createTlsServer(options, (socket) => {
    received.push(String(socket.servername));
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end(OK));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const sender = startSender({ authorities: [authority.certificate] });
  const { port } = server.address() as AddressInfo;
  return { ...(await sender.attempt(deliveryTo(`https://${host}:${port}/`))), received };
}

test('W11: a certificate of a trusted authority for the name', async () => {
  const authority = await CertificateAuthority.create('ca');
  const good = await issued(authority, {});
  const delivered = { isDelivered: true, status: 200, error: null, received: DNS_NAMES };
  expect(await attemptAt(good, authority)).toMatchObject(delivered);
  expect(await attemptAt(good, authority, 'receiver.localhost.')).toMatchObject(delivered);
});

test('W11: another name, an expired certificate, one of a stranger, and an old version', async () => {
  const authority = await CertificateAuthority.create('ca');
  const stranger = await CertificateAuthority.create('stranger');
  const day = 86_400_000;
  const bad: readonly (readonly [string, TlsOptions])[] = [
    ['name', await issued(authority, { dnsNames: ['other.localhost'] })],
    [
      'expired',
      await issued(authority, {
        from: new Date(Date.now() - 2 * day),
        to: new Date(Date.now() - day),
      }),
    ],
    ['stranger', await issued(stranger, {})],
    [
      'version',
      {
        ...(await issued(authority, {})),
        minVersion: 'TLSv1.1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      },
    ],
  ];
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [name, options] of bad) {
    const result = await attemptAt(options, authority);
    expect({ name, ...result }).toMatchObject({
      name,
      isDelivered: false,
      status: null,
      error: 'tls',
    });
  }
});

test('W11: a receiver that does not speak TLS', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(OK));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await startSender().attempt(deliveryTo(`https://127.0.0.1:${port}/`))).toMatchObject({
    isDelivered: false,
    error: 'tls',
  });
});
