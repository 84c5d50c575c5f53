// Nodes are sent what the shape of a load says.
import { describe, expect, test } from 'vitest';
import { SLICE_COUNT } from '@svc/model/slice';
import { nodeLoads, strayCommands } from '../../bench/scale/scale-load.ts';

const THREE = Array.from({ length: SLICE_COUNT }, (_, slice) => slice % 3);
const ALONE = THREE.map(() => 0);

describe('a load of several nodes', () => {
  test('of own entities has commands for each of the nodes alone, each entity at one of them', () => {
    const loads = nodeLoads(3, THREE, { shape: 'own', commands: 3_001, inFlight: 8 });
    expect(loads.map(({ commands }) => commands)).toEqual([1_000, 1_000, 1_001]);
    expect(new Set(loads.flatMap(({ entities }) => entities)).size).toBe(1_000);
    expect(loads.flatMap(({ entities }) => entities)).toHaveLength(1_000);
    expect(strayCommands(loads, THREE)).toBe(0);
  });

  test('that is evenly spread has two of three commands for a node that does not own the entity', () => {
    const loads = nodeLoads(3, THREE, { shape: 'spread', commands: 3_000, inFlight: 8 });
    for (const { entities, commands } of loads) {
      expect(new Set(entities).size).toBe(1_000);
      expect(commands).toBe(1_000);
    }
    // Each entity is in turn once at each node, and two of the three do not own it.
    expect(strayCommands(loads, THREE)).toBe(2_000);
  });

  test('is the same in either shape with one node', () => {
    const [own] = nodeLoads(1, ALONE, { shape: 'own', commands: 10, inFlight: 8 });
    const [spread] = nodeLoads(1, ALONE, { shape: 'spread', commands: 10, inFlight: 8 });
    expect(own).toEqual(spread);
  });
});
