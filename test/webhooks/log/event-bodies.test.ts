// Bodies of events in memory: how many are kept, and whose they are.
import { expect, test } from 'vitest';
import { EventBodies } from '../../../webhooks/log/event-bodies.ts';
import type { Segment } from '../../../webhooks/segments/segments.ts';

const source = { entity: 'dataset', id: 'ds', seq: 1 } as const;

/** A segment whose journal has a body of its own for each event, and counts how often it was asked. */
function segment(number: number) {
  let reads = 0;
  const service = {
    readEvents: () => {
      reads++;
      return Promise.resolve([
        { event: { type: 'reported', event: { id: 'e', body: `of ${number}` } } },
      ]);
    },
  };
  return { segment: { number, service } as unknown as Segment, reads: () => reads };
}

test('a body is read once, and the one that was read first gives way to others', async () => {
  const bodies = new EventBodies(8);
  const { segment: one, reads } = segment(1);
  expect(await bodies.read(one, { eventId: 'e', source })).toBe('of 1');
  expect(await bodies.read(one, { eventId: 'e', source })).toBe('of 1');
  expect(reads()).toBe(1);
  bodies.keep(1, 'f', '12345');
  expect(await bodies.read(one, { eventId: 'f', source })).toBe('12345');
  expect(await bodies.read(one, { eventId: 'e', source })).toBe('of 1');
  expect(reads()).toBe(2);
});

test('an event that has its id again in a later segment has the body of that one', async () => {
  const bodies = new EventBodies(1_000);
  expect(await bodies.read(segment(1).segment, { eventId: 'e', source })).toBe('of 1');
  expect(await bodies.read(segment(9).segment, { eventId: 'e', source })).toBe('of 9');
});
