// The queue of a stream's calls keeps their order, and its work does not grow with the calls that wait.
import { expect, test, vi } from 'vitest';
import { HostCallQueue } from '../../../process-sdk/typescript/host-call-queue.ts';

function queueOf(max: number) {
  const sent: number[] = [];
  const queue = new HostCallQueue((frame) => sent.push(frame[0]!));
  queue.max = max;
  return { queue, sent };
}

test('calls leave in their order, without those of handlers that have ended', () => {
  const { queue, sent } = queueOf(1);
  for (let number = 0; number < 9; number++) queue.add(number % 3, Uint8Array.of(number), true);
  queue.add(2, Uint8Array.of(9), false);
  queue.settled();
  queue.drop(1);
  for (let results = 0; results < 6; results++) queue.settled();
  expect(sent).toEqual([0, 1, 2, 3, 5, 6, 8, 9]);
  queue.add(1, Uint8Array.of(10), true);
  expect(sent.at(-1)).toBe(10);
});

test('the end of a handler without waiting calls and a result do not copy the queue', () => {
  const { queue, sent } = queueOf(1);
  for (let number = 0; number < 100; number++) queue.add(number, Uint8Array.of(number), true);
  const filter = vi.spyOn(Array.prototype, 'filter');
  const slice = vi.spyOn(Array.prototype, 'slice');
  try {
    for (let number = 0; number < 40; number++) {
      queue.drop(number);
      queue.settled();
    }
    expect(sent).toHaveLength(41);
    expect(filter).not.toHaveBeenCalled();
    expect(slice.mock.calls.length).toBeLessThan(2);
  } finally {
    vi.restoreAllMocks();
  }
});
