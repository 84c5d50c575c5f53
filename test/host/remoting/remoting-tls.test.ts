// Nodes that call each other with mutual TLS: only the service itself is admitted, whoever else has a certificate.
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { encodeList } from '../../../host/remoting/flat-list.ts';
import { helloTo } from '../../../host/remoting/handshake.ts';
import { REMOTING_BOUNDS } from '../../../host/remoting/remoting-limits.ts';
import { REMOTING_AGES, RemotingTls } from '../../../host/remoting/remoting-tls.ts';
import type { NodeService } from '../../../host/remoting/remoting-server.ts';
import { FRAME_KINDS as KIND } from '../../../host/shards/frame.ts';
import { contextOptions, type CertificateTexts } from '../../../identity/certificates.ts';
import {
  CART,
  GATEWAY,
  generationsOf,
  ORDERS,
  otherCa,
  RULES,
  textsOf,
  ca,
} from '../../support/certificates/test-identities.ts';
import { RawPeer } from '../../support/remoting/raw-peer.ts';
import {
  CALLING,
  callingNode,
  callOf,
  outcomeOf,
  remotePair,
  reply,
  SERVING,
  servingNode,
  until,
} from '../../support/remoting/remote-pair.ts';

type Logging = Pick<Awaited<ReturnType<typeof servingNode>>, 'log'>;

const DIFFERS = 'svc.remoting.tls has to be the same in all nodes of a service';
const cart = await textsOf(CART);
const cartTls = tlsOf(cart);

function tlsOf(texts: CertificateTexts): RemotingTls {
  return new RemotingTls(generationsOf(texts), RULES);
}

const refusalsOf = ({ log }: Logging): unknown[] =>
  log
    .filter(({ fields }) => fields?.['code'] === 'SVC_REMOTING_FAILED')
    .map(({ fields }) => fields?.['reason']);

/** A node of the service is still served. */
async function stillServes(port: number): Promise<void> {
  const { connected } = callingNode(port, { callingTls: cartTls });
  const peer = await connected();
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
}

test('nodes with the certificates of one service call each other', async () => {
  const servingTls = tlsOf(await textsOf(CART));
  const { serving, calling, peer } = await remotePair({ servingTls, callingTls: cartTls });
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
  // Larger than what the system takes at once.
  const input = `"${'x'.repeat(8_000_000)}"`;
  expect(await outcomeOf(() => peer.call(callOf('add', input)))).toEqual(reply('"add"'));
  expect([serving.server.connections, serving.server.handshakes]).toEqual([1, 0]);
  expect([refusalsOf(serving), refusalsOf(calling)]).toEqual([[], []]);
});

test.each<[string, () => Promise<CertificateTexts>, string]>([
  [
    'another service of the installation',
    () => textsOf(ORDERS),
    `is ${ORDERS}, and not this service`,
  ],
  ['the gateway', () => textsOf(GATEWAY), 'is the gateway'],
  [
    'the service of the same name in another project',
    () => textsOf('spiffe://td/ns/svc-other/sa/cart'),
    'is spiffe://td/ns/svc-other/sa/cart',
  ],
  [
    'the service of another trust domain',
    () => textsOf('spiffe://other/ns/svc-shop/sa/cart'),
    'belongs to another trust domain',
  ],
  [
    'the service of another installation',
    () => textsOf(CART, otherCa, [ca]),
    'a certificate that this node does not trust',
  ],
])('%s is not admitted by a node', async (_, texts, reason) => {
  const serving = await servingNode({ servingTls: cartTls });
  const { certificate, key, authorities } = await texts();
  const socket = connect({
    port: serving.port,
    host: '127.0.0.1',
    ...contextOptions({ certificate, key, authorities }),
    checkServerIdentity: () => undefined,
  });
  onTestFinished(() => void socket.destroy());
  const received: Buffer[] = [];
  let hasEnded = false;
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  socket.on('close', () => {
    hasEnded = true;
  });
  await until('the end', () => hasEnded && serving.log.length > 0);
  expect(refusalsOf(serving)).toEqual([expect.stringContaining(reason)]);
  expect(received).toEqual([]);
  expect([serving.server.connections, serving.server.handshakes]).toEqual([0, 0]);
  await stillServes(serving.port);
});

test.each<[string, () => Promise<CertificateTexts>, string]>([
  [
    'another service',
    () => textsOf(ORDERS),
    `is not this service: the peer is ${ORDERS}, not ${CART}`,
  ],
  [
    'another installation',
    () => textsOf(CART, otherCa, [ca]),
    'shows no certificate that this node trusts',
  ],
])('a node calls no server of %s', async (_, texts, reason) => {
  const serving = await servingNode({ servingTls: tlsOf(await texts()) });
  const calling = callingNode(serving.port, { callingTls: cartTls });
  await until('the failure', () => calling.log.length > 0);
  expect(refusalsOf(calling)).toEqual([expect.stringContaining(reason)]);
  expect(calling.nodes.peer(1)).toBeUndefined();
  expect(calling.nodes.unreachable).toEqual([1]);
});

test('a client without a certificate is refused by name', async () => {
  const serving = await servingNode({ servingTls: cartTls });
  const socket = connect({
    port: serving.port,
    host: '127.0.0.1',
    ca: ca.certificate,
    checkServerIdentity: () => undefined,
  });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await until('the refusal', () => serving.log.length > 0);
  expect(refusalsOf(serving)).toEqual(['the other side shows no certificate']);
});

test('a plain node at a port with TLS fails by name on both sides', async () => {
  const serving = await servingNode({ servingTls: cartTls });
  const calling = callingNode(serving.port);
  await until('the failures', () => calling.log.length > 0 && serving.log.length > 0);
  expect(refusalsOf(calling)[0]).toContain(
    `ended the connection before it introduced itself: ${DIFFERS}`,
  );
  expect(refusalsOf(serving)[0]).toContain('does not speak TLS as this node does');
  expect(refusalsOf(serving)[0]).toContain(DIFFERS);
  expect(calling.nodes.unreachable).toEqual([1]);
  await stillServes(serving.port);
});

test('a node with TLS at a plain port fails by name on both sides', async () => {
  const serving = await servingNode();
  const calling = callingNode(serving.port, { callingTls: cartTls });
  await until('the failures', () => calling.log.length > 0 && serving.log.length > 0);
  expect(refusalsOf(serving)[0]).toContain(`speaks TLS, and this node does not: ${DIFFERS}`);
  expect(refusalsOf(calling)[0]).toContain('ended the connection during the handshake of TLS');
  expect(refusalsOf(calling)[0]).toContain(DIFFERS);
});

test('connections that begin no handshake of TLS keep no node out', async () => {
  const serving = await servingNode({ servingTls: cartTls });
  const silent = await Promise.all(
    Array.from({ length: 70 }, () => RawPeer.connected(serving.port)),
  );
  // The beginning of a handshake is none.
  for (const peer of silent.slice(0, 35)) peer.write(Buffer.from('1603010200010001fc0303', 'hex'));
  await until('the bound', () => serving.server.handshakes === 64);
  await until('the ends of the oldest', () => silent.filter((peer) => peer.hasEnded).length === 6);
  await stillServes(serving.port);
  expect(serving.server.handshakes).toBeLessThanOrEqual(64);
  for (const peer of silent) peer.socket.destroy();
  await until('the ends', () => serving.server.handshakes === 0);
});

test('a connection that ends before it has said anything is not logged', async () => {
  const serving = await servingNode({ servingTls: cartTls });
  const socket = connectPlain(serving.port, '127.0.0.1', () => socket.end());
  await until('the end', () => socket.closed);
  await until('the end of the handshake', () => serving.server.handshakes === 0);
  expect(serving.log).toEqual([]);
});

test('new certificates are shown on both sides of the connections that begin afterwards', async () => {
  const servers = generationsOf(await textsOf(CART, ca, [ca]));
  const callers = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const servingTls = new RemotingTls(servers, RULES);
  const callingTls = new RemotingTls(callers, RULES);
  const { port } = await servingNode({ servingTls });
  await callingNode(port, { callingTls }).connected();
  // From now on the server trusts only the other authority, so a caller is admitted by a certificate that it has issued.
  expect(servers.offer(await textsOf(CART, otherCa, [otherCa]), Date.now())).toBeUndefined();
  const former = callingNode(port, { callingTls });
  await until('the failure', () => former.log.some(({ level }) => level === 'warn'));
  expect(callers.offer(await textsOf(CART, otherCa, [otherCa]), Date.now())).toBeUndefined();
  const peer = await callingNode(port, { callingTls }).connected();
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
});

test('new certificates make the connections again, and no call is lost', async () => {
  const source = generationsOf(await textsOf(CART));
  const callingTls = new RemotingTls(source, RULES);
  const answers: (() => void)[] = [];
  const serve: NodeService['serve'] = ([, name]) =>
    name === 'waits'
      ? new Promise((resolve) => {
          answers.push(() => resolve(reply('"late"')));
        })
      : reply(`"${name}"`);
  const { serving, calling, peer } = await remotePair({
    servingTls: cartTls,
    callingTls,
    service: { serve },
  });
  const late = outcomeOf(() => peer.call(callOf('waits')));
  await until('the call', () => answers.length === 1);
  for (const texts of await Promise.all([textsOf(CART), textsOf(CART)]))
    expect(source.offer(texts, Date.now())).toBeUndefined();
  // The former connection serves until there is another one.
  expect(calling.nodes.peer(1)).toBe(peer);
  await until('another connection', () => calling.nodes.peer(1) !== peer);
  expect(await outcomeOf(() => calling.nodes.peer(1)!.call(callOf('add')))).toEqual(reply('"add"'));
  answers[0]!();
  expect(await late).toEqual(reply('"late"'));
  await until('the end of the former one', () => serving.server.connections === 1);
  expect([refusalsOf(serving), refusalsOf(calling)]).toEqual([[], []]);
});

test('a node whose new certificate nobody trusts yet uses its connections meanwhile', async () => {
  const callers = generationsOf(await textsOf(CART));
  const servers = generationsOf(await textsOf(CART));
  const { calling, peer } = await remotePair({
    servingTls: new RemotingTls(servers, RULES),
    callingTls: new RemotingTls(callers, RULES),
  });
  callers.offer(await textsOf(CART, otherCa, [ca, otherCa]), Date.now());
  await until('the failure', () => refusalsOf(calling).length > 0);
  expect(refusalsOf(calling)[0]).toContain('it may not trust the certificate of this node');
  expect(calling.nodes.peer(1)).toBe(peer);
  expect(calling.nodes.unreachable).toEqual([]);
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
  servers.offer(await textsOf(CART, ca, [ca, otherCa]), Date.now());
  await until('another connection', () => calling.nodes.peer(1) !== peer);
});

test('a connection that was verified before an authority was removed ends', async () => {
  const servers = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const servingTls = new RemotingTls(servers, RULES, { ...REMOTING_AGES, formerMsMax: 0 });
  // The other node does not read its new files.
  const callingTls = tlsOf(await textsOf(CART, otherCa, [ca, otherCa]));
  const { serving, calling } = await remotePair({ servingTls, callingTls });
  servers.offer(await textsOf(CART), Date.now());
  await until('the end', () => calling.nodes.peer(1) === undefined);
  expect(refusalsOf(serving)[0]).toBe(
    'the other side was verified before a certificate authority was removed',
  );
  await until('the refusal', () => refusalsOf(serving).length > 1);
  expect(refusalsOf(serving)[1]).toContain('a certificate that this node does not trust');
  expect(serving.server.connections).toBe(0);
});

test('a connection that began after an authority was removed stays', async () => {
  const servers = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const servingTls = new RemotingTls(servers, RULES, { ...REMOTING_AGES, formerMsMax: 50 });
  const former = await remotePair({ servingTls, callingTls: cartTls });
  servers.offer(await textsOf(CART), Date.now());
  const { connected } = callingNode(former.serving.port, { callingTls: cartTls });
  const peer = await connected();
  // The node of the former one connects again.
  await until('the end', () => refusalsOf(former.serving).length === 1);
  await until('another connection', () => former.calling.nodes.peer(1) !== former.peer);
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
  expect(refusalsOf(former.serving)).toHaveLength(1);
});

test('a node of another cluster is refused by name', async () => {
  const serving = await servingNode({ servingTls: cartTls });
  const calling = callingNode(serving.port, {
    callingTls: cartTls,
    calling: { ...CALLING, cluster: 'cluster-b' },
  });
  await until('the refusals', () => calling.log.length > 0 && serving.log.length > 0);
  expect(refusalsOf(calling)[0]).toContain('refuses: belongs to another cluster, cluster-b');
  expect(refusalsOf(serving)[0]).toContain('belongs to another cluster, cluster-b');
});

test('a node that reads nothing is ended beyond the bound of the bytes that wait', async () => {
  const MIB = 1024 * 1024;
  const answer = reply(`"${'x'.repeat(4 * MIB)}"`);
  const serving = await servingNode({
    servingTls: cartTls,
    bounds: { ...REMOTING_BOUNDS, queuedBytesMax: 16 * MIB },
    service: { serve: ([, name]) => (name === 'large' ? answer : reply(`"${name}"`)) },
  });
  const socket = connect({
    port: serving.port,
    host: '127.0.0.1',
    ...contextOptions(cart),
    checkServerIdentity: () => undefined,
  });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(encodeList(helloTo(CALLING, SERVING)));
  await until('the handshake', () => serving.server.connections === 1);
  for (let number = 0; number < 20; number++)
    socket.write(encodeList([KIND.call, number, 'c', 'a', 'large', 'null', null, 0]));
  await until('the end', () => serving.server.connections === 0);
  expect(refusalsOf(serving)).toEqual([expect.stringMatching(/lets \d+ bytes wait/)]);
  expect(serving.server.bytes.queued).toBe(0);
  await stillServes(serving.port);
});
