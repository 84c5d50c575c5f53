// The stop of an embedded service ends within its grace, whatever keeps it, and leaves nothing behind.
import { setTimeout as after } from 'node:timers/promises';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  callOf,
  createService,
  defineEndpoint,
  defineEntity,
  Due,
  get,
  post,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ value: Type.Integer() });
const EVENTS = 400;

/** A counter that counts how many events were applied, and computes for a while in each. */
function counting(applyMs: number) {
  let applied = 0;
  const entity = defineEntity({
    component: 'counter',
    state: { manifest: 'count', schema: Count },
    event: {
      manifest: 'counter-event',
      schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
    },
    empty: () => ({ value: 0 }),
    apply({ value }) {
      applied += 1;
      const endMs = performance.now() + applyMs;
      while (performance.now() < endMs);
      return { value: value + 1 };
    },
    commands: {
      add: {
        reply: Count,
        handle: (_state, context) => context.persist({ type: 'added' }).thenReplyState(),
      },
    },
    queries: { get: { reply: Count, handle: (state) => state } },
  });
  return { entity, applied: () => applied };
}

async function start(options: object) {
  const service = await createService({
    name: 'counters',
    log: 'none',
    observability: { local: false },
    ...options,
  } as ServiceOptions);
  onTestFinished(() => service.stop(0));
  return service;
}

/** Returns a data folder with a counter of so many events. */
async function longHistory(): Promise<string> {
  const dataFolder = temporaryFolder();
  const { entity: fast } = counting(0);
  const before = await start({ dataFolder, entities: [fast] });
  const client = before.call(fast, 'a');
  await Promise.all(Array.from({ length: EVENTS }, () => client.add()));
  await before.stop();
  return dataFolder;
}

const notes = defineEndpoint({
  prefix: '/notes',
  access: 'internet',
  routes: { write: post('/it', { body: Type.String(), reply: 'text' }, ({ body }) => body) },
});

/** Sends a request whose body never ends until `end` is called. Resolves with the answer or the error. */
function neverEnding(service: Service) {
  const { readable: body, writable } = new TransformStream();
  const headers = { 'content-type': 'application/json' };
  const answer = service.fetch('/notes/it', { method: 'POST', headers, body, duplex: 'half' });
  return { answer: answer.catch((error: unknown) => error), end: () => writable.close() };
}

/** A service over a folder with a counter of so many events, each of which takes a millisecond to apply. */
async function slowService() {
  const dataFolder = await longHistory();
  const { entity, applied } = counting(1);
  const service = await start({ dataFolder, entities: [entity] });
  return { service, dataFolder, client: service.call(entity, 'a'), entity, applied };
}

describe('a stop whose grace is over', () => {
  test('checks no state that leaves memory against its events', async () => {
    const { service, client, applied } = await slowService();
    expect(await client.get()).toMatchObject({ value: { value: EVENTS } });
    expect(applied()).toBe(EVENTS);
    await service.stop(0);
    expect(applied()).toBe(EVENTS);
  });

  test('gives up the check in the middle', async () => {
    const { service, client, applied } = await slowService();
    await client.get();
    await service.stop(50);
    expect(applied()).toBeLessThan(2 * EVENTS);
  });

  test('fails a call whose entity is still folded, and frees the folder', async () => {
    const { service, dataFolder, client, applied, entity } = await slowService();
    const call = client.get();
    const outcome = call.catch((error: unknown) => error);
    await service.stop(0);
    expect(await outcome).toMatchObject({ code: 'SVC_STOPPING' });
    expect(applied()).toBeLessThan(EVENTS);
    await start({ dataFolder, entities: [entity] });
  });

  test('is over for firings when it is over for requests', async () => {
    const dataFolder = await longHistory();
    const { entity, applied } = counting(5);
    const starter = defineEntity({
      component: 'starter',
      state: { manifest: 'none', schema: Count },
      event: {
        manifest: 'none-event',
        schema: Type.Union([Type.Object({ type: Type.Literal('none') })]),
      },
      empty: () => ({ value: 0 }),
      apply: (state) => state,
      commands: {
        addLater: {
          handle: (_state, { setTimer }) =>
            setTimer('add', Due.after(0), callOf(entity, 'a').add()).thenReply(),
        },
      },
      queries: { get: { reply: Count, handle: (state) => state } },
    });
    const service = await start({
      dataFolder,
      entities: [entity, starter],
      endpoints: [notes],
      http: false,
    });
    const { answer, end } = neverEnding(service);
    await (service.call(starter, 'x') as unknown as { addLater(): Promise<unknown> }).addLater();
    await expect.poll(applied, { interval: 1 }).toBeGreaterThan(0);
    await service.stop(1_200);
    await end();
    expect(await answer).toMatchObject({ code: 'SVC_STOPPING' });
    // The events take two seconds, so a second grace would be enough for the rest of them.
    expect(applied()).toBeLessThan(EVENTS);
  });

  test('does not wait for a request whose body never ends', async () => {
    const { entity } = counting(0);
    const service = await start({
      journal: 'memory',
      entities: [entity],
      endpoints: [notes],
      http: false,
    });
    const { answer, end } = neverEnding(service);
    await service.stop(0);
    await end();
    expect(await answer).toMatchObject({ code: 'SVC_STOPPING' });
  });
});

describe('a stop with time', () => {
  test('makes the check', async () => {
    const { service, client, applied } = await slowService();
    await client.get();
    await service.stop();
    expect(applied()).toBe(2 * EVENTS);
  });

  test('answers the calls whose entities are folded', async () => {
    const { service, client } = await slowService();
    const call = client.get();
    await service.stop();
    expect(await call).toMatchObject({ value: { value: EVENTS } });
  });

  test.each([Infinity, 1e12])('of %d ms cuts nothing', async (graceMs) => {
    const arrived = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const endpoint = defineEndpoint({
      prefix: '/slow',
      access: 'internet',
      routes: {
        read: get('/it', { reply: 'text' }, async () => {
          arrived.resolve();
          await held.promise;
          return 'late';
        }),
      },
    });
    const service = await start({
      journal: 'memory',
      entities: [],
      endpoints: [endpoint],
      http: false,
    });
    const answer = service.fetch('/slow/it');
    await arrived.promise;
    const stopped = service.stop(graceMs);
    // A timer that cannot be set is over after a millisecond, and so before this one.
    await after(5);
    held.resolve();
    expect(await (await answer).text()).toBe('late');
    await stopped;
  });
});

test.each([{ journal: 'memory' }, {}])(
  'after a stop everything fails with SVC_STOPPING: %j',
  async (options) => {
    const { entity } = counting(0);
    const dataFolder = 'journal' in options ? undefined : temporaryFolder();
    const service = await start({ ...options, dataFolder, entities: [entity] });
    const client = service.call(entity, 'a');
    await client.add();
    await service.stop();
    const calls = [
      client.add(),
      client.get(),
      client.events(),
      service.readEvents(entity, 'a'),
      service.fetch('/'),
    ];
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SVC_STOPPING' } });
  },
);
