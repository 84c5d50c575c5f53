// Timers of an embedded service: they are fired by the runtime, with the clock of the machine and a journal on disk. The tests
// wait for times that come, so they run at once.
import { Type } from 'typebox';
import { afterAll, describe, test } from 'vitest';
import {
  callOf,
  createService,
  defineEntity,
  Due,
  type LogEntry,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { orDatabase, storages } from '../../support/postgres/journal-tier.ts';
import { temporaryFoldersOfFile } from '../../support/temporary-folder.ts';

const Alarm = Type.Object({ rung: Type.Integer() });

const alarm = defineEntity({
  component: 'alarm',
  state: { manifest: 'alarm-state', schema: Alarm },
  event: {
    manifest: 'alarm-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('set') }),
      Type.Object({ type: Type.Literal('rung') }),
    ]),
  },
  empty: () => ({ rung: 0 }),
  apply: (state, { type }) => (type === 'rung' ? { rung: state.rung + 1 } : state),
  commands: {
    after: {
      input: Type.Integer(),
      handle: (_state, ms, { persist, self }) =>
        persist({ type: 'set' }).thenSetTimer('ring', Due.after(ms), self.ring()).thenReply(),
    },
    cancel: { handle: (_state, { cancelTimer }) => cancelTimer('ring').thenReply() },
    ring: { handle: (_state, { persist }) => persist({ type: 'rung' }).thenReply() },
    refuse: { handle: (_state, { refuse }) => refuse('no') },
    fail: {
      handle: () => {
        throw new Error('it always fails');
      },
    },
    failLater: {
      handle: (_state, { setTimer, self }) =>
        setTimer('fail', Due.after(0), self.fail(), { attempts: 1 }).thenReply(),
    },
  },
  queries: { get: { reply: Alarm, handle: (state) => state } },
});

const ownFolder = temporaryFoldersOfFile();
const ownStorage = () => orDatabase(() => ({ dataFolder: ownFolder() }));
const services: Service[] = [];
afterAll(() => Promise.all(services.map((service) => service.stop())));

async function serve(options: Partial<ServiceOptions> = {}): Promise<Service> {
  const where =
    'dataFolder' in options || 'database' in options
      ? {}
      : await orDatabase(() => ({ journal: 'memory' as const }));
  const service = await createService({
    name: 'alarms',
    entities: [alarm],
    log: () => {},
    ...where,
    ...options,
  });
  services.push(service);
  return service;
}

async function rungOf(service: Service, id: string): Promise<number> {
  const found = await service.call(alarm, id).get();
  return found.isOk ? found.value.rung : -1;
}

describe.concurrent.each(storages(() => ({ dataFolder: ownFolder() })))(
  'a timer %s',
  (_place, options) => {
    test('sends its command once it is due, and once only', async ({ expect }) => {
      const service = await serve(await options());
      await service.call(alarm, 'a').after(20);
      await expect.poll(() => rungOf(service, 'a')).toBe(1);
      // A timer that is set later has been fired, so the first would have been fired again by now.
      await service.call(alarm, 'b').after(50);
      await expect.poll(() => rungOf(service, 'b')).toBe(1);
      expect(await rungOf(service, 'a')).toBe(1);
    });

    test('is not fired after it was cancelled', async ({ expect }) => {
      const service = await serve(await options());
      // On a slow machine a timer may be fired before it is cancelled, and the next one is taken.
      let id: string;
      let dueMs: number;
      let attempt = 0;
      do {
        id = `a${attempt++}`;
        dueMs = Date.now() + 300;
        await service.call(alarm, id).after(300);
        await service.call(alarm, id).cancel();
      } while (Date.now() >= dueMs);
      await service.call(alarm, 'b').after(300);
      await expect.poll(() => rungOf(service, 'b'), { timeout: 10_000 }).toBe(1);
      expect(await rungOf(service, id)).toBe(0);
    });

    test('is counted for the metrics, also when it is dead', async ({ expect }) => {
      const service = await serve({ ...(await options()), management: { port: 0 } });
      const metrics = async () => (await fetch(`${service.managementUrl!}/svc/metrics`)).text();
      expect(await metrics()).toContain('\nsvc_timers{state="pending"} 0\n');
      for (const id of ['a', 'b']) await service.call(alarm, id).after(3_600_000);
      await service.call(alarm, 'c').failLater();
      const counts = '\nsvc_timers{state="pending"} 2\nsvc_timers{state="dead"} 1\n';
      // The pause between two counts is a hundred times as long as a count.
      await expect.poll(metrics, { timeout: 100_000 }).toContain(counts);
      const after = await metrics();
      expect(after).toContain('\nsvc_timers_overdue_seconds 0\n');
      expect(after).toContain('\nsvc_timer_firings_total{outcome="dead"} 1\n');
      expect(after).toContain('\nsvc_timer_firings_total{outcome="replied"} 0\n');
      expect(after).toContain('\nsvc_invocations_ended_total{kind="firing",outcome="Failed"} 1\n');
    });

    test('of the service recurs', async ({ expect }) => {
      const given = await options();
      const schedules = [{ id: 'tick', due: Due.every(1_000), call: callOf(alarm, 's').ring() }];
      const service = await serve({ ...given, schedules });
      await expect.poll(() => rungOf(service, 's'), { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    });
  },
);

test.concurrent('a schedule of the service is removed with its declaration', async ({ expect }) => {
  const storage = await ownStorage();
  const schedules = [{ id: 'tick', due: Due.every(1_000), call: callOf(alarm, 's').ring() }];
  const first = await serve({ ...storage, schedules });
  await expect.poll(() => rungOf(first, 's'), { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
  await first.stop();
  const second = await serve(storage);
  const rung = await rungOf(second, 's');
  await second.call(alarm, 'later').after(1_500);
  await expect.poll(() => rungOf(second, 'later'), { timeout: 10_000 }).toBe(1);
  expect(await rungOf(second, 's')).toBe(rung);
});

test.concurrent('a timer that became due while the service was stopped is fired when it starts', async ({
  expect,
}) => {
  const storage = await ownStorage();
  const first = await serve(storage);
  await first.call(alarm, 'a').after(100);
  await first.stop();
  await new Promise((resolve) => {
    setTimeout(resolve, 150);
  });
  const second = await serve(storage);
  await expect.poll(() => rungOf(second, 'a')).toBe(1);
});

test.concurrent('a command that fails as often as it may is not sent again, and is logged', async ({
  expect,
}) => {
  const entries: LogEntry[] = [];
  const service = await serve({ log: (entry) => entries.push(entry) });
  await service.call(alarm, 'a').failLater();
  await expect
    .poll(() => entries.some(({ fields }) => JSON.stringify(fields).includes('it always fails')))
    .toBe(true);
  // The first retry would come within a second.
  await service.call(alarm, 'b').after(1_500);
  await expect.poll(() => rungOf(service, 'b'), { timeout: 10_000 }).toBe(1);
  expect(
    entries.filter(
      ({ message, fields }) =>
        message !== 'the timer is dead' && JSON.stringify(fields).includes('it always fails'),
    ),
  ).toHaveLength(1);
  expect(entries.filter(({ message }) => message === 'the timer is dead')).toEqual([
    {
      level: 'warn',
      message: 'the timer is dead',
      fields: {
        owner: 'alarm/a',
        name: expect.any(String),
        target: 'alarm/a',
        command: expect.any(String),
        attempts: 1,
        reason: expect.stringContaining('it always fails'),
        hint: expect.stringContaining('svc timers retry'),
      },
    },
  ]);
});
