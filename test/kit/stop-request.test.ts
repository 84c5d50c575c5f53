// What tells the host's process to stop, as its listeners hear it; with real processes: test/programs/stopping.long.test.ts.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { stopRequest } from '../../kit/stop-request.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  for (const signal of SIGNALS)
    for (const listener of process.listeners(signal))
      if (!before.get(signal)!.includes(listener)) process.off(signal, listener);
});

const isHeard = (signal: (typeof SIGNALS)[number]) =>
  process.listenerCount(signal) > before.get(signal)!.length;

test.each(SIGNALS)(
  '%s that is passed on is the same, and a later one is left to Node',
  async (signal) => {
    const told = stopRequest(undefined);
    expect(isHeard(signal)).toBe(true);
    process.emit(signal, signal);
    expect(await told).toBe(signal);
    vi.advanceTimersByTime(999);
    // With nobody who hears it, it would end the process.
    expect(isHeard(signal)).toBe(true);
    process.emit(signal, signal);
    vi.advanceTimersByTime(1);
    expect(isHeard(signal)).toBe(false);
  },
);

test('a second signal does not end the process, and is not reported', async () => {
  const told = stopRequest(undefined);
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGTERM', 'SIGTERM');
  vi.advanceTimersByTime(1_000);
  expect(await told).toBe('SIGINT');
  expect(SIGNALS.map(isHeard)).toEqual([false, false, true]);
});

test('the end of the process that started it is a request to stop', async () => {
  const told = stopRequest('0');
  vi.advanceTimersByTime(200);
  expect(await told).toBe('the process that started it has ended');
  expect(SIGNALS.map(isHeard)).toEqual([true, true, true]);
});

test("a signal that is somebody else's is not heard", async () => {
  const told = stopRequest(undefined, ['SIGINT', 'SIGTERM']);
  expect(SIGNALS.map(isHeard)).toEqual([true, true, false]);
  process.emit('SIGTERM', 'SIGTERM');
  expect(await told).toBe('SIGTERM');
});
