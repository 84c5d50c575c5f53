// Changes of an embedded service by its program: timers, views that have stopped, and events that are parked.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineConsumer,
  defineEntity,
  defineView,
  Due,
  type Service,
  type ServiceChange,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ count: Type.Integer() });
const ONE = { component: 'job', id: 'one' };
const SOON = { timeout: 20_000 };

/** While it is true, timers, views and consumers of the jobs fail. */
let isBroken = true;

function failWhileBroken(): void {
  if (isBroken) throw new Error('it is broken');
}

const job = defineEntity({
  component: 'job',
  state: { manifest: 'job-state', schema: Count },
  event: {
    manifest: 'job-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('planned') }),
      Type.Object({ type: Type.Literal('done') }),
    ]),
  },
  empty: () => ({ count: 0 }),
  apply: ({ count }, { type }) => ({ count: type === 'done' ? count + 1 : count }),
  commands: {
    plan: {
      input: Type.Integer(),
      handle: (_state, ms, { persist, self }) =>
        persist({ type: 'planned' })
          .thenSetTimer('work', Due.after(ms), self.work(), { attempts: 1 })
          .thenReply(),
    },
    work: {
      handle: (_state, { persist }) => {
        failWhileBroken();
        return persist({ type: 'done' }).thenReply();
      },
    },
  },
  queries: { get: { reply: Count, handle: (state) => state } },
});

const jobs = defineView({
  id: 'jobs',
  version: '1',
  row: Count,
  from: [
    {
      entity: job,
      fold(row, { type }, { put }) {
        if (type === 'planned') failWhileBroken();
        return put({ count: (row?.count ?? 0) + 1 });
      },
    },
  ],
  queries: { all: { where: 'order by key' } },
});

const handled: number[] = [];
const audit = defineConsumer({
  id: 'audit',
  start: 'beginning',
  on: [
    {
      entity: job,
      handle(_event, { seq, done }) {
        failWhileBroken();
        handled.push(seq);
        return done();
      },
    },
  ],
});

async function serve(
  storage: object,
): Promise<{ service: Service; metrics: () => Promise<string> }> {
  isBroken = true;
  handled.length = 0;
  const service = await createService({
    name: 'jobs',
    entities: [job],
    views: [jobs],
    consumers: [audit],
    management: { port: 0 },
    log: 'none',
    ...(storage as { readonly dataFolder: string }),
  });
  onTestFinished(() => service.stop(0));
  const metrics = async () => (await fetch(`${service.managementUrl!}/svc/metrics`)).text();
  return { service, metrics };
}

async function countOf(service: Service): Promise<number> {
  const found = await service.call(job, 'one').get();
  return found.isOk ? found.value.count : NaN;
}

describe.each([
  ['in memory', () => ({ journal: 'memory' as const })],
  ['on disk', () => ({ dataFolder: temporaryFolder() })],
])('a program whose journal is %s', (_place, storage) => {
  test('retries a dead timer, and cancels a pending one', async () => {
    const { service, metrics } = await serve(storage());
    await service.call(job, 'one').plan(0);
    await expect.poll(metrics, SOON).toContain('\nsvc_timers{state="dead"} 1\n');
    isBroken = false;
    const retry: ServiceChange = { kind: 'retry-timer', owner: ONE, name: 'work' };
    expect(await service.change(retry)).toBe(true);
    await expect.poll(() => countOf(service), SOON).toBe(1);
    expect(await service.change(retry)).toBe(false);

    await service.call(job, 'one').plan(3_600_000);
    const cancel: ServiceChange = { kind: 'cancel-timer', owner: ONE, name: 'work' };
    expect([await service.change(cancel), await service.change(cancel)]).toEqual([true, false]);
    expect(await service.change({ ...cancel, owner: null })).toBe(false);
  });

  test('lets a view go on without an event, and builds its rows again', async () => {
    const { service, metrics } = await serve(storage());
    await service.call(job, 'one').plan(3_600_000);
    await expect.poll(metrics, SOON).toContain('\nsvc_view_stopped{view="jobs"} 1\n');
    isBroken = false;
    const skip = { kind: 'skip-in-view', view: 'jobs', entity: ONE, reason: 'known' } as const;
    expect(await service.change({ ...skip, seq: 2 })).toBe(false);
    expect(await service.change({ ...skip, seq: 1 })).toBe(true);
    await service.call(job, 'one').work();
    const rows = async () => {
      const page = await service.view(jobs, { after: service.position() }).all();
      return page.isOk ? page.value.rows : page;
    };
    await expect.poll(rows, SOON).toEqual([{ count: 1 }]);
    expect(await service.change({ kind: 'rebuild-view', view: 'jobs' })).toBe(true);
    await expect.poll(() => rows().catch(() => []), SOON).toEqual([{ count: 1 }]);
    expect(await service.change({ kind: 'rebuild-view', view: 'none' })).toBe(false);
  });

  test('has a parked event handled again, and skips another', async () => {
    const { service, metrics } = await serve(storage());
    const parked = '\nsvc_consumer_lanes{consumer="audit",state="parked"} 1\n';
    await service.call(job, 'one').plan(3_600_000);
    await expect.poll(metrics, SOON).toContain(parked);
    expect(service.counts()).toMatchObject({
      consumers: { audit: { parked: 1, retrying: 0, isStalled: false } },
      views: { jobs: { state: 'stopped', lagRecords: 1 } },
    });
    isBroken = false;
    const retry: ServiceChange = { kind: 'retry-lane', consumer: 'audit', entity: ONE };
    expect(await service.change(retry)).toBe(true);
    await expect.poll(() => handled, SOON).toEqual([1]);
    expect(await service.change(retry)).toBe(false);

    isBroken = true;
    await service.call(job, 'one').plan(3_600_000);
    await expect.poll(metrics, SOON).toContain(parked);
    isBroken = false;
    const skip = { kind: 'skip-in-lane', consumer: 'audit', entity: ONE, reason: 'known' } as const;
    expect(await service.change({ ...skip, seq: 1 })).toBe(false);
    expect(await service.change({ ...skip, seq: 2 })).toBe(true);
    await service.call(job, 'one').plan(3_600_000);
    await expect.poll(() => handled, SOON).toEqual([1, 3]);
    expect(await service.change({ ...retry, consumer: 'none' })).toBe(false);
  });
});

test('a change that is not one, and one after the stop, changes nothing', async () => {
  const { service } = await serve({ journal: 'memory' });
  const untyped = (change: unknown) => service.change(change as ServiceChange);
  await expect(untyped({ kind: 'drop' })).rejects.toThrow("There is no change of the kind 'drop'.");
  await expect(untyped({ kind: 'rebuild-view' })).rejects.toThrow("The member 'view' has to be");
  const skip = { kind: 'skip-in-lane', consumer: 'audit', entity: ONE, seq: 1 };
  await expect(untyped({ ...skip, reason: 'x'.repeat(1_001) })).rejects.toThrow("member 'reason'");
  await expect(untyped({ ...skip, reason: 'x', seq: 0 })).rejects.toThrow("member 'seq'");
  await service.stop(0);
  expect(service.counts().views).toEqual({});
  const rebuild = service.change({ kind: 'rebuild-view', view: 'jobs' });
  await expect(rebuild).rejects.toMatchObject({ code: 'SVC_STOPPING' });
});
