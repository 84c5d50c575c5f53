// Two shards' ends of a channel: what one sends the other does, and what becomes of calls when the other ends.
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { ForwardedCall } from '../../../host/shards/frame.ts';
import type { Awaitable, Refusal, Reply } from '../../../host/model/call.ts';
import { GuestFault } from '../../../host/model/guest-fault.ts';
import { SvcError } from '../../../host/model/svc-error.ts';
import {
  CALLS_UNDER_WAY_MAX,
  PeerPort,
  type PeerPortOptions,
} from '../../../host/shards/peer-port.ts';

type Serve = (call: ForwardedCall) => Awaitable<Reply | Refusal>;

const callOf = (name: string, input = 'null'): ForwardedCall => [
  { component: 'counter', id: 'a' },
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

/** The caller's end, and the other one, which serves. */
function pair(serve: Serve, servedByCaller: Serve = never, unitsMax?: number) {
  const { port1, port2 } = new MessageChannel();
  const closing = { first: () => {} };
  port1.on('close', () => closing.first());
  const failed: unknown[] = [];
  const learned: unknown[] = [];
  const ended: string[] = [];
  let messages = 0;
  port2.on('message', () => messages++);
  const callerOptions: PeerPortOptions = {
    serve: servedByCaller,
    failed: () => {},
    learned: (failure) => learned.push(failure),
    ended: () => ended.push('caller'),
  };
  const caller = new PeerPort(port1, callerOptions, unitsMax);
  const server = new PeerPort(port2, {
    serve,
    failed: (failure) => failed.push(failure),
    learned: () => {},
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
  expect(caller.callsUnderWay).toBe(0);
});

test('what a turn has to say goes in one message, calls and outcomes in both directions', async () => {
  const { caller, server, messages } = pair(
    ([, name]) => reply(name),
    ([, name]) => reply(name),
  );
  const one = Array.from({ length: 50 }, async (_, i) => caller.call(callOf(`${i}`)));
  const other = Array.from({ length: 50 }, async (_, i) => server.call(callOf(`${i}`)));
  await Promise.all([...one, ...other]);
  // Its calls, and its outcomes.
  expect(messages()).toBeLessThanOrEqual(2);
});

test('a failure is told to both sides, thrown at once or later', async () => {
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
  expect(caller.callsUnderWay).toBe(0);
  expect(() => caller.call(callOf('late'))).toThrow(
    expect.objectContaining({ code: 'SVC_SHARD_UNAVAILABLE' }),
  );
});

test('a call that the turn has not sent yet when the other side ends was not done', async () => {
  const { caller, port1, closing } = pair(never);
  const unsent = Promise.withResolvers<unknown>();
  // The end comes by itself, and before the calls of its turn have left.
  closing.first = () => unsent.resolve(codeOf(caller.call(callOf('unsent'))));
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
  const { caller } = pair(async () => reply('1'), never, 10);
  const full = [caller.call(callOf('x', '12345')), caller.call(callOf('x', '12345'))];
  expect(() => caller.call(callOf('x', '1'))).toThrow(
    expect.objectContaining({ code: 'SVC_OVERLOADED' }),
  );
  await Promise.all(full);
  // One that is larger than all may be together goes alone.
  const large = caller.call(callOf('x', '123456789012'));
  expect(() => caller.call(callOf('x', '1'))).toThrow('inputs of 12 characters wait');
  expect(await large).toEqual(reply('1'));
  expect(await caller.call(callOf('x', '1'))).toEqual(reply('1'));
});

test('no more calls are under way than may be', async () => {
  const { caller } = pair(never);
  for (let calls = 0; calls < CALLS_UNDER_WAY_MAX; calls++)
    caller.call(callOf('x')).catch(() => {});
  expect(() => caller.call(callOf('x'))).toThrow(
    expect.objectContaining({ code: 'SVC_OVERLOADED' }),
  );
  expect(caller.callsUnderWay).toBe(CALLS_UNDER_WAY_MAX);
});
