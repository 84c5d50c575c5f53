// ShardRouter: two shards with an engine each, and a channel between them.
import { expect, onTestFinished, test } from 'vitest';
import { FaultReport } from '../../../model/fault-report.ts';
import { LimitCounters } from '../../../model/limit-counters.ts';
import { EventLoopBudget } from '../../../host/http/requests/event-loop-budget.ts';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import type { Refusal, Reply } from '../../../model/call.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { peerLinks } from '../../../host/shards/peer-link.ts';
import type { PeerProtocolOptions } from '../../../host/shards/peer-protocol.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { RequestCalls } from '../../../host/http/requests/request-calls.ts';
import { ClusterOwnership } from '../../../host/shards/cluster-ownership.ts';
import { HashOwnership, shardOf } from '../../../host/shards/hash-ownership.ts';
import { ShardRouter } from '../../../host/shards/shard-router.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { EngineUnderTest, failureOf } from '../../support/engine-under-test.ts';
import { ampleBudget, amplyKept } from '../../support/kept-bytes.ts';

class ShardUnderTest extends EngineUnderTest {
  readonly counters = new LimitCounters();
  readonly report = new FaultReport(this.counters);
  readonly router: ShardRouter;
  serveRequest: PeerProtocolOptions['serveRequest'] = () => {
    throw new Error('no request was expected');
  };

  constructor(index: number, eventLoop = new EventLoopBudget()) {
    super();
    const { engine, report: faults } = this;
    this.router = new ShardRouter({
      index,
      ownership: new HashOwnership(2),
      engine,
      eventLoop,
      faults,
      handlerTable: new HandlerTable(this.guest.descriptor),
      unsent: ampleBudget(),
      serveRequest: (...request) => this.serveRequest(...request),
    });
  }
}

/** Returns an id of an entity that this shard owns. */
const idOf = (shard: number): string => {
  for (let number = 0; ; number++)
    if (shardOf(COUNTER, `c${number}`, 2) === shard) return `c${number}`;
};
const [HERE, THERE] = [idOf(0), idOf(1)];

function shards(eventLoop?: EventLoopBudget) {
  const [here, there] = [new ShardUnderTest(0), new ShardUnderTest(1, eventLoop)];
  return { here, there, ...connected(here, there) };
}

function connected(here: ShardUnderTest, there: ShardUnderTest) {
  const [link1, link2] = peerLinks(2);
  here.router.connect({ index: 1, ...link1 });
  there.router.connect({ index: 0, ...link2 });
  onTestFinished(() => link1.port.close());
  return { port1: link1.port, port2: link2.port };
}

const call = (shard: ShardUnderTest, id: string, name: string, input: unknown = null) =>
  shard.router.call({ component: COUNTER, id }, name, JSON.stringify(input), []);
const reply = (value: unknown) => ({ kind: 'reply', json: JSON.stringify(value) });

test('an entity is alive in its own shard only, whichever shard calls it', async () => {
  const { here, there } = shards();
  expect(await call(here, HERE, 'add', 1)).toEqual(reply(1));
  expect(await call(there, HERE, 'add', 2)).toEqual(reply(3));
  expect(await call(here, THERE, 'add', 4)).toEqual(reply(4));
  expect(here.guest.opened).toEqual([HERE]);
  expect(there.guest.opened).toEqual([THERE]);
});

test('its own entities are called without a detour', async () => {
  const { here } = shards();
  await call(here, HERE, 'add', 1);
  expect(call(here, HERE, 'total')).toEqual(reply(1));
  expect(here.router.speculate({ component: COUNTER, id: HERE }, 'total', 'null', [])).toEqual(
    reply(1),
  );
});

test('a call of another shard’s entity is not speculated, and reported as remote', async () => {
  const { here } = shards();
  const ahead = here.router.speculate({ component: COUNTER, id: THERE }, 'add', '5', []);
  expect(ahead).toMatchObject({ speculative: undefined, isRemote: true });
  expect(await ('answer' in ahead ? ahead.answer : undefined)).toEqual(reply(5));
});

test('refusals and failures come back, and each failure is counted by the shard of the entity', async () => {
  const { here, there } = shards();
  expect(await call(here, THERE, 'take', 9)).toMatchObject({ kind: 'refusal', code: 'CONFLICT' });
  const failure = await Promise.resolve(call(here, THERE, 'fault')).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(GuestFault);
  const { faultCause } = failure as GuestFault;
  expect(there.counters.read()[`fault:${faultCause}`]).toBe(1);
  new FaultReport(here.counters).fields(new Error('nothing'));
  expect(here.counters.read()[`fault:${faultCause}`]).toBe(0);
});

const REQUEST: EndpointRequest = {
  route: 0,
  parameters: [],
  query: '',
  headers: [],
  caller: 'internet',
  body: { kind: 'none' },
};

test('the fault of a handler in another shard is logged once and counted once', async () => {
  const { here, there } = shards();
  there.serveRequest = () => {
    throw new GuestFault('trap', 'Trapped.', { guestMessage: 'abort: boom' });
  };
  const failure = await here.router
    .request(1, REQUEST, [], undefined, () => {})!
    .catch((error: unknown) => error);
  // The shard of the caller has the error id, so it logs the line.
  expect(here.report.fields(failure)).toMatchObject({ guestMessage: 'abort: boom' });
  expect([here, there].map(({ counters }) => counters.read()['fault:trap'])).toEqual([0, 1]);
});

test('a cancelled request counts its limit once, in the shard that cancelled it', async () => {
  const { here, there } = shards();
  there.serveRequest = async (_request, _metadata, served) =>
    new Promise((_resolve, reject) => {
      served.cancel = reject;
    });
  const waiter = {
    fuel: 0,
    cancel: undefined as ((reason: GuestFault) => void) | undefined,
    kept: amplyKept(),
  };
  const answer = here.router.request(1, REQUEST, [], waiter, () => {})!;
  const late = new GuestFault('time', 'Late.', { limit: 'request-time' });
  here.report.fields(late);
  waiter.cancel!(late);
  here.report.fields(await answer.catch((error: unknown) => error));
  const counts = [here, there].map(({ counters }) => counters.read());
  expect(counts.map((each) => [each['fault:time'], each['limit:request-time']])).toEqual([
    [1, 1],
    [0, 0],
  ]);
});

test('a shard that is not there is unavailable for its entities, and back once it is met again', async () => {
  const { here, there, port2 } = shards();
  port2.close();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  let code: unknown;
  while (code === undefined)
    try {
      await call(here, THERE, 'total');
    } catch (error) {
      code = failureOf(error);
    }
  expect(['SVC_SHARD_UNAVAILABLE', 'SVC_CALL_UNCERTAIN']).toContain(code);
  expect(() => call(here, THERE, 'total')).toThrow(
    expect.objectContaining({ code: 'SVC_SHARD_UNAVAILABLE' }),
  );
  expect(await call(here, HERE, 'add', 1)).toEqual(reply(1));

  // The error has the length of the pause.
  here.router.away(1, 1_000_000_000);
  expect(() => call(here, THERE, 'total')).toThrow(
    expect.objectContaining({ retryAfterMs: expect.closeTo(1_000_000_000, -6) }),
  );

  connected(here, there);
  expect(await call(here, THERE, 'add', 2)).toEqual(reply(2));
});

test('calls that come together leave the turn of the event loop to others', async () => {
  let nowMs = 0;
  let turns = 0;
  const eventLoop = new EventLoopBudget({
    // Each reading of the clock takes the whole budget of a turn.
    nowMs: () => (nowMs += 6),
    nextTurn: (callback) => {
      turns++;
      setImmediate(callback);
    },
    afterPromises: (callback) => setImmediate(callback),
  });
  const { here } = shards(eventLoop);
  const answers = Array.from({ length: 10 }, async () => call(here, THERE, 'total'));
  await Promise.all(answers);
  expect(turns).toBeGreaterThan(3);
});

test('a handler that asks for an entity elsewhere is run again, where it cannot wait, once the answer is there', async () => {
  const { here, there } = shards();
  const calls = new RequestCalls(here.router, { nowMs: () => 1 });
  const add = (id: string): Reply | Refusal | undefined =>
    calls.speculate!({ component: COUNTER, id }, 'add', '5', [], undefined);
  expect(add(THERE)).toBeUndefined();
  await calls.remoteAnswer();
  expect(calls.remoteAnswer()).toBeUndefined();
  expect(add(THERE)).toEqual(reply(5));
  expect(there.guest.calls.filter((name) => name === 'add')).toEqual(['add']);
  // From here on it calls again, and waits for the second call, which goes to the other shard.
  await call(here, HERE, 'noop');
  expect(
    calls.speculate!({ component: COUNTER, id: HERE }, 'total', 'null', [], undefined),
  ).toEqual(reply(0));
  expect(add(THERE)).toBeUndefined();
  expect(calls.remoteAnswer()).toBeUndefined();
  calls.beginReplay();
  const again = (id: string, name: string, input: string) =>
    calls.call({ component: COUNTER, id }, name, input, [], undefined);
  expect(again(THERE, 'add', '5')).toEqual(reply(5));
  expect(again(HERE, 'total', 'null')).toEqual(reply(0));
  expect(await again(THERE, 'add', '5')).toEqual(reply(10));
});

test('a replayed handler receives the failure of a remote call, and one that makes another call is a fault', async () => {
  const { here } = shards();
  const calls = new RequestCalls(here.router, { nowMs: () => 1 });
  const ask = (name: string) =>
    calls.speculate!({ component: COUNTER, id: THERE }, name, 'null', [], undefined);
  expect(ask('fault')).toBeUndefined();
  await calls.remoteAnswer();
  expect(() => ask('fault')).toThrow(GuestFault);

  const others = new RequestCalls(here.router, { nowMs: () => 1 });
  const askOther = (name: string) =>
    others.speculate!({ component: COUNTER, id: THERE }, name, 'null', [], undefined);
  expect(askOther('total')).toBeUndefined();
  await others.remoteAnswer();
  expect(() => askOther('noop')).toThrow('made another call');
});

test('a cancelled request does not wait for another shard', async () => {
  const { here } = shards();
  const calls = new RequestCalls(here.router, { nowMs: () => 1 });
  calls.speculate!({ component: COUNTER, id: THERE }, 'total', 'null', [], undefined);
  const waiting = calls.remoteAnswer();
  const reason = new GuestFault('time', 'Too long.', { limit: 'request-time' });
  calls.cancel(reason);
  await expect(waiting).rejects.toBe(reason);
});

test('calls between nodes are counted by whether they are sent and served', async () => {
  const counts: Record<string, number> = {};
  const THIRD = 3;
  const [node, sent] = [7, reply(1)];
  const other = { call: () => Promise.resolve(sent), request: () => undefined };
  const { engine, guest, report: faults } = new ShardUnderTest(0);
  let owner = 0;
  const router = new ShardRouter({
    index: 0,
    ownership: { ownerOf: () => owner },
    engine,
    eventLoop: new EventLoopBudget(),
    faults,
    handlerTable: new HandlerTable(guest.descriptor),
    unsent: ampleBudget(),
    serveRequest: () => Promise.reject(new Error('the handler fails')),
    cluster: {
      peer: (number) => (number === node ? (other as never) : undefined),
      moving: { follow: (made: () => unknown) => made() } as never,
      version: () => 1,
      count: (kind) => (counts[kind] = (counts[kind] ?? 0) + 1),
      sendsRequests: true,
    },
  });
  const target = { component: COUNTER, id: HERE };
  const { serve, serveRequest } = router.nodeOptions;
  await router.call(target, 'add', '1', []);
  expect(counts).toEqual({});
  await serve([target, 'add', '1', [], undefined]);
  await expect(serveRequest(REQUEST, [], undefined as never)).rejects.toThrow('fails');
  expect(counts).toEqual({ served: 2 });

  owner = nodePeer(node);
  expect(await router.call(target, 'add', '1', [])).toEqual(sent);
  expect(router.request(owner, REQUEST, [], undefined, () => undefined)).toBeUndefined();
  expect(() => serve([target, 'add', '1', [], undefined])).toThrow('does not hold the lease');
  owner = nodePeer(THIRD);
  expect(() => router.call(target, 'add', '1', [])).toThrow('shard');
  expect(counts).toEqual({ served: 2, sent: 1, refused: 1, unreachable: 1 });
});

/** The index of the peer that is a node. */
function nodePeer(node: number): number {
  const slices = { self: 0, ownerOf: () => node };
  return new ClusterOwnership(slices, 1).ownerOf(COUNTER, HERE);
}
