// PeerProtocol of two shards: calls are served by the other shard, and settle when it ends.
import { expect, onTestFinished, test } from 'vitest';
import type { ForwardedCall } from '../../../host/shards/frame.ts';
import type { Awaitable, Refusal, Reply } from '../../../model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { peerLinks } from '../../../host/shards/peer-link.ts';
import { RingTransport } from '../../../host/shards/ring-transport.ts';
import { COUNTER, CounterGuest } from '../../support/counter-guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import {
  CALLS_IN_FLIGHT_MAX,
  PeerProtocol,
  type PeerProtocolOptions,
} from '../../../host/shards/peer-protocol.ts';
import { ampleBudget, amplyKept } from '../../support/kept-bytes.ts';

interface Pair {
  readonly unitsMax: number;
  readonly serveRequest: PeerProtocolOptions['serveRequest'];
}

type Serve = (call: ForwardedCall) => Awaitable<Reply | Refusal>;

const callOf = (name: string, input = 'null'): ForwardedCall => [
  { component: COUNTER, id: 'a' },
  name,
  input,
  [],
  undefined,
];
const reply = (json: string): Reply => ({ kind: 'reply', json });
const never: Serve = async () => new Promise(() => {});
const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );
const turn = async () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const HANDLER_TABLE = new HandlerTable(new CounterGuest().descriptor);
const noRequests: PeerProtocolOptions['serveRequest'] = () => {
  throw new Error('no request was expected');
};

/** The end of the calling shard, and that of the other one, which serves. */
function pair(
  serve: Serve,
  servedByCaller: Serve = never,
  { unitsMax, serveRequest = noRequests }: Partial<Pair> = {},
) {
  const [link1, link2] = peerLinks(2);
  const [port1, port2] = [link1.port, link2.port];
  const closing = { first: () => {} };
  port1.on('close', () => closing.first());
  const failed: unknown[] = [];
  const learned: unknown[] = [];
  const ended: string[] = [];
  let messages = 0;
  port2.on('message', () => messages++);
  const callerOptions: PeerProtocolOptions = {
    serve: servedByCaller,
    serveRequest: noRequests,
    failed: () => true,
    learned: (failure) => learned.push(failure),
    unsent: ampleBudget(),
    ended: () => ended.push('caller'),
  };
  const caller = new PeerProtocol(new RingTransport(link1, HANDLER_TABLE), callerOptions, unitsMax);
  const server = new PeerProtocol(new RingTransport(link2, HANDLER_TABLE), {
    serve,
    serveRequest,
    failed: (failure) => failed.push(failure) > 0,
    learned: () => {},
    unsent: ampleBudget(),
    ended: () => ended.push('server'),
  });
  onTestFinished(() => port1.close());
  return {
    caller,
    server,
    port1,
    port2,
    closing,
    failed,
    learned,
    ended,
    messages: () => messages,
  };
}

test('calls are answered, each with its own outcome, whatever comes first', async () => {
  const first = Promise.withResolvers<Reply>();
  const { caller } = pair(([, name]) => (name === 'first' ? first.promise : reply(`"${name}"`)));
  const answers = ['first', 'second', 'third'].map(async (name) => caller.call(callOf(name)));
  expect(await answers[1]).toEqual(reply('"second"'));
  first.resolve(reply('"first"'));
  expect(await Promise.all(answers)).toEqual(['"first"', '"second"', '"third"'].map(reply));
  expect(caller.callsInFlight).toBe(0);
});

test('what is not common goes in one message a turn, calls and outcomes in both directions', async () => {
  const { caller, server, messages } = pair(
    ([, name]) => reply(`"€${name}"`),
    ([, name]) => reply(`"€${name}"`),
  );
  const one = Array.from({ length: 50 }, async (_, i) => caller.call(callOf(`${i}`)));
  const other = Array.from({ length: 50 }, async (_, i) => server.call(callOf(`${i}`)));
  const answers = await Promise.all([...one, ...other]);
  expect(answers[49]).toEqual(reply('"€49"'));
  // Its calls, and its outcomes.
  expect(messages()).toBeLessThanOrEqual(2);
});

test('what is common needs no message while the other side is awake', async () => {
  const { caller, messages } = pair(() => reply('1'));
  await caller.call(callOf('total'));
  const before = messages();
  // Each call follows the one before it.
  for (let calls = 0; calls < 100; calls++) await caller.call(callOf('total'));
  expect(messages()).toBe(before);
});

test('an end that has slept is woken, by a call and by an answer', async () => {
  const later = Promise.withResolvers<Reply>();
  const { caller, messages } = pair(async () => later.promise);
  for (let turns = 0; turns < 20; turns++) await turn();
  const answer = caller.call(callOf('total'));
  while (messages() === 0) await turn();
  for (let turns = 0; turns < 20; turns++) await turn();
  later.resolve(reply('1'));
  expect(await answer).toEqual(reply('1'));
});

test('what finds no room in memory takes the port, and all of it is answered', async () => {
  const { caller, messages } = pair(([, name, input]) => reply(`${name}${input.length}`));
  // All of them together are twice as large as the ring.
  const inputs = Array.from({ length: 256 }, (_, index) => 'x'.repeat(1_000 + index));
  const answers = inputs.map(async (input) => caller.call(callOf('total', input)));
  expect(caller.callsInFlight).toBe(256);
  const request = { ...REQUEST, query: inputs[255]! };
  expect(caller.request(request, [], waiter(), () => {})).toBeUndefined();
  expect(await Promise.all(answers)).toEqual(inputs.map(({ length }) => reply(`total${length}`)));
  expect(messages()).toBe(1);
});

test('a failure reaches both sides, thrown at once or later', async () => {
  const fault = new GuestFault('trap', 'Trapped.');
  const { caller, failed, learned } = pair(async ([, name]) => {
    if (name === 'later') await turn();
    throw fault;
  });
  const thrown = await codeOf(caller.call(callOf('now')));
  expect(thrown).toMatchObject({ faultCause: 'trap', message: 'Trapped.' });
  expect(learned).toEqual([thrown]);
  await codeOf(caller.call(callOf('later')));
  expect(failed).toEqual([fault, fault]);

  const atOnce = pair(() => {
    throw new SvcError('SVC_STOPPING', 'Stopping.');
  });
  expect(await codeOf(atOnce.caller.call(callOf('now')))).toBe('SVC_STOPPING');
});

test('when the other side ends, what was sent is uncertain, and what was not was not done', async () => {
  const arrived = Promise.withResolvers<void>();
  const { caller, port2, ended } = pair(async () => {
    arrived.resolve();
    return never(callOf('never'));
  });
  const sent = codeOf(caller.call(callOf('sent')));
  await arrived.promise;
  port2.close();
  expect(await sent).toBe('SVC_CALL_UNCERTAIN');
  expect(ended).toContain('caller');
  expect(caller.callsInFlight).toBe(0);
  expect(() => caller.call(callOf('late'))).toThrow(
    expect.objectContaining({ code: 'SVC_SHARD_UNAVAILABLE' }),
  );
});

test('a call that the turn has not sent yet when the other side ends was not done', async () => {
  const { caller, port1, closing } = pair(never);
  const unsent = Promise.withResolvers<unknown>();
  // The link ends by itself, before the calls of this turn were sent.
  closing.first = () => unsent.resolve(codeOf(caller.call(callOf('unsent', '"€"'))));
  port1.close();
  expect(await unsent.promise).toBe('SVC_SHARD_UNAVAILABLE');
});

test('an outcome for an end that is gone is dropped', async () => {
  const later = Promise.withResolvers<Reply>();
  const arrived = Promise.withResolvers<void>();
  const { caller, port1, ended } = pair(async () => {
    arrived.resolve();
    return later.promise;
  });
  const call = codeOf(caller.call(callOf('x')));
  await arrived.promise;
  port1.close();
  expect(await call).toBe('SVC_CALL_UNCERTAIN');
  while (!ended.includes('server')) await turn();
  later.resolve(reply('1'));
  await turn();
});

test('no more is under way than may be, and what comes back makes room', async () => {
  const { caller } = pair(async () => reply('1'), never, { unitsMax: 10 });
  const full = [caller.call(callOf('x', '12345')), caller.call(callOf('x', '12345'))];
  expect(() => caller.call(callOf('x', '1'))).toThrow(
    expect.objectContaining({ code: 'SVC_OVERLOADED' }),
  );
  await Promise.all(full);
  // A call that is larger than the limit is sent when no other waits.
  const large = caller.call(callOf('x', '123456789012'));
  expect(() => caller.call(callOf('x', '1'))).toThrow('inputs of 12 characters wait');
  expect(await large).toEqual(reply('1'));
  expect(await caller.call(callOf('x', '1'))).toEqual(reply('1'));
});

test('no more calls are under way than may be', async () => {
  const { caller } = pair(never);
  for (let calls = 0; calls < CALLS_IN_FLIGHT_MAX; calls++)
    caller.call(callOf('x')).catch(() => {});
  expect(() => caller.call(callOf('x'))).toThrow(
    expect.objectContaining({ code: 'SVC_OVERLOADED' }),
  );
  expect(caller.callsInFlight).toBe(CALLS_IN_FLIGHT_MAX);
});

const REQUEST: EndpointRequest = {
  route: 0,
  parameters: ['a'],
  query: '',
  headers: [],
  caller: 'internet',
  body: { kind: 'none' },
};
const RESPONSE: EndpointResponse = {
  kind: 'response',
  status: 200,
  headers: [],
  body: { kind: 'json', text: '"€"' },
};
const waiter = () => ({
  fuel: 0,
  cancel: undefined as ((reason: GuestFault) => void) | undefined,
  kept: amplyKept(),
});

test('a request is answered, at once or later, with what it has cost and whether it went astray', async () => {
  const { caller } = pair(never, never, {
    serveRequest: (request, metadata, served) => {
      expect(request).toEqual({ ...REQUEST, route: request.route, idempotencyKey: undefined });
      expect(metadata).toEqual([['traceparent', 'x']]);
      served.fuel = 12;
      served.wasMisrouted = request.route === 1;
      const answer = { ...RESPONSE, status: 200 + request.route };
      return request.route === 2 ? turn().then(() => answer) : answer;
    },
  });
  const strayed: number[] = [];
  const waiters = [waiter(), waiter(), waiter()];
  const answers = waiters.map(async (one, route) =>
    caller.request({ ...REQUEST, route }, [['traceparent', 'x']], one, () => strayed.push(route)),
  );
  expect((await Promise.all(answers)).map((answer) => answer)).toMatchObject([
    { status: 200 },
    { status: 201 },
    { status: 202 },
  ]);
  expect(waiters.map(({ fuel }) => fuel)).toEqual([12, 12, 12]);
  expect(strayed).toEqual([1]);
  expect(caller.callsInFlight).toBe(0);
});

test('a request that failed, thrown or later, has cost what it has cost; a refusal is an answer', async () => {
  const refused = { kind: 'refusal', code: 'CONFLICT', message: 'taken' } as const;
  const fault = new GuestFault('trap', 'Trapped.');
  const { caller, failed, learned } = pair(never, never, {
    serveRequest: ({ route }, _, served) => {
      served.fuel = 5;
      if (route === 0) throw fault;
      return route === 1 ? turn().then(() => Promise.reject(fault)) : refused;
    },
  });
  const waiters = [waiter(), waiter(), waiter()];
  const answers = waiters.map(async (one, route) =>
    codeOf(Promise.resolve(caller.request({ ...REQUEST, route }, [], one, () => {}))),
  );
  const [first, second, third] = await Promise.all(answers);
  expect(first).toMatchObject({ faultCause: 'trap' });
  expect(second).toMatchObject({ faultCause: 'trap' });
  expect(third).toBe('answered');
  expect(failed).toEqual([fault, fault]);
  expect(learned).toHaveLength(2);
  expect(waiters.map(({ fuel }) => fuel)).toEqual([5, 5, 5]);
});

test('a cancelled request reaches its handler, also when both arrive at once', async () => {
  const reasons: GuestFault[] = [];
  const { caller } = pair(never, never, {
    serveRequest: (_request, _metadata, served) =>
      new Promise((resolve) => {
        served.cancel = (reason) => {
          reasons.push(reason);
          resolve(RESPONSE);
        };
      }),
  });
  // The other side sleeps by then.
  for (let turns = 0; turns < 20; turns++) await turn();
  const one = waiter();
  const answered = caller.request(REQUEST, [], one, () => {});
  one.cancel!(new GuestFault('time', 'Late.', { limit: 'request-time' }));
  await answered;
  expect(reasons).toMatchObject([{ faultCause: 'time', message: 'Late.', limit: 'request-time' }]);
  one.cancel!(new GuestFault('time', 'Later.'));
  await turn();
  expect(reasons).toHaveLength(1);
});

test('a request that is cancelled while its answer is on the way affects no later one', async () => {
  const given: string[] = [];
  const first = waiter();
  const later = Promise.withResolvers<EndpointResponse>();
  const { caller } = pair(never, never, {
    serveRequest: ({ parameters }, _metadata, served) => {
      const [id] = parameters;
      served.cancel = () => given.push(id!);
      if (id === 'second') return later.promise;
      first.cancel!(new GuestFault('time', 'Late.'));
      return RESPONSE;
    },
  });
  await caller.request({ ...REQUEST, parameters: ['first'] }, [], first, () => {});
  // It reuses the slot of the first one.
  const second = caller.request({ ...REQUEST, parameters: ['second'] }, [], waiter(), () => {});
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(given).toEqual([]);
  later.resolve(RESPONSE);
  await second;
});

test('a request that does not go through memory, or to an end that is gone, is not taken', async () => {
  const { caller, port2, ended } = pair(never, never, {
    serveRequest: async () => turn().then(() => RESPONSE),
  });
  const long: EndpointRequest = { ...REQUEST, query: 'x'.repeat(5000) };
  expect(caller.request(long, [], waiter(), () => {})).toBeUndefined();
  expect(caller.callsInFlight).toBe(0);
  const sent = caller.request(REQUEST, [], undefined, () => {});
  expect(await sent).toEqual(RESPONSE);
  const lost = codeOf(Promise.resolve(caller.request(REQUEST, [], waiter(), () => {})));
  port2.close();
  expect(await lost).toBe('SVC_CALL_UNCERTAIN');
  while (!ended.includes('caller')) await turn();
  expect(caller.request(REQUEST, [], waiter(), () => {})).toBeUndefined();
});
