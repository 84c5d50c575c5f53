// Random calls to entities of which some have a poisoned event, with cures, relapses, evictions and a clock
// that also goes backwards, compared with a model of who is held back. A failing run names its seed.
import { expect, test } from 'vitest';
import { added, POISON, UNREADABLE } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';
import { Random } from '../../../support/random.ts';

const SEEDS = [1, 2, 3, Math.floor(Math.random() * 2 ** 32)];
const STEPS = 1_500;
const limits = {
  entityFaultsMax: 2,
  entityPauseMs: 100,
  entityPauseMaxMs: 700,
  // Whoever comes into memory puts the other out of it.
  liveEntitiesMax: 1,
};
const HISTORIES = {
  healthy: [added(1), added(2)],
  poisoned: [added(1), POISON],
  alsoPoisoned: [POISON, added(1)],
  unreadable: [added(1), UNREADABLE],
};
type Id = keyof typeof HISTORIES;
const IDS = Object.keys(HISTORIES) as Id[];

interface Faulty {
  faults: number;
  pauseMs: number;
  sinceMs: number;
}

test.each(SEEDS)('who is held back, with seed %i', async (seed) => {
  const random = new Random(seed);
  const it = new EngineUnderTest({ limits });
  for (const id of IDS) await it.storeEvents(id, HISTORIES[id]);
  const faulty = new Map<Id, Faulty>();
  const { cured } = it.guest;
  let inMemory: Id | undefined;
  let logged = 0;
  const wrong: string[] = [];

  const expected = (id: Id): string => {
    if (inMemory === id) return 'answered';
    const state = faulty.get(id);
    const passedMs = it.nowMs - (state?.sinceMs ?? 0);
    if (state !== undefined && passedMs < state.pauseMs) return 'failed SVC_ENTITY_HELD_BACK';
    inMemory = undefined;
    if (id === 'healthy' || (id !== 'unreadable' && cured.has(id))) {
      faulty.delete(id);
      inMemory = id;
      return 'answered';
    }
    const faults = (state?.faults ?? 0) + 1;
    const pauseMs =
      faults < limits.entityFaultsMax ? 0 : Math.min(Math.max(100, (state?.pauseMs ?? 0) * 2), 700);
    faulty.set(id, { faults, pauseMs, sinceMs: it.nowMs });
    logged += pauseMs > 0 ? 2 : 1;
    return id === 'unreadable' ? 'failed SVC_EVENT_UNREADABLE' : 'failed trap';
  };

  for (let step = 0; step < STEPS; step++) {
    const id = random.pick(IDS);
    const action = random.below(10);
    if (action === 0) cured.add(id);
    else if (action === 1) cured.delete(id);
    else if (action <= 3) it.nowMs += random.below(300);
    else if (action === 4) it.wallSetMs += random.below(2_000) - 1_000;
    else {
      const faults = action === 5 && inMemory === id;
      const wanted = faults ? 'failed trap' : expected(id);
      const outcome = await it.outcome(id, faults ? 'fault' : 'total');
      if (faults) {
        logged++;
        inMemory = undefined;
      }
      const found = typeof outcome === 'number' ? 'answered' : outcome;
      if (found !== wanted) wrong.push(`step ${step}: ${id} ${String(found)}, not ${wanted}`);
    }
    if (it.faults.length !== logged)
      wrong.push(`step ${step}: ${it.faults.length} lines, not ${logged}`);
  }
  expect(wrong).toEqual([]);
  expect(it.guest.violations).toEqual([]);
});
