import { describe, expect, test } from 'vitest';
import {
  NO_PRESSURE,
  nextPressure,
  type RatePressure,
  ResponseRate,
} from '../../../host/http/response-rate.ts';
import { ByteBudget } from '../../../model/byte-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const TIMES = { bytesPerSecondMin: 10 * KIB, rateGraceMs: 10_000 };
const S_MS = 1_000;
const HIGH: RatePressure = { isHigh: true, factor: 1 };
// The grace is 100 KiB, and a piece of 64 KiB may be in transit: 16.4 seconds.

function connection() {
  const socket = {
    bytesWritten: 0,
    writableLength: 0,
    get takenBytes(): number {
      return this.bytesWritten - this.writableLength;
    },
  };
  const rate = new ResponseRate(TIMES, socket);
  return {
    /**
     * Simulates this many seconds in which the system accepts this many bytes per second; returns after how many
     * seconds the rate was too low.
     */
    takes: (bytesPerSecond: number, seconds: number, pressure = NO_PRESSURE) => {
      for (let second = 1; second <= seconds; second++) {
        socket.bytesWritten += bytesPerSecond;
        if (rate.isTooLow(S_MS, pressure)) return second;
      }
      return undefined;
    },
    takesAtOnce: (bytes: number) => {
      socket.bytesWritten += bytes;
    },
    waits: (bytes: number) => {
      socket.bytesWritten += bytes;
      socket.writableLength += bytes;
    },
    idles: () => rate.isTooLow(0, NO_PRESSURE),
  };
}

describe('the rate of responses', () => {
  test('that is the least is enough for ever', () => {
    expect(connection().takes(10 * KIB, 100_000)).toBeUndefined();
  });

  test('may be less for as long as the grace', () => {
    expect(connection().takes(0, 1_000)).toBe(17);
    expect(connection().takes(5 * KIB, 1_000)).toBe(33);
  });

  test('counts what has left the process, not what waits there', () => {
    const one = connection();
    one.waits(8 * MIB);
    expect(one.takes(0, 1_000)).toBe(17);
  });

  test('is an average: what the system took at once counts for what it takes later', () => {
    const one = connection();
    one.takesAtOnce(2 * MIB);
    // The system accepts the next megabyte when half of its buffer is free.
    expect(one.takes(0, 100)).toBeUndefined();
    one.takesAtOnce(MIB);
    expect(one.takes(0, 100)).toBeUndefined();
  });

  test('is an average of no more than the buffers of the system', () => {
    const one = connection();
    one.takesAtOnce(100 * MIB);
    // 4 MiB are accepted before the first sweep.
    expect(one.takes(0, 10_000)).toBe(428);
  });

  test('counts at once while there is little room left', () => {
    const one = connection();
    one.takesAtOnce(4 * MIB);
    expect(one.takes(0, 100, HIGH)).toBe(18);
    expect(connection().takes(10 * KIB, 1_000, HIGH)).toBeUndefined();
  });

  test('has to be more with each look while there is no room left, so that the slowest are cut first', () => {
    const factors = { isHigh: true, factor: 64 };
    expect(connection().takes(10 * KIB, 100, factors)).toBe(1);
    expect(connection().takes(600 * KIB, 100, factors)).toBe(5);
    expect(connection().takes(640 * KIB, 1_000, factors)).toBeUndefined();
  });

  test('is none while nothing waits', () => {
    const one = connection();
    for (let n = 0; n < 1_000; n++) expect(one.idles()).toBe(false);
    expect(one.takes(0, 16)).toBeUndefined();
  });
});

describe('the pressure on callers', () => {
  const budget = new ByteBudget(100, 10);
  const looks = (count: number, before = NO_PRESSURE): RatePressure => {
    let pressure = before;
    for (let n = 0; n < count; n++) pressure = nextPressure(pressure, budget);
    return pressure;
  };

  test('is none while there is room', () => {
    budget.add(50);
    expect(looks(10)).toEqual(NO_PRESSURE);
  });

  test('is high, and no more than that, while little is left', () => {
    budget.add(1);
    expect(looks(10)).toEqual(HIGH);
  });

  test('doubles while there is no room left, to 64 times, and goes back by halves', () => {
    budget.add(40);
    expect([1, 2, 3].map((count) => looks(count).factor)).toEqual([2, 4, 8]);
    const most = looks(100);
    expect(most).toEqual({ isHigh: true, factor: 64 });
    budget.add(-91);
    expect([1, 2, 6, 9].map((count) => looks(count, most).factor)).toEqual([32, 16, 1, 1]);
  });
});
