// Strangers at a remoting port with mutual TLS: certificates with odd contents, former protocols, and sessions of former identities.
import { connect as connectPlain } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { encodeList } from '../../../host/remoting/flat-list.ts';
import { helloTo } from '../../../host/remoting/handshake.ts';
import { RemotingTls } from '../../../host/remoting/remoting-tls.ts';
import { contextOptions } from '../../../identity/certificates.ts';
import { certificateTexts } from '../../support/certificates/certificate-files.ts';
import type { CertificateContents } from '../../support/certificates/certificate-authority.ts';
import {
  ca,
  CART,
  generationsOf,
  RULES,
  textsOf,
} from '../../support/certificates/test-identities.ts';
import {
  CALLING,
  callingNode,
  callOf,
  outcomeOf,
  reply,
  SERVING,
  servingNode,
  until,
} from '../../support/remoting/remote-pair.ts';

const HOUR_MS = 3_600_000;
const ago = (ms: number): Date => new Date(Date.now() - ms);
const cart = await textsOf(CART);
const tls = new RemotingTls(generationsOf(cart), RULES);

/** Connects to a port as a stranger who sends the hello of a node, and counts what arrives. */
function stranger(port: number, options: ConnectionOptions) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    checkServerIdentity: () => undefined,
    ...options,
  });
  onTestFinished(() => void socket.destroy());
  const seen = { bytes: 0, hasEnded: false };
  socket.on('data', (chunk: Buffer) => (seen.bytes += chunk.length));
  socket.on('error', () => {}).on('close', () => (seen.hasEnded = true));
  socket.write(encodeList(helloTo(CALLING, SERVING)));
  return { socket, seen };
}

const reasonsOf = ({ log }: Pick<Awaited<ReturnType<typeof servingNode>>, 'log'>): string[] =>
  log.map(({ fields }) => String(fields?.['reason']));

async function stillServes(port: number): Promise<void> {
  const peer = await callingNode(port, { callingTls: tls }).connected();
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
}

test.each<[string, CertificateContents, string]>([
  ['has expired', { uris: [CART], from: ago(HOUR_MS), to: ago(1000) }, 'CERT_HAS_EXPIRED'],
  ['is not valid yet', { uris: [CART], from: ago(-HOUR_MS) }, 'CERT_NOT_YET_VALID'],
  ['names the service and another one', { uris: [CART, `${CART}-2`] }, 'several URIs'],
  ['names the service twice', { uris: [CART, CART] }, 'several URIs'],
  ['names the service as a host', { dnsNames: ['cart'] }, 'names no URI'],
  ['has a comma in its URI', { uris: [`spiffe://a, URI:${CART}`] }, 'is not a SPIFFE ID'],
  ['has a trust domain in capitals', { uris: [CART.replace('td', 'TD')] }, 'is not a SPIFFE ID'],
  ['has a scheme in capitals', { uris: [CART.replace('spiffe', 'SPIFFE')] }, 'is not a SPIFFE ID'],
  [
    'has a trust domain with a dot',
    { uris: [CART.replace('td/', 'td./')] },
    'another trust domain',
  ],
  ['has a port', { uris: [CART.replace('td/', 'td:443/')] }, 'is not a SPIFFE ID'],
  ['has a further segment', { uris: [`${CART}/x`] }, 'neither the gateway nor a service'],
  ['ends with a slash', { uris: [`${CART}/`] }, 'is not a SPIFFE ID'],
  ['has a dot segment', { uris: [CART.replace('ns/', 'x/../ns/')] }, 'is not a SPIFFE ID'],
  ['is percent-encoded', { uris: [CART.replace('cart', 'c%61rt')] }, 'is not a SPIFFE ID'],
  ['has a query', { uris: [`${CART}?x`] }, 'is not a SPIFFE ID'],
])('a certificate that %s admits nobody', async (_, contents, reason) => {
  const serving = await servingNode({ servingTls: tls });
  const texts = certificateTexts(await ca.issue(contents), ca);
  const { seen } = stranger(serving.port, contextOptions(texts));
  await until('the refusal', () => seen.hasEnded && serving.log.length > 0);
  expect(reasonsOf(serving)).toEqual([expect.stringContaining(reason)]);
  expect([seen.bytes, serving.server.connections, serving.server.handshakes]).toEqual([0, 0, 0]);
  await stillServes(serving.port);
});

test('what a certificate names reaches the log only if it is a service', async () => {
  const serving = await servingNode({ servingTls: tls });
  const uri = `${CART}\u001b[31m\nroot`;
  const texts = certificateTexts(await ca.issue({ uris: [uri] }), ca);
  const { seen } = stranger(serving.port, contextOptions(texts));
  await until('the refusal', () => seen.hasEnded && serving.log.length > 0);
  expect(JSON.stringify(serving.log)).not.toMatch(/root|u001b/);
});

test('TLS 1.2 is refused, whoever speaks it', async () => {
  const serving = await servingNode({ servingTls: tls });
  const options = {
    ...contextOptions(cart),
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
  } as const;
  const { seen } = stranger(serving.port, options);
  await until('the refusal', () => seen.hasEnded && serving.log.length > 0);
  expect(reasonsOf(serving)).toEqual([expect.stringContaining('ERR_SSL_UNSUPPORTED_PROTOCOL')]);
  await stillServes(serving.port);
});

test('a node gives out no session, so that nobody is admitted by a former identity', async () => {
  const serving = await servingNode({ servingTls: tls });
  const sessions: Buffer[] = [];
  const first = stranger(serving.port, contextOptions(cart));
  first.socket.on('session', (session: Buffer) => sessions.push(session));
  await until('the hello', () => first.seen.bytes > 0);
  const session = sessions.at(-1) ?? first.socket.getSession();
  first.socket.destroy();
  await until('the end', () => serving.server.connections === 0);
  // The certificate is needed, even if the session is accepted by the client.
  const { socket, seen } = stranger(serving.port, { ca: ca.certificate, session });
  let isReused = false;
  socket.on('secureConnect', () => (isReused = socket.isSessionReused()));
  await until('the refusal', () => seen.hasEnded && serving.log.length > 0);
  expect(isReused).toBe(false);
  expect([seen.bytes, reasonsOf(serving)]).toEqual([0, ['the other side shows no certificate']]);
});

test('strangers that reset their connections in and after the handshake stop no process', async () => {
  const serving = await servingNode({ servingTls: tls });
  const texts = [
    { ca: ca.certificate },
    contextOptions(await textsOf('spiffe://td/ns/svc-shop/sa/x')),
  ];
  for (let round = 0; round < 40; round++) {
    const raw = connectPlain(serving.port, '127.0.0.1');
    const socket: TLSSocket = connect({
      socket: raw,
      checkServerIdentity: () => undefined,
      ...texts[round % 2]!,
    });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    raw.on('error', () => {});
    const hasEnded = new Promise((resolve) => void raw.once('close', resolve));
    const reset = (): void => {
      socket.write('x'.repeat(100_000));
      raw.resetAndDestroy();
    };
    if (round % 4 < 2) socket.once('secureConnect', reset);
    else raw.once('data', reset);
    // oxlint-disable-next-line no-await-in-loop -- one stranger follows the other
    await hasEnded;
  }
  await until('the ends', () => serving.server.handshakes === 0);
  expect(serving.server.connections).toBe(0);
  await stillServes(serving.port);
});
