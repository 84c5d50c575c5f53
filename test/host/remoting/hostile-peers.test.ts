// Peers that do not follow the protocol: each connection ends with a reason, other connections go on, and nothing grows.
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { encodeList } from '../../../host/remoting/flat-list.ts';
import { helloTo, type NodeIdentity } from '../../../host/remoting/handshake.ts';
import { FRAME_KINDS as KIND } from '../../../host/shards/frame.ts';
import { framed, RawPeer } from '../../support/remoting/raw-peer.ts';
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

type Serving = Awaited<ReturnType<typeof servingNode>>;

const reasonsOf = ({ log }: Pick<Serving, 'log'>): unknown[] =>
  log.map(({ fields }) => fields?.['reason']);

/** A node that follows the protocol is still served. */
async function stillServes(port: number): Promise<void> {
  const { connected } = callingNode(port);
  const peer = await connected();
  expect(await outcomeOf(() => peer.call(callOf('add')))).toEqual(reply('"add"'));
}

test.each<[string, Partial<NodeIdentity>, Partial<NodeIdentity>, string]>([
  ['another cluster', { cluster: 'cluster-b' }, {}, 'belongs to another cluster'],
  [
    'a node under another number than was meant',
    {},
    { number: 7 },
    'means node 1, and this is node 7',
  ],
  ['another start of the node', {}, { uid: 'uid-9' }, 'means node 1, and this is node 1'],
  ['a node that is no member', {}, { number: 0 }, 'this is no member of the cluster'],
  ['a caller that is no member', { number: 0 }, {}, 'is no member of the cluster'],
])('%s is refused by name, and both sides log it', async (_, calling, actual, reason) => {
  const serving = await servingNode({ serving: { ...SERVING, ...actual } });
  const caller = callingNode(serving.port, { calling: { ...CALLING, ...calling } });
  await until('the refusal', () => caller.log.length > 0 && serving.log.length > 0);
  expect(caller.log[0]).toMatchObject({
    level: 'warn',
    fields: {
      code: 'SVC_REMOTING_FAILED',
      node: 1,
      reason: expect.stringContaining(`the other side refuses: `),
    },
  });
  expect(reasonsOf(caller)[0]).toContain(reason);
  expect(reasonsOf(serving)[0]).toContain(reason);
  // A refusal leads nobody to the cluster or to the node.
  expect(String(reasonsOf(caller)[0])).not.toMatch(/cluster-a|uid-/);
  expect(caller.nodes.peer(1)).toBeUndefined();
  expect(caller.nodes.unreachable).toEqual([1]);
});

test('a copy of a node does not call the node, and a node does not call itself', async () => {
  const { port, log } = await servingNode();
  const { nodes } = callingNode(port, { calling: SERVING });
  expect(nodes.peer(1)).toBeUndefined();
  expect(nodes.unreachable).toEqual([]);
  const copy = await RawPeer.connected(port);
  copy.send(['svc-remoting', 1, 'cluster-a', 1, 'uid-1', '0.1.0', 'module-a', 1, 1024, 1, 'uid-1']);
  await copy.ended();
  expect(reasonsOf({ log })).toEqual(['the other side is this node itself, or a copy of it']);
});

test.each<[string, readonly (string | number)[], string]>([
  ['another protocol', ['svc-remoting', 2], 'speaks version 2 of the protocol, and this node 1'],
  ['no protocol of nodes', ['other', 1], 'does not speak the protocol of nodes'],
  ['a hello without its parts', ['svc-remoting', 1, 'cluster-a', 2], 'a message that is no hello'],
  [
    'another hash',
    ['svc-remoting', 1, 'cluster-a', 2, 'uid-2', '0.1.0', 'module-a', 2, 1024, 1, 'uid-1'],
    'a hash of version 2',
  ],
  [
    'another number of slices',
    ['svc-remoting', 1, 'cluster-a', 2, 'uid-2', '0.1.0', 'module-a', 1, 512, 1, 'uid-1'],
    'into 512 slices',
  ],
  [
    'names of great length',
    ['svc-remoting', 1, 'cluster-a', 2, 'x'.repeat(600), '0.1.0', 'm', 1, 1024, 1, 'uid-1'],
    'a message that is no hello',
  ],
])('%s is refused with a message that says why', async (_, hello, reason) => {
  const { port, server } = await servingNode();
  const peer = await RawPeer.connected(port);
  peer.send(hello);
  await peer.ended();
  expect(peer.received).toEqual([['svc-remoting', 1, 'refused', expect.stringContaining(reason)]]);
  expect(server.connections).toBe(0);
  await stillServes(port);
});

const UNKNOWN_CALL = [KIND.call, 1, 'c', 'a', 'x', '1', null, 0];

test.each<[string, (peer: RawPeer) => void, string]>([
  ['an HTTP request', (peer) => peer.write('GET / HTTP/1.1\r\n\r\n'), 'are the most'],
  ['a handshake of TLS', (peer) => peer.write(Buffer.from('160301020001', 'hex')), 'speaks TLS'],
  ['a hello of 64 MiB', (peer) => peer.write(framed(64 * 1024 * 1024)), 'and 4096 are the most'],
  ['a call before the hello', (peer) => peer.send(UNKNOWN_CALL), 'does not speak the protocol'],
])('%s instead of a hello ends the connection', async (_, act, reason) => {
  const { port, log, server } = await servingNode();
  const peer = await RawPeer.connected(port);
  act(peer);
  await peer.ended();
  await until('the end of the handshake', () => server.handshakes === 0);
  expect(reasonsOf({ log })).toEqual([expect.stringContaining(reason)]);
  await stillServes(port);
});

test.each<[string, (peer: RawPeer) => void, string]>([
  ['a length of 4 GiB', (peer) => peer.write(framed(2 ** 32 - 1)), '67108864 are the most'],
  ['nested lists', (peer) => peer.write(framed(6, 0xdd, 0, 0, 0, 1, 0x91)), 'type 0x91'],
  [
    'a list longer than its message',
    (peer) => peer.write(framed(5, 0xdd, 255, 255, 255, 255)),
    'a list of',
  ],
  ['an answer', (peer) => peer.send([KIND.reply, 1, 'null']), 'does not take'],
  ['half a frame', (peer) => peer.send([KIND.call, 1, 'c']), 'ends too early'],
  ['a frame of no kind', (peer) => peer.send([99, 1]), 'a number that is not one'],
  ['a head', (peer) => peer.send([KIND.head, 1, 1]), 'does not take'],
  [
    'two calls under one number',
    (peer) => {
      peer.send([KIND.call, 1, 'c', 'a', 'waits', '1', null, 0]);
      peer.send([KIND.call, 1, 'c', 'a', 'waits', '1', null, 0]);
    },
    'under the number of another one',
  ],
  [
    'a request for a route that does not exist',
    (peer) => peer.send([KIND.request, 1, 9, '', '', null, 'none', null, 0, 0, 0]),
    'a number that is not one',
  ],
])('%s after the handshake ends the connection', async (_, act, reason) => {
  const { port, log, server } = await servingNode({
    service: {
      serve: ([, name]) => (name === 'waits' ? new Promise(() => {}) : reply(`"${name}"`)),
    },
  });
  const peer = await RawPeer.introduced(port);
  expect(server.connections).toBe(1);
  act(peer);
  await peer.ended();
  await until('the end', () => server.connections === 0);
  expect(reasonsOf({ log })).toEqual([expect.stringContaining(reason)]);
  await stillServes(port);
});

test('frames that arrive byte by byte are served', async () => {
  const { port } = await servingNode();
  const peer = await RawPeer.introduced(port);
  const list = [KIND.call, 1, 'c', 'a', 'slow', '1', null, 0];
  for (const byte of encodeList(list)) {
    peer.write(Uint8Array.of(byte));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await until('the answer', () => peer.received.length === 2);
  expect(peer.received[1]).toEqual([KIND.reply, 1, '"slow"']);
});

test('a peer that dies between the length of a message and its body leaves nothing behind', async () => {
  const { port, server, log } = await servingNode();
  for (let round = 0; round < 20; round++) {
    const peer = await RawPeer.introduced(port);
    peer.write(Buffer.concat([framed(60 * 1024 * 1024), Buffer.alloc(100_000)]));
    peer.socket.resetAndDestroy();
    await peer.ended();
  }
  await until('the ends', () => server.connections === 0);
  expect(server.bytes).toMatchObject({ queued: 0, arriving: 0 });
  expect(log).toEqual([]);
  await stillServes(port);
});

test('of many connections that say nothing, the oldest are ended for new ones, and a node still connects', async () => {
  const { port, server } = await servingNode();
  const strangers = await Promise.all(Array.from({ length: 300 }, () => RawPeer.connected(port)));
  await until('the strangers', () => strangers.filter(({ hasEnded }) => hasEnded).length >= 236);
  expect(server.handshakes).toBe(64);
  await stillServes(port);
  expect(server.handshakes).toBeLessThanOrEqual(64);
});

test('connections beyond the bound are refused by name, and the others stay', async () => {
  const { port, server } = await servingNode();
  const peers: RawPeer[] = [];
  for (let count = 0; count < 260; count++) peers.push(await RawPeer.introduced(port));
  expect(server.connections).toBe(256);
  expect(peers.slice(0, 256).every(({ hasEnded }) => !hasEnded)).toBe(true);
  expect(peers.at(-1)?.received[0]).toEqual([
    'svc-remoting',
    1,
    'refused',
    'makes another connection, and 256 are open',
  ]);
  peers[0]!.socket.destroy();
  await until('room', () => server.connections === 255);
  await stillServes(port);
});

test('2,000 connections one after the other leave nothing behind', async () => {
  const { port, server } = await servingNode();
  for (let round = 0; round < 2_000; round++) {
    const peer = await RawPeer.connected(port);
    if (round % 4 === 0) peer.write('nonsense');
    peer.socket.destroy();
  }
  await until('the ends', () => server.connections + server.handshakes === 0);
  expect(server.bytes).toMatchObject({ queued: 0, arriving: 0 });
  await stillServes(port);
});

test('a node that answers what was not asked is not believed', async () => {
  const answers = [
    [KIND.reply, 5, 'null'],
    [KIND.response, 0, 200, 0, 'none', null],
    [KIND.cost, 0, 1, 0],
    [KIND.call, 1, 'c', 'a', 'x', '1', null, 0],
  ];
  let next = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(encodeList(helloTo(SERVING, CALLING)));
      socket.once('data', () => socket.write(encodeList(answers[next++]!)));
    });
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  const { port } = server.address() as { port: number };
  for (const [index] of answers.entries()) {
    const { connected, nodes, log } = callingNode(port);
    const peer = await connected();
    expect(await outcomeOf(() => peer.call(callOf('add')))).toBe('SVC_CALL_UNCERTAIN');
    expect(log.at(-1)).toMatchObject({ level: 'warn', fields: { code: 'SVC_REMOTING_FAILED' } });
    expect(reasonsOf({ log }).at(-1)).toContain(
      index === 3 ? 'does not take' : 'does not wait for',
    );
    nodes.close();
  }
  server.close();
});
