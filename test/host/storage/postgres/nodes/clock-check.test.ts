// The wall clock of a machine is compared with that of the database.
import { beforeEach, describe, expect, test } from 'vitest';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import {
  CLOCK_DIFFERENCE_MAX_MS,
  ClockCheck,
} from '../../../../../host/storage/postgres/nodes/clock-check.ts';

describe('the clock of a machine', () => {
  let machine: number;
  let wall: number;
  /** The answer of the database, and how long it takes. */
  let databaseMs: number;
  let answerMs: number;
  let check: ClockCheck;

  beforeEach(() => {
    machine = 1_000;
    wall = 1_700_000_000_000;
    databaseMs = wall;
    answerMs = 0;
    check = new ClockCheck('the database', { machineMs: () => machine, nowMs: () => wall });
  });

  const session = {
    query: () => {
      machine += answerMs;
      wall += answerMs;
      return Promise.resolve([[databaseMs]]);
    },
  } as unknown as DatabaseSession;

  test.each([CLOCK_DIFFERENCE_MAX_MS, -CLOCK_DIFFERENCE_MAX_MS, 0])(
    'may differ by %i ms',
    async (byMs) => {
      databaseMs = wall + byMs;
      expect(await check.compare(session)).toBeUndefined();
    },
  );

  test.each([CLOCK_DIFFERENCE_MAX_MS + 1, -CLOCK_DIFFERENCE_MAX_MS - 1, 3_600_000])(
    'is refused when it differs by %i ms, and both times are shown',
    async (byMs) => {
      databaseMs = wall + byMs;
      const refused = await check.compare(session);
      expect(refused).toMatchObject({ code: 'SVC_CLOCK_DIFFERS' });
      expect(refused!.message).toContain(new Date(databaseMs).toISOString());
      expect(refused!.message).toContain(new Date(wall).toISOString());
    },
  );

  test('is not wrong because the database takes its time', async () => {
    answerMs = 60_000;
    databaseMs = wall + 30_000;
    expect(await check.compare(session)).toBeUndefined();
    databaseMs = wall;
    expect(await check.compare(session)).toBeUndefined();
    databaseMs = wall + answerMs;
    expect(await check.compare(session)).toBeUndefined();
  });

  test('was set when it has moved against the one that is never set, until it is compared again', async () => {
    expect(check.wasSet).toBe(false);
    wall += CLOCK_DIFFERENCE_MAX_MS;
    expect(check.wasSet).toBe(false);
    wall += 1;
    expect(check.wasSet).toBe(true);
    databaseMs = wall;
    await check.compare(session);
    expect(check.wasSet).toBe(false);
    wall -= 3_600_000;
    expect(check.wasSet).toBe(true);
  });
});
