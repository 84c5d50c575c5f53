// Two nodes over a loopback socket: calls, requests and what goes beside them.
import { expect, test } from 'vitest';
import { SvcError } from '../../../kit/svc-error.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { amplyKept } from '../../support/kept-bytes.ts';
import {
  CALLING,
  callOf,
  outcomeOf,
  remotePair,
  reply,
  until,
} from '../../support/remoting/remote-pair.ts';

const REQUEST: EndpointRequest = {
  route: 0,
  parameters: ['größe'],
  query: 'a=1',
  headers: [['accept', 'text/plain']],
  caller: 'internet',
  body: { kind: 'json', text: '{"a":1}' },
  idempotencyKey: 'key',
};
const RESPONSE: EndpointResponse = {
  kind: 'response',
  status: 201,
  headers: [['x-a', 'b']],
  body: { kind: 'bytes', bytes: Uint8Array.of(0, 255) },
};

test('a call is served by the other node with all that it has, and answered', async () => {
  const served: unknown[] = [];
  const { peer } = await remotePair({
    service: {
      serve: (call) => {
        served.push(call);
        return reply('{"value":1}');
      },
    },
  });
  const call = [
    { component: 'größe', id: '🛒' },
    'add',
    '{"amount":1}',
    [['traceparent', '00-1-2-01']],
    'key',
  ] as const;
  expect(await peer.call(call)).toEqual(reply('{"value":1}'));
  expect(served).toEqual([call]);
});

test('calls are answered in any order, each with its own outcome', async () => {
  const waiting = new Map<string, (json: string) => void>();
  const { peer } = await remotePair({
    service: {
      serve: async ([, name]) => {
        const json = await new Promise<string>((resolve) => {
          waiting.set(name, resolve);
        });
        return json === 'refused'
          ? { kind: 'refusal', code: 'CONFLICT', message: 'taken' }
          : reply(json);
      },
    },
  });
  const answers = ['a', 'b', 'c'].map((name) => peer.call(callOf(name)));
  await until('the calls', () => waiting.size === 3);
  waiting.get('c')!('"third"');
  waiting.get('a')!('refused');
  waiting.get('b')!('"second"');
  expect(await Promise.all(answers)).toEqual([
    { kind: 'refusal', code: 'CONFLICT', message: 'taken' },
    reply('"second"'),
    reply('"third"'),
  ]);
  expect(peer.callsInFlight).toBe(0);
});

test('failures arrive with their code, cause and text', async () => {
  const failures: Readonly<Record<string, Error>> = {
    full: new SvcError('SVC_JOURNAL_FULL', 'Full.', { retryAfterMs: 7 }),
    trap: new GuestFault('trap', 'Trapped.', {
      limit: 'command-fuel',
      frames: [{ functionIndex: 1, offset: 2 }],
    }),
    bug: new TypeError('a bug'),
  };
  const { peer, calling } = await remotePair({
    service: {
      serve: ([, name]) => {
        throw failures[name]!;
      },
    },
  });
  await expect(peer.call(callOf('full'))).rejects.toMatchObject({
    code: 'SVC_JOURNAL_FULL',
    message: 'Full.',
    retryAfterMs: 7,
  });
  await expect(peer.call(callOf('trap'))).rejects.toMatchObject({
    faultCause: 'trap',
    limit: 'command-fuel',
    frames: [{ functionIndex: 1, offset: 2 }],
  });
  await expect(peer.call(callOf('bug'))).rejects.toThrow('TypeError: a bug');
  expect(calling.learned).toHaveLength(3);
});

test('a whole request is handled by the other node, and its cost comes back', async () => {
  const served: unknown[] = [];
  const { peer } = await remotePair({
    service: {
      serveRequest: (request, metadata, waiter) => {
        served.push([request, metadata]);
        waiter.fuel += 2 ** 40;
        waiter.wasMisrouted = true;
        return RESPONSE;
      },
    },
  });
  const waiter = { fuel: 1, cancel: undefined, kept: amplyKept() };
  let misrouted = 0;
  const answer = peer.request(REQUEST, [['a', 'b']], waiter, () => misrouted++);
  expect(await answer).toEqual(RESPONSE);
  expect(served).toEqual([[REQUEST, [['a', 'b']]]]);
  expect(waiter.fuel).toBe(2 ** 40 + 1);
  expect(misrouted).toBe(1);
});

test('a request is not sent to a node that runs another module', async () => {
  const { peer } = await remotePair({ calling: { ...CALLING, fingerprint: 'module-b' } });
  expect(peer.request(REQUEST, [], undefined, () => {})).toBeUndefined();
  expect(await peer.call(callOf('add'))).toEqual(reply('"add"'));
});

test('a cancelled request is cancelled at the other node, and settles', async () => {
  let begun = false;
  const { peer } = await remotePair({
    service: {
      serveRequest: (_request, _metadata, served) => {
        begun = true;
        return new Promise((_, reject) => {
          served.cancel = reject;
        });
      },
    },
  });
  const waiter = {
    fuel: 0,
    cancel: undefined as ((reason: GuestFault) => void) | undefined,
    kept: amplyKept(),
  };
  const answer = peer.request(REQUEST, [], waiter, () => {})!;
  await until('the request', () => begun);
  waiter.cancel!(new GuestFault('time', 'Too late.', { limit: 'request-time' }));
  await expect(answer).rejects.toMatchObject({ faultCause: 'time', limit: 'request-time' });
});

test('large inputs and answers arrive whole, beside small ones', async () => {
  const large = JSON.stringify('é'.repeat(8 * 1024 * 1024));
  const { peer } = await remotePair({
    service: { serve: ([, name, input]) => reply(name === 'echo' ? input : '"small"') },
  });
  const answers = await Promise.all([
    peer.call(callOf('echo', large)),
    peer.call(callOf('other')),
    peer.call(callOf('echo', large)),
  ]);
  expect(answers[1]).toEqual(reply('"small"'));
  for (const answer of [answers[0], answers[2]])
    expect(answer.kind === 'reply' && answer.json === large).toBe(true);
});

test('a call or an answer that is larger than a message may be fails, and the connection stays', async () => {
  const huge = 'x'.repeat(65 * 1024 * 1024);
  const { peer } = await remotePair({
    service: { serve: ([, name]) => reply(name === 'huge' ? huge : '"small"') },
  });
  expect(await outcomeOf(() => peer.call(callOf('any', huge)))).toBe('SVC_OVERLOADED');
  expect(await outcomeOf(() => peer.call(callOf('huge')))).toBe('SVC_RESPONSE_DROPPED');
  const request: EndpointRequest = { ...REQUEST, body: { kind: 'text', text: huge } };
  expect(peer.request(request, [], undefined, () => {})).toBeUndefined();
  expect(await peer.call(callOf('other'))).toEqual(reply('"small"'));
});

test('the head of a slice arrives before the answer after which it is known', async () => {
  const order: string[] = [];
  const { peer, calling } = await remotePair({
    serviceFor: (node) => ({
      serve: () => {
        node.sendHead(1023, 7);
        return reply('null');
      },
    }),
  });
  await peer.call(callOf('add')).then(() => order.push(JSON.stringify(calling.heads)));
  expect(order).toEqual(['[[1023,7]]']);
});

test('each side can ask the other to look at the database', async () => {
  let looks = 0;
  const { serving, calling } = await remotePair({ service: { look: () => looks++ } });
  calling.nodes.sendLook();
  serving.server.sendLook();
  await until('both looks', () => looks > 0 && calling.looks() > 0);
  expect([looks, calling.looks()]).toEqual([1, 1]);
});

test('when the other node ends, calls that were sent are uncertain, and later ones are not made', async () => {
  const begun: string[] = [];
  const { peer, serving, calling } = await remotePair({
    service: {
      serve: ([, name]) => {
        begun.push(name);
        return new Promise(() => {});
      },
    },
  });
  const sent = outcomeOf(() => peer.call(callOf('sent')));
  await until('the call', () => begun.length > 0);
  await serving.server.close();
  expect(await sent).toBe('SVC_CALL_UNCERTAIN');
  expect(await outcomeOf(async () => peer.call(callOf('late')))).toBe('SVC_SHARD_UNAVAILABLE');
  expect(calling.nodes.peer(1)).toBeUndefined();
  expect(calling.nodes.unreachable).toEqual([1]);
});

test('a node that stops answers the calls that it has, and those that come meanwhile', async () => {
  const held = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { peer, serving } = await remotePair({
    service: {
      serve: async ([, name]) => {
        begun.push(name);
        if (name === 'held') await held.promise;
        return reply(`"${name}"`);
      },
    },
  });
  const answer = peer.call(callOf('held'));
  await until('the call', () => begun.length > 0);
  const closed = serving.server.quiet().then(() => serving.server.close());
  expect(await peer.call(callOf('late'))).toEqual(reply('"late"'));
  held.resolve();
  expect(await answer).toEqual(reply('"held"'));
  await closed;
});
