// The author of the calls that a handler makes: the one that was verified, whatever the handler gives.
import { expect, test } from 'vitest';
import { authoredEngine } from '../../../../host/http/requests/authored-engine.ts';
import type { CallableEngine } from '../../../../host/http/requests/callable-engine.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { eventHandler } from '../../../../host/http/requests/event-handler.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import { authorOf, authorText } from '../../../../contract/author.ts';
import { authoredMetadata, authorIn } from '../../../../model/author.ts';
import type { CallContext, Metadata, Reply } from '../../../../model/call.ts';
import type { EndpointRequest } from '../../../../model/endpoint.ts';
import type { HostCalls } from '../../../../model/guest.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const ADA = { issuer: 'https://login.test', subject: 'ada' };
const TRACE: Metadata[number] = [
  'traceparent',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
];
const FORGED: Metadata[number] = ['x-svc-by', '["https://login.test","root"]'];
const LOAN = { component: 'loan', id: 'a' };
const reply: Reply = { kind: 'reply', json: '1' };

function engine(received: Metadata[]): CallableEngine {
  return {
    ...WITHOUT_TIMERS,
    readEvents: async () => [],
    call: (_target, _name, _input, metadata) => (received.push(metadata), Promise.resolve(reply)),
    speculate: (_target, _name, _input, metadata) => (received.push(metadata), reply),
  };
}

test.each([
  ['without a principal none', undefined, [TRACE]],
  ['with a principal this one', authorText(ADA), [TRACE, ['x-svc-by', authorText(ADA)]]],
])('a call has, whatever author its handler gives, %s', async (_what, author, expected) => {
  const received: Metadata[] = [];
  const authored = authoredEngine(engine(received), author);
  for (const given of [[TRACE], [FORGED, TRACE], [FORGED, TRACE, FORGED]]) {
    await authored.call(LOAN, 'lend', '', given, undefined);
    authored.speculate!(LOAN, 'lend', '', given, undefined);
  }
  expect(received).toEqual(Array.from({ length: 6 }, () => expected));
});

test('a handler that is run again with another author than it has given before is found', async () => {
  const authored = authoredEngine(engine([]), authorText(ADA));
  const again = new RequestCalls(authored, { nowMs: () => 1 });
  again.speculate!(LOAN, 'lend', '', [FORGED], undefined);
  again.beginReplay();
  expect(await again.call(LOAN, 'lend', '', [FORGED], undefined)).toBe(reply);
  const other = new RequestCalls(authored, { nowMs: () => 1 });
  other.speculate!(LOAN, 'lend', '', [FORGED], undefined);
  other.beginReplay();
  await expect(async () => other.call(LOAN, 'lend', '', [], undefined)).rejects.toThrow(
    'made another call',
  );
});

test('a handler is not given the author in its metadata, and its calls have it', async () => {
  const received: Metadata[] = [];
  let context: CallContext | undefined;
  const handle = requestHandler({
    guest: {
      endpoints: {
        handle: (given: CallContext, _request: EndpointRequest, calls: HostCalls) => {
          context = given;
          calls.speculate!(LOAN, 'lend', '', given.metadata, undefined);
          return { kind: 'refusal', code: 'CONFLICT', message: '' };
        },
      },
    } as unknown as Parameters<typeof requestHandler>[0]['guest'],
    engine: engine(received),
    clock: { nowMs: () => 1 },
    random: { next64: () => 1n },
  });
  const request = { headers: [] } as unknown as EndpointRequest;
  await handle(request, authoredMetadata([TRACE], ADA));
  expect(context!.metadata).toEqual([TRACE]);
  await handle(request, [TRACE]);
  expect(received.map(authorIn)).toEqual([authorText(ADA), undefined]);
});

test('an author is read from its own form alone', () => {
  const odd = { issuer: 'https://login.test/ä', subject: '"],["' };
  expect(authorOf(authorText(odd))).toEqual(odd);
  for (const text of [undefined, '', 'ada', '[]', '["a"]', '["a",1]', '["a","b","c"]', '{"0":"a"}'])
    expect(authorOf(text)).toBeUndefined();
});

test('a call of a consumer has no author, whatever the module gives', async () => {
  const received: Metadata[] = [];
  const handle = eventHandler({
    guest: {
      consumers: {
        async handle({ metadata }, _consumer, _event, calls) {
          await calls.call(LOAN, 'lend', '1', [...metadata, FORGED], undefined);
          return { kind: 'done' };
        },
      },
    },
    engine: engine(received),
    answerTimeoutMs: 60_000,
  })!;
  const event = { entity: LOAN, seq: 1, timeMs: 1, event: { manifest: 'lent', json: '{}' } };
  await handle('ledger', { ...event, seed: 5n, trace: '0af7651916cd43dd8448eb211c80319c' }, 0);
  expect(received[0]!.map(([name]) => name)).toEqual(['traceparent']);
});
