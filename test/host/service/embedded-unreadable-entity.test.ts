// A consumer of an embedded service that calls an entity whose events the program cannot read any more.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineConsumer, defineEntity, type LogEntry } from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ value: Type.Integer() });

/** A counter whose events have a type of their own. */
const counterOf = (eventType: string) =>
  defineEntity({
    component: 'counter',
    state: { manifest: 'count', schema: Count },
    event: {
      manifest: 'counter-event',
      schema: Type.Union([Type.Object({ type: Type.Literal(eventType) })]),
    },
    empty: () => ({ value: 0 }),
    apply: ({ value }) => ({ value: value + 1 }),
    commands: {
      add: {
        input: Type.Null(),
        handle: (_state, _input, { persist }) => persist({ type: eventType }).thenReply(),
      },
    },
    queries: { get: { reply: Count, handle: (state) => state } },
  });

const counter = counterOf('added');
const click = defineEntity({
  component: 'click',
  state: { manifest: 'click-state', schema: Type.Object({}) },
  event: {
    manifest: 'click-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('made'), on: Type.String() })]),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    make: {
      input: Type.String(),
      handle: (_state, on, { persist }) => persist({ type: 'made', on }).thenReply(),
    },
  },
});
const clicks = defineConsumer({
  id: 'clicks',
  start: 'beginning',
  on: [
    {
      entity: click,
      async handle({ on }, { call, done, retry }) {
        const added = await call(counter, on).add(null);
        return added.isOk ? done() : retry(added.message);
      },
    },
  ],
});

test('an event whose call can never succeed is parked after its attempts, and no other entity waits', async () => {
  const stored = { name: 'clicks', dataFolder: temporaryFolder() };
  const formerCounter = counterOf('counted');
  const former = await createService({ ...stored, entities: [formerCounter], log: () => {} });
  onTestFinished(() => former.stop());
  expect((await former.call(formerCounter, 'broken').add(null)).isOk).toBe(true);
  await former.stop();

  const entries: LogEntry[] = [];
  const service = await createService({
    ...stored,
    entities: [counter, click],
    consumers: [clicks],
    settings: {
      'svc.consumers.attempts-max': 3,
      'svc.consumers.retry-pause-ms': 1,
      'svc.consumers.ahead-max': 1,
    },
    log: (entry) => entries.push(entry),
  });
  onTestFinished(() => service.stop());
  await service.call(click, 'bad').make('broken');
  for (let n = 0; n < 10; n++) await service.call(click, `good${n}`).make('whole');
  const whole = async () => service.call(counter, 'whole').get();
  await expect.poll(whole, { timeout: 20_000 }).toMatchObject({ value: { value: 10 } });
  const parked = () => entries.filter(({ message }) => message.includes('are parked'));
  await expect.poll(() => parked().length, { timeout: 20_000 }).toBe(1);
  expect(parked()[0]!.fields).toMatchObject({
    entity: 'bad',
    reason: expect.stringContaining('SVC_EVENT_UNREADABLE') as string,
  });
});
