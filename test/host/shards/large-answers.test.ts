// Large answers between two shards count as unsent until the shard that serves the client has received them.
import { expect, onTestFinished, test, vi } from 'vitest';
import { ByteBudget } from '../../../model/byte-budget.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { peerLinks } from '../../../host/shards/peer-link.ts';
import { RingTransport } from '../../../host/shards/ring-transport.ts';
import { PeerProtocol, type PeerProtocolOptions } from '../../../host/shards/peer-protocol.ts';
import { CounterGuest } from '../../support/counter-guest.ts';
import { ampleBudget } from '../../support/kept-bytes.ts';

const REQUEST: EndpointRequest = {
  route: 0,
  parameters: [],
  query: '',
  headers: [],
  caller: 'internet',
  body: { kind: 'none' },
};
const LARGE = 100_000;
const large = (): EndpointResponse => ({
  kind: 'response',
  status: 200,
  headers: [],
  body: { kind: 'text', text: 'x'.repeat(LARGE) },
});

/** Two shards: `caller` sends requests, the other one handles them. */
function pair(serveRequest: PeerProtocolOptions['serveRequest'], unsent = ampleBudget()) {
  const [link1, link2] = peerLinks(2);
  const handlerTable = new HandlerTable(new CounterGuest().descriptor);
  const ended = Promise.withResolvers<void>();
  const options: PeerProtocolOptions = {
    serve: () => ({ kind: 'reply', json: `"${'x'.repeat(LARGE - 2)}"` }),
    serveRequest,
    failed: () => true,
    learned: () => {},
    unsent,
    ended: ended.resolve,
  };
  const caller = new PeerProtocol(new RingTransport(link1, handlerTable), {
    ...options,
    unsent: ampleBudget(),
    ended() {},
  });
  const server = new PeerProtocol(new RingTransport(link2, handlerTable), options);
  onTestFinished(() => link1.port.close());
  const answer = async () => caller.request(REQUEST, [], undefined, () => {});
  const reply = async () =>
    caller.call([{ component: 'counter', id: 'a' }, 'total', 'null', [], undefined]);
  return {
    answer,
    reply,
    server,
    unsent,
    callerEnds: () => link1.port.close(),
    ended: ended.promise,
  };
}

test('a large answer counts where it was made until the other shard has it', async () => {
  const { answer, unsent } = pair(large);
  expect(await answer()).toEqual(large());
  expect(unsent.total).toBe(LARGE);
  await expect.poll(() => unsent.total).toBe(0);
});

test('a large answer for which there is no room is dropped, and the caller learns that', async () => {
  const { answer, unsent } = pair(large, new ByteBudget(LARGE - 1));
  await expect(answer()).rejects.toMatchObject({ code: 'SVC_RESPONSE_DROPPED' });
  expect(unsent.total).toBe(0);
});

test('what a request keeps while its handler waits is given back when it fails', async () => {
  const { answer, unsent } = pair((_request, _metadata, served) => {
    served.kept.become(1_000_000);
    throw new GuestFault('trap', 'Trapped.');
  });
  await expect(answer()).rejects.toThrow('Trapped.');
  expect(unsent.total).toBe(0);
});

test('large answers that the other shard has not taken are given back when it ends', async () => {
  const it = pair(() => {
    it.callerEnds();
    return large();
  });
  const added = vi.spyOn(it.unsent, 'add');
  it.answer().catch(() => {});
  await it.ended;
  expect(added.mock.calls.flat()).toEqual([LARGE, -LARGE]);
});

test('a large reply of an entity counts as well, and the call is uncertain where there is no room', async () => {
  const { reply, unsent } = pair(large);
  expect(await reply()).toMatchObject({ kind: 'reply' });
  expect(unsent.total).toBe(LARGE);
  await expect.poll(() => unsent.total).toBe(0);
  const full = pair(large, new ByteBudget(LARGE - 1));
  await expect(full.reply()).rejects.toMatchObject({ code: 'SVC_RESPONSE_DROPPED' });
  expect(full.unsent.total).toBe(0);
});
