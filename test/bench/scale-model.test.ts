// What the model of more nodes computes agrees with what can be said without it.
import { describe, expect, test } from 'vitest';
import {
  commandUs,
  fitServer,
  type Installation,
  limitOf,
  predict,
  type ScaleCosts,
} from '../../bench/scale/scale-model.ts';

/** A node decides 10,000 commands a second, and a processor of the database stores 20,000 events a second. */
const COSTS: ScaleCosts = { nodeUs: 100, forwardUs: 60, statementUs: 0, eventUs: 50, writeUs: 0 };
const SMALL: Installation = { nodes: 1, processors: 2, inFlight: 64, isSpread: false };

describe('a cluster in virtual time', () => {
  test('does as much as its nodes decide while the database is idle for the most part', () => {
    for (const nodes of [1, 2, 3]) {
      const { eventsPerSecond, databaseLoad } = predict(COSTS, { ...SMALL, nodes });
      expect(eventsPerSecond / (nodes * 10_000)).toBeCloseTo(1, 1);
      expect(databaseLoad / (nodes * 0.25)).toBeCloseTo(1, 1);
    }
  });

  test('does as much as the processors of the database store, however many nodes there are', () => {
    for (const processors of [1, 2, 4]) {
      const { eventsPerSecond, databaseLoad } = predict(COSTS, { ...SMALL, processors, nodes: 40 });
      expect(eventsPerSecond / (processors * 20_000)).toBeCloseTo(1, 1);
      expect(databaseLoad).toBeCloseTo(1, 1);
    }
  });

  test('never stores more than nodes and database can, nor more in a statement than is in flight', () => {
    const costs = { ...COSTS, statementUs: 300, writeUs: 500 };
    for (const nodes of [1, 3, 7, 20]) {
      const made = predict(costs, { ...SMALL, nodes });
      expect(made.eventsPerSecond).toBeLessThanOrEqual(1.01 * Math.min(nodes * 10_000, 40_000));
      expect(made.eventsPerStatement).toBeLessThanOrEqual(SMALL.inFlight);
      expect(made.databaseLoad).toBeLessThanOrEqual(1.01);
    }
  });

  test('stores more events in a statement when statements take longer', () => {
    const many = { ...SMALL, inFlight: 256 };
    const quick = predict(COSTS, many);
    const slow = predict({ ...COSTS, writeUs: 2_000 }, many);
    expect(slow.eventsPerStatement).toBeGreaterThan(5 * quick.eventsPerStatement);
    expect(slow.eventsPerSecond / quick.eventsPerSecond).toBeCloseTo(1, 1);
  });

  test('waits for the disk where there is no other command to decide meanwhile', () => {
    const { eventsPerSecond } = predict({ ...COSTS, writeUs: 850 }, { ...SMALL, inFlight: 1 });
    // 100 for the decision, 50 for the statement, and the disk.
    expect(eventsPerSecond).toBeCloseTo(1_000, -1);
  });

  test('writes what several nodes store together, so that a statement waits for two writes at most', () => {
    const costs = { ...COSTS, nodeUs: 1, eventUs: 0, writeUs: 1_000 };
    const rate = (nodes: number) =>
      predict(costs, { ...SMALL, nodes, inFlight: 1 }).eventsPerSecond;
    expect(rate(1) / 1_000).toBeCloseTo(1, 1);
    for (const nodes of [3, 20]) {
      expect(rate(nodes)).toBeGreaterThanOrEqual(0.98 * nodes * 500);
      expect(rate(nodes)).toBeLessThan(nodes * 800);
    }
  });
});

test('a command costs more the more of them are forwarded', () => {
  expect(commandUs(COSTS, { nodes: 3, isSpread: false })).toBe(100);
  expect(commandUs(COSTS, { nodes: 1, isSpread: true })).toBe(100);
  expect(commandUs(COSTS, { nodes: 3, isSpread: true })).toBeCloseTo(140);
  expect(commandUs(COSTS, { nodes: 4, isSpread: true })).toBeCloseTo(145);
});

describe('the number of nodes with which the database is the limit', () => {
  const { nodes: _, ...rest } = SMALL;

  test('is the first with which the nodes decide nearly all that it stores', () => {
    // Four nodes decide what two processors store, and three decide three quarters of it.
    expect(limitOf(COSTS, rest, [1, 2, 3, 5, 8])).toBe(5);
    expect(limitOf(COSTS, { ...rest, processors: 4 }, [1, 2, 3, 5, 7, 8, 10])).toBe(8);
  });

  test('is larger where nodes have more to do, as with forwarded commands', () => {
    // A command of five nodes costs them 148, so that they decide 0.84 of what it stores, and six decide all of it.
    expect(limitOf(COSTS, { ...rest, isSpread: true }, [1, 2, 3, 5, 6, 8])).toBe(6);
  });

  test('is unknown if none of the numbers reaches it', () => {
    expect(limitOf(COSTS, rest, [1, 2, 3])).toBeUndefined();
  });
});

function measured(events: number) {
  return { eventsPerStatement: events, serverUs: (120 + 9 * events) / events };
}

test('the costs of statement and event are those of the line through two measurements', () => {
  const { statementUs, eventUs } = fitServer(measured(1), measured(64));
  expect(statementUs).toBeCloseTo(120);
  expect(eventUs).toBeCloseTo(9);
});

test('the costs are those of events alone where two measurements say that a statement costs less than nothing', () => {
  const small = { eventsPerStatement: 30, serverUs: 50 };
  const events = { statementUs: 0, eventUs: 50 };
  expect(fitServer(small, { eventsPerStatement: 90, serverUs: 60 })).toEqual(events);
  expect(fitServer(small, { eventsPerStatement: 90, serverUs: 10 })).toEqual(events);
});
