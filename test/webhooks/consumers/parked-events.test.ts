// Events that an earlier version has parked.
import { expect, onTestFinished, test, vi } from 'vitest';
import { Type } from 'typebox';
import { createService, defineConsumer, defineEntity, refuse } from '@svc/host';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import { TestJournal, VirtualClock } from '@svc/host/testing';
import { retryParkedEvents } from '../../../webhooks/consumers/parked-events.ts';

const Emitted = Type.Union([Type.Object({ type: Type.Literal('emitted') })]);
const source = defineEntity({
  component: 'source',
  state: { manifest: 'source', schema: Type.Object({}) },
  event: { manifest: 'source-event', schema: Emitted },
  empty: () => ({}),
  apply: (state) => state,
  commands: { emit: { handle: (_state, { persist }) => persist({ type: 'emitted' }).thenReply() } },
});

function consumers(fanOut: (id: string) => 'done' | 'parked') {
  return ['fan-out', 'notice-failures'].map((id) =>
    defineConsumer({
      id,
      start: 'beginning',
      on: [
        {
          entity: source,
          handle: (_event, { entityId, done }) =>
            id !== 'fan-out' || fanOut(entityId) === 'done' ? done() : refuse('a defect'),
        },
      ],
    }),
  );
}

test('events that were parked are handled when their segment is opened', async () => {
  const [journal, clock] = [new TestJournal(), new VirtualClock()];
  const started = async (fanOut: Parameters<typeof consumers>[0]) => {
    const service = await createService({
      name: 'segment',
      entities: [source],
      consumers: consumers(fanOut),
      http: false,
      journal: 'memory',
      log: 'none',
      testing: { clock, journal },
    });
    onTestFinished(() => service.stop());
    return service;
  };
  const parked = new Set<string>();
  const before = await started((id) => (parked.add(id), 'parked'));
  for (const id of ['a', 'b']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await before.call(source, id).emit();
  }
  await clock.until(() => parked.size === 2);
  await clock.advance(1_000);
  await before.stop();

  const handled = new Set<string>();
  const after = await started((id) => (handled.add(id), 'done'));
  await clock.advance(60_000);
  expect(handled.size).toBe(0);
  const logged: string[] = [];
  const log = ({ message }: { readonly message: string }) => void logged.push(message);
  await retryParkedEvents(after, { segment: 1, clock, log });
  await clock.until(() => handled.size === 2);
  expect(logged).toEqual([]);
});

test('that they cannot be handled again is logged, unless the service stops', async () => {
  const logged: string[] = [];
  const log = ({ message }: { readonly message: string }) => void logged.push(message);
  const clock = new VirtualClock();
  const failing = (code: SvcErrorCode) => {
    const change = vi.fn(() => Promise.reject(new SvcError(code, 'Not now.')));
    return { change, ended: retryParkedEvents({ change }, { segment: 1, clock, log }) };
  };
  await failing('SVC_STOPPING').ended;
  expect(logged).toEqual([]);
  await failing('SVC_DISK_FULL').ended;
  expect(logged).toEqual([
    'parked events of deliveries cannot be handled again before the next start',
  ]);
  // Consumers that have not started are given a minute.
  const { change, ended } = failing('SVC_SHARD_UNAVAILABLE');
  await clock.advance(30_500);
  expect(change).toHaveBeenCalledTimes(31);
  expect(logged).toHaveLength(1);
  await clock.advance(30_000);
  await ended;
  expect(logged).toHaveLength(2);
});
