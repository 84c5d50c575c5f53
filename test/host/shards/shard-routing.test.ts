// ShardRouting of two shards, wired as in their threads up to the HTTP server: where handlers run, and that one
// shard's requests leave the other its turns of the event loop.
import { expect, onTestFinished, test } from 'vitest';
import type { GuestEndpoints } from '../../../model/guest.ts';
import { FaultReport } from '../../../model/fault-report.ts';
import { LimitCounters } from '../../../model/limit-counters.ts';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { EventLoopBudget } from '../../../host/http/requests/event-loop-budget.ts';
import { peerLinks } from '../../../host/shards/peer-link.ts';
import { HashOwnership, shardOf } from '../../../host/shards/hash-ownership.ts';
import { shardRouting } from '../../../host/shards/shard-routing.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { unlimitedEventLoop } from '../../support/unlimited-event-loop.ts';
import { EngineUnderTest } from '../../support/engine-under-test.ts';
import { ampleBudget } from '../../support/kept-bytes.ts';

const THERE = Array.from({ length: 20 }, (_, number) => `c${number}`).find(
  (id) => shardOf(COUNTER, id, 2) === 1,
)!;
const REQUEST: EndpointRequest = {
  route: 0,
  parameters: [THERE],
  query: '',
  headers: [],
  caller: 'internet',
  body: { kind: 'none' },
};

/** Records where handlers run. `busy`: event-loop budget of the second shard. */
function shards(busy: EventLoopBudget = unlimitedEventLoop()) {
  const ran: number[] = [];
  const one = (index: number, eventLoop: EventLoopBudget) => {
    const { guest, engine } = new EngineUnderTest();
    // The guest first tries the fast path.
    const endpoints: GuestEndpoints = {
      handle(context, request, calls) {
        ran.push(index);
        const target = { component: COUNTER, id: request.parameters[0]! };
        const answer = calls.speculate!(target, 'total', 'null', [], undefined);
        if (answer === undefined)
          return calls.remoteAnswer!()!.then(() => this.handle(context, request, calls));
        const text = answer.kind === 'reply' ? answer.json : answer.message;
        return { kind: 'response', status: 200, headers: [], body: { kind: 'json', text } };
      },
    };
    return shardRouting({
      index,
      ownership: new HashOwnership(2),
      guest: { endpoints },
      engine,
      clock: { nowMs: () => 1 },
      random: { next64: () => 2n },
      eventLoop,
      faults: new FaultReport(new LimitCounters()),
      handlerTable: new HandlerTable(guest.descriptor),
      unsent: ampleBudget(),
    });
  };
  const [here, there] = [one(0, unlimitedEventLoop()), one(1, busy)];
  const [link1, link2] = peerLinks(2);
  here.router.connect({ index: 1, ...link1 });
  there.router.connect({ index: 0, ...link2 });
  onTestFinished(() => link1.port.close());
  return { here, ran };
}

test('once a route was seen to ask for an entity elsewhere, its handler runs there, and once', async () => {
  const { here, ran } = shards();
  const first = await here.handle(REQUEST, []);
  expect(ran.splice(0)).toEqual([0, 0]);
  expect(await here.handle(REQUEST, [])).toEqual(first);
  expect(ran).toEqual([1]);
});

test('requests that come together leave the turn of the event loop to others', async () => {
  let nowMs = 0;
  let turns = 0;
  const busy = new EventLoopBudget({
    // Each reading of the clock takes the whole budget of a turn.
    nowMs: () => (nowMs += 6),
    nextTurn: (callback) => {
      turns++;
      setImmediate(callback);
    },
    afterPromises: (callback) => setImmediate(callback),
  });
  const { here, ran } = shards(busy);
  await here.handle(REQUEST, []);
  ran.length = turns = 0;
  await Promise.all(Array.from({ length: 10 }, async () => here.handle(REQUEST, [])));
  expect(ran).toEqual(Array.from({ length: 10 }, () => 1));
  expect(turns).toBeGreaterThan(3);
});
