// Links between nodes that fail as networks do: each call settles with what is known of it, and the connection is made again. Time is
// set by the test: the sockets are real, and the timers are not.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { encodeList } from '../../../host/remoting/flat-list.ts';
import { FRAME_KINDS as KIND } from '../../../host/shards/frame.ts';
import { RawPeer, framed } from '../../support/remoting/raw-peer.ts';
import {
  callingNode,
  callOf,
  outcomeOf,
  reply,
  servingNode,
  until,
} from '../../support/remoting/remote-pair.ts';
import { TcpFaultProxy } from '../../support/tcp-fault-proxy.ts';

const realTimeout = setTimeout;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass, and after each step lets the sockets exchange what they have. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    vi.advanceTimersByTime(250);
    for (let turn = 0; turn < 3; turn++)
      await new Promise((resolve) => {
        realTimeout(resolve, 1);
      });
  }
}

async function linked() {
  const begun: string[] = [];
  const answers: ((json: string) => void)[] = [];
  const serving = await servingNode({
    service: {
      serve: ([, name]) => {
        begun.push(name);
        return name === 'waits'
          ? new Promise((resolve) => {
              answers.push((json) => resolve(reply(json)));
            })
          : reply(`"${name}"`);
      },
    },
  });
  const proxy = await TcpFaultProxy.to(serving.port);
  const calling = callingNode(proxy.port);
  return { serving, proxy, calling, begun, answers, peer: await calling.connected() };
}

test('a link that is idle stays, because both sides send heartbeats', async () => {
  const { calling, peer, serving, proxy } = await linked();
  await pass(60_000);
  expect(calling.nodes.peer(1)).toBe(peer);
  expect(await peer.call(callOf('add'))).toEqual(reply('"add"'));
  expect(serving.server.connections).toBe(1);
  expect(serving.log).toEqual([]);
  await proxy.close();
});

test('when nothing of the other node arrives any more, calls are uncertain within four seconds', async () => {
  const { calling, peer, proxy, begun } = await linked();
  proxy.holdAnswers();
  const answer = outcomeOf(() => peer.call(callOf('add')));
  await until('the call', () => begun.length === 1);
  await pass(4_250);
  expect(await answer).toBe('SVC_CALL_UNCERTAIN');
  expect(calling.log.at(-1)).toMatchObject({
    message: 'another node cannot be reached',
    fields: { code: 'SVC_REMOTING_FAILED', node: 1, reason: 'the other side is silent' },
  });
  expect(calling.nodes.unreachable).toEqual([1]);
  await proxy.close();
});

test('when nothing reaches the other node any more, it ends the connection, and calls are uncertain', async () => {
  const { peer, proxy, begun, serving, answers } = await linked();
  const answer = outcomeOf(() => peer.call(callOf('waits')));
  await until('the call', () => begun.length === 1);
  proxy.holdRequests();
  const unsent = outcomeOf(() => peer.call(callOf('lost')));
  await pass(4_250);
  expect(await answer).toBe('SVC_CALL_UNCERTAIN');
  expect(await unsent).toBe('SVC_CALL_UNCERTAIN');
  expect(begun).toEqual(['waits']);
  expect(serving.log.map(({ fields }) => fields?.['reason'])).toEqual(['the other side is silent']);
  // The answer of a handler that is done later leads nowhere.
  answers[0]!('1');
  await proxy.close();
});

test('after a reset, calls are uncertain, and the next ones go through a new connection', async () => {
  const { calling, peer, proxy, begun } = await linked();
  const answer = outcomeOf(() => peer.call(callOf('waits')));
  await until('the call', () => begun.length === 1);
  proxy.reset();
  expect(await answer).toBe('SVC_CALL_UNCERTAIN');
  expect(await outcomeOf(async () => peer.call(callOf('late')))).toBe('SVC_SHARD_UNAVAILABLE');
  await pass(250);
  const next = await calling.connected();
  expect(next).not.toBe(peer);
  expect(await next.call(callOf('add'))).toEqual(reply('"add"'));
  expect(calling.nodes.unreachable).toEqual([]);
  await proxy.close();
});

test('while a node refuses connections it is tried at growing intervals, and one line is logged for it', async () => {
  const { calling, proxy } = await linked();
  proxy.refuse();
  await until('the end', () => calling.nodes.peer(1) === undefined);
  const logged = calling.log.length;
  await pass(60_000);
  const tries = calling.log.length - logged;
  expect(tries).toBeLessThanOrEqual(2);
  proxy.accept();
  await pass(2_250);
  await calling.connected();
  await proxy.close();
});

test('a slow network delays answers, and ends nothing', async () => {
  const { peer, proxy, serving } = await linked();
  proxy.delay(1_500);
  const answer = peer.call(callOf('add'));
  await pass(10_000);
  expect(await answer).toEqual(reply('"add"'));
  expect(serving.server.connections).toBe(1);
  await proxy.close();
});

test('a thread that was busy for long does not take the other side for silent', async () => {
  const { calling, peer, proxy } = await linked();
  // One jump, as after a long computation: no timer has run in between.
  const busy = performance.now() + 10_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => busy);
  await pass(1_000);
  clock.mockRestore();
  expect(calling.nodes.peer(1)).toBe(peer);
  await proxy.close();
});

test('a stranger that connects and says nothing is ended after five seconds', async () => {
  const { port, server, log } = await servingNode();
  const peer = await RawPeer.connected(port);
  const slow = await RawPeer.connected(port);
  // One byte a second of a hello does not make it longer.
  for (const byte of [0, 0, 1, 0, 0xdd]) {
    slow.write(Uint8Array.of(byte));
    await pass(1_000);
  }
  await peer.ended();
  await slow.ended();
  await until('the ends', () => server.handshakes === 0);
  expect(log.map(({ fields }) => fields?.['reason'])).toEqual(
    Array.from({ length: 2 }, () => 'the other side does not introduce itself'),
  );
});

test('a peer that introduces itself and is silent then is ended', async () => {
  const { port, server } = await servingNode();
  const peer = await RawPeer.introduced(port);
  await pass(4_250);
  await peer.ended();
  expect(peer.heartbeats).toBeGreaterThan(1);
  await until('the end', () => server.connections === 0);
});

test('a peer that reads nothing is ended, although it sends heartbeats', async () => {
  const { port, server, log } = await servingNode();
  const peer = await RawPeer.introduced(port);
  peer.socket.pause();
  for (let second = 0; second < 32; second++) {
    peer.send([1]);
    await pass(1_000);
  }
  await until('the end', () => server.connections === 0);
  expect(log.map(({ fields }) => fields?.['reason'])).toEqual(['the other side reads nothing']);
});

test('a message that is not finished within thirty seconds ends the connection', async () => {
  const { port, server, log } = await servingNode();
  const peer = await RawPeer.introduced(port);
  peer.write(framed(1_000_000));
  for (let second = 0; second < 32; second++) {
    peer.write(Uint8Array.of(0));
    await pass(1_000);
  }
  await until('the end', () => server.connections === 0);
  expect(log.map(({ fields }) => fields?.['reason'])).toEqual([
    'the other side does not finish a message',
  ]);
});

test('a node that was replaced is called no more, and what it works on is still answered', async () => {
  const { serving, calling, peer, proxy, begun, answers } = await linked();
  const answer = peer.call(callOf('waits'));
  await until('the call', () => begun.length === 1);
  calling.nodes.setNodes([]);
  expect(calling.nodes.peer(1)).toBeUndefined();
  expect(calling.nodes.unreachable).toEqual([]);
  answers[0]!('"done"');
  expect(await answer).toEqual(reply('"done"'));
  await pass(250);
  await until('the end', () => serving.server.connections === 0);
  await proxy.close();
});

test('heartbeats that are none end the connection', async () => {
  const { port, server } = await servingNode();
  const peer = await RawPeer.introduced(port);
  peer.write(encodeList(['beat']));
  await peer.ended();
  await until('the end', () => server.connections === 0);
  expect(peer.received.some(([kind]) => kind === KIND.reply)).toBe(false);
});
