// The report of one node and several compares what a command costs with and without what nodes use at rest.
import { expect, test } from 'vitest';
import { type NodesUsage, withoutRest } from '../../bench/scale/nodes-usage.ts';
import { costsOf, ratiosOf, type Rest, type Round } from '../../bench/scale/scale-report.ts';

const REST: Rest = {
  one: { nodeUs: 1_000, statements: 1 },
  several: { nodeUs: 10_000, statements: 10 },
};

/** Returns what 1,000 commands in 2 s cost. */
function usage(nodes: number, nodeUs: number, forwarded: number): NodesUsage {
  return {
    nodes,
    load: { shape: 'own', commands: 1_000, inFlight: 64 },
    commands: 1_000,
    events: 1_000,
    strays: forwarded,
    forwarded,
    seconds: 2,
    nodeUs,
    serverUs: 20,
    appends: 0.05,
    statements: 0.11,
    walBytes: 500,
    locks: { looks: 1, looksAtSeveral: 1, rowWaits: [], otherWaits: [], loggedRowWaits: [] },
  };
}

const ROUND: Round = {
  one: usage(1, 102, 0),
  oneWithAll: { ...usage(1, 92, 0), appends: 0.01, serverUs: 12 },
  own: usage(3, 160, 0),
  spread: usage(3, 180, 500),
  onePaced: usage(1, 202, 0),
  ownPaced: usage(3, 260, 0),
  spreadPaced: usage(3, 300, 500),
};

test('what all nodes use at rest in the time of a load is not counted to its commands', () => {
  expect(withoutRest(ROUND.one, REST.one).nodeUs).toBeCloseTo(100);
  expect(withoutRest(ROUND.own, REST.several).nodeUs).toBeCloseTo(100);
  expect(withoutRest(ROUND.own, REST.several).statements).toBeCloseTo(0.05);
});

test('the ratios of a round are those of several nodes to one, and the figure is the median of the rounds', () => {
  const worse = { ...ROUND, own: { ...ROUND.own, nodeUs: 1_000 } };
  const [own, spread] = ratiosOf([worse, ROUND, ROUND], REST);
  expect(own).toMatchObject({ several: 'own', one: 'one' });
  expect(own!.ratios.nodeUs).toBeCloseTo(160 / 102);
  expect(own!.ratios.workUs).toBeCloseTo(1);
  expect(own!.ratios.appends).toBeCloseTo(1);
  expect(spread!.ratios.workUs).toBeCloseTo(1.2);
});

test('the costs of the model are those of own entities, what forwarding adds, and those of statements of two sizes', () => {
  const single = {
    loops: 1,
    inFlight: 1,
    eventsPerSecond: 500,
    statementsPerSecond: 500,
    eventsPerStatement: 1,
    serverUs: 300,
    loopUs: 200,
    walBytes: 500,
  };
  const costs = costsOf([ROUND], REST, single);
  // 20 events of 20 µs are 400, and 100 of 12 are 1,200: 10 for each of the 80 more.
  expect(costs.eventUs).toBeCloseTo(10);
  expect(costs.statementUs).toBeCloseTo(200);
  expect(costs.nodeUs).toBeCloseTo(100);
  // Half of the commands are forwarded, which makes 20 more for each command.
  expect(costs.forwardUs).toBeCloseTo(40);
  expect(costs.writeUs).toBeCloseTo(1_500);
});
