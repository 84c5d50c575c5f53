// An embedded service with the time and the random numbers of a test. No test waits for real time.
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineConsumer,
  type RecordedEvent,
  type ServiceOptions,
} from '../../../host/embed.ts';
import {
  checkEnvironmentOptions,
  type EnvironmentOptions,
} from '../../../host/service/environment-options.ts';
import { SeededRandom, type TestingOptions, VirtualClock } from '../../../host/testing.ts';
import {
  begin,
  reminder,
  type Reminders,
  reminders,
  remindersView,
  tally,
} from '../../support/reminders.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2030, 0, 1);

async function started(
  testing: TestingOptions,
  options?: Partial<ServiceOptions>,
): Promise<Reminders> {
  const it = await reminders(testing, options);
  onTestFinished(() => it.service.stop(0));
  return it;
}

const timesOf = async ({ service }: Reminders, id: string) => {
  const found = await service.call(reminder, id).get();
  return found.isOk ? found.value.times : undefined;
};
const countOf = async ({ service }: Reminders) => {
  const found = await service.call(tally, 'all').get();
  return found.isOk ? found.value : undefined;
};

describe.each([
  ['in memory', () => ({ journal: 'memory' as const })],
  ['in a folder', () => ({ dataFolder: temporaryFolder(), observability: { local: false } })],
])('a service with a journal %s', (_place, storage) => {
  test(
    'runs timers, consumers and views at the times of the clock, to the millisecond',
    { timeout: 30_000 },
    async () => {
      const clock = new VirtualClock(START_MS);
      const it = await started({ clock, random: new SeededRandom(7n) }, storage());
      expect(await begin(it, 'tea', MINUTE_MS)).toBe(204);
      await clock.advance(MINUTE_MS - 1);
      expect(await timesOf(it, 'tea')).toBe(0);
      await clock.advance(1);
      expect(await timesOf(it, 'tea')).toBe(1);
      await clock.advance(MINUTE_MS);
      // The consumer has asked to get the third event again after a minute, and the fourth waits behind it.
      expect(await countOf(it)).toBe(2);
      await clock.advance(MINUTE_MS);
      expect(await countOf(it)).toBe(4);
      await clock.advance(7 * MINUTE_MS);
      const events = await it.service.readEvents(reminder, 'tea');
      expect(events.map(({ timeMs }) => timeMs)).toEqual(
        Array.from({ length: 11 }, (_, index) => START_MS + index * MINUTE_MS),
      );
      expect(await it.service.view(remindersView).all()).toMatchObject({
        value: { rows: [{ times: 10, lastMs: START_MS + 10 * MINUTE_MS }] },
      });
    },
  );
});

test('a day takes little real time', { timeout: 30_000 }, async () => {
  const clock = new VirtualClock(START_MS);
  const it = await started({ clock, random: new SeededRandom(7n) });
  await begin(it, 'tea', HOUR_MS);
  await clock.advance(DAY_MS);
  expect([await timesOf(it, 'tea'), await countOf(it)]).toEqual([24, 25]);
});

/** Runs reminders with a seed. Returns all of their events. */
async function eventsOf(seed: bigint): Promise<readonly RecordedEvent<unknown>[]> {
  const clock = new VirtualClock(START_MS);
  const it = await started({ clock, random: new SeededRandom(seed) });
  await Promise.all(
    Array.from({ length: 10 }, (_, index) => begin(it, `r${index}`, MINUTE_MS + index)),
  );
  await clock.advance(10 * MINUTE_MS);
  const { service } = it;
  return [
    ...(await service.readEvents(reminder, 'r3')),
    ...(await service.readEvents(tally, 'all')),
  ];
}

describe('what a service stores', () => {
  test('is the same for the same seed, and not for another', async () => {
    const events = await eventsOf(1n);
    expect(events.length).toBeGreaterThan(100);
    expect(await eventsOf(1n)).toEqual(events);
    expect(await eventsOf(2n)).not.toEqual(events);
  });
});

test('a timer is due by the wall clock, whichever way it is set', async () => {
  const clock = new VirtualClock(START_MS);
  const it = await started({ clock });
  await begin(it, 'tea', HOUR_MS);
  clock.set(-DAY_MS);
  await clock.advance(2 * HOUR_MS);
  expect(await timesOf(it, 'tea')).toBe(0);
  clock.set(DAY_MS);
  // The service looks at its timers once a second.
  await clock.advance(1_000);
  expect(await timesOf(it, 'tea')).toBe(1);
});

test('a reply to an idempotency key is forgotten by the clock', async () => {
  const clock = new VirtualClock(START_MS);
  const settings = { 'svc.engine.idempotency-retention-ms': HOUR_MS };
  const { service } = await started({ clock }, { journal: 'memory', settings });
  const count = async () => service.call(tally, 'all').withIdempotencyKey('k').count();
  await count();
  await clock.advance(HOUR_MS - 1);
  await count();
  expect(await service.readEvents(tally, 'all')).toHaveLength(1);
  await clock.advance(2);
  await count();
  expect(await service.readEvents(tally, 'all')).toHaveLength(2);
});

test('a consumer that never answers has its time by the clock', async () => {
  const clock = new VirtualClock(START_MS);
  let attempts = 0;
  const stuck = defineConsumer({
    id: 'stuck',
    start: 'beginning',
    on: [
      {
        entity: tally,
        async handle(_event, { done }) {
          attempts++;
          return attempts > 1 ? done() : new Promise(() => {});
        },
      },
    ],
  });
  const settings = { 'svc.consumers.answer-timeout-ms': HOUR_MS };
  const options = { journal: 'memory' as const, consumers: [stuck], settings };
  const { service } = await started({ clock }, options);
  await service.call(tally, 'all').count();
  await clock.advance(HOUR_MS - 1);
  expect(attempts).toBe(1);
  await clock.advance(HOUR_MS);
  expect(attempts).toBe(2);
});

test('the log says that a service is one of a test, and only then', async () => {
  const it = await started({ clock: new VirtualClock(), random: new SeededRandom(1n) });
  expect(it.logged[0]).toMatchObject({
    level: 'warn',
    message: expect.stringContaining('is for a test'),
    fields: { testing: 'clock random' },
  });
  const real = await started(undefined as unknown as TestingOptions);
  expect(real.logged.map(({ level }) => level)).not.toContain('warn');
});

test.each([
  [{ time: {} }, 'testing takes clock, random, journal, and found time'],
  [{ clock: { nowMs: () => 0 } }, 'testing.clock takes an object with nowMs, monotonicMs, after'],
  [{ random: Math.random }, 'testing.random takes an object with next64, and found none'],
])('testing: %o is refused', async (testing, problem) => {
  const serving = createService({ name: 'x', journal: 'memory', testing } as ServiceOptions);
  await expect(serving).rejects.toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringContaining(problem),
  });
});

test('a service whose settings come from the environment has no time of a test', () => {
  const options = { name: 'x', deployed: 'environment', testing: { clock: new VirtualClock() } };
  expect(() => checkEnvironmentOptions(options as unknown as EnvironmentOptions)).toThrow(
    'The option testing is for tests',
  );
});
