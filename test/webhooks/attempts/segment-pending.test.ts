// The pending deliveries of all segments, when the views of one cannot be read.
import { expect, test } from 'vitest';
import { Ok, type Service } from '@svc/host';
import { SegmentPending } from '../../../webhooks/attempts/segment-pending.ts';

/** A segment whose view has rows, due at these times, or cannot be read. */
function segment(number: number, dueAtMs: readonly number[] | Error) {
  const asked: unknown[] = [];
  const service: Pick<Service, 'position' | 'view'> = {
    position: () => `position of ${number}`,
    view: ((_view: unknown, options: unknown) => {
      asked.push(options);
      return {
        ofSubscription() {
          if (dueAtMs instanceof Error) return Promise.reject(dueAtMs);
          const rows = dueAtMs.map((at) => ({ id: `d${at}`, url: 'http://h:81/', dueAtMs: at }));
          return Promise.resolve(new Ok({ rows, cursor: undefined, asOfMs: undefined }));
        },
      };
    }) as never,
  };
  return { number, service: service as Service, asked };
}

test('those that are due first come first, out of rows that have all that is stored', async () => {
  const segments = [segment(2, [1, 4]), segment(1, [2, 3])];
  const { deliveries, failure } = await new SegmentPending({ newestFirst: segments }).first('s', 3);
  expect(deliveries.map(({ id, segment: of, host }) => [id, of, host])).toEqual([
    ['d1', 2, 'h:81'],
    ['d2', 1, 'h:81'],
    ['d3', 1, 'h:81'],
  ]);
  expect(failure).toBeUndefined();
  expect(segments.map(({ asked }) => asked)).toEqual([
    [{ after: 'position of 2' }],
    [{ after: 'position of 1' }],
  ]);
});

test('a segment that cannot be read does not hold up the others, and is reported', async () => {
  const stopped = new Error('the view has stopped');
  const newestFirst = [segment(2, stopped), segment(1, [2])];
  const { deliveries, failure } = await new SegmentPending({ newestFirst }).first('s', 3);
  expect(deliveries.map(({ id }) => id)).toEqual(['d2']);
  expect(failure).toBe(stopped);
});
