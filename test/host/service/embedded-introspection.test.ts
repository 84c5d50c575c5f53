// The introspection of an embedded service: its registration and observability endpoint, its management server, its
// spans at a receiver of OTLP, and the program that its journal notes.
import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEndpoint,
  defineEntity,
  get,
  type LogEntry,
  post,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { filesIn } from '../../support/observed-process.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ value: Type.Integer() });
const Add = Type.Object({ amount: Type.Integer() });

const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'count', schema: Count },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added'), amount: Type.Integer() })]),
  },
  empty: () => ({ value: 0 }),
  apply: ({ value }, { amount }) => ({ value: value + amount }),
  commands: {
    add: {
      input: Add,
      reply: Count,
      handle(_state, { amount }, context) {
        if (amount === 13) throw new Error('thirteen is too much');
        return context.persist({ type: 'added', amount }).thenReplyState();
      },
    },
  },
  queries: { get: { reply: Count, handle: (state) => state } },
});

const endpoint = defineEndpoint({
  prefix: '/counters',
  access: 'internet',
  routes: {
    read: get('/{id}', { reply: Count }, ({ parameters }, { call }) =>
      call(counter, parameters.id).get(),
    ),
    add: post('/{id}', { body: Add, reply: Count }, ({ parameters, body }, { call }) =>
      call(counter, parameters.id).add(body),
    ),
  },
});

async function start(options: Partial<ServiceOptions> = {}) {
  const folder = temporaryFolder();
  const running = join(folder, 'running');
  const log: LogEntry[] = [];
  const service = await createService({
    name: 'counters',
    entities: [counter],
    endpoints: [endpoint],
    http: { port: 0 },
    dataFolder: join(folder, 'data'),
    log: (entry) => log.push(entry),
    ...options,
    observability: { runningFolder: running, ...options.observability },
  } as ServiceOptions);
  onTestFinished(() => service.stop(0));
  const add = async (id: string, amount: number) =>
    service.fetch(`/counters/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount }),
    });
  return { service, folder, running, log, add };
}

function addressIn(running: string, file = filesIn(running)[0]!): string {
  const { observabilityAddress } = JSON.parse(readFileSync(join(running, file), 'utf8')) as {
    readonly observabilityAddress: string;
  };
  return observabilityAddress;
}

const shown = async (running: string, path: string) =>
  (await fetch(`${addressIn(running)}/observability/${path}`)).json();

describe('the observability endpoint of an embedded service', () => {
  test('shows its routes and components, and is registered until the service stops', async () => {
    const { service, running } = await start();
    expect(filesIn(running)).toEqual([`${process.pid}.json`]);
    expect(await shown(running, 'service')).toMatchObject({
      name: 'counters',
      instances: [{ address: service.url, shards: 1 }],
      components: [{ component: 'counter' }],
      routes: [{ path: '/counters/{id}' }, { path: '/counters/{id}' }],
    });
    await service.stop();
    expect(filesIn(running)).toEqual([]);
  });

  test('shows the traces of requests with and without a socket, and the fault of a handler', async () => {
    const { service, running, add } = await start();
    await add('a', 1);
    await fetch(`${service.url}/counters/a`);
    expect((await add('a', 13)).status).toBe(500);
    const { traces } = (await shown(running, 'traces')) as { traces: { name: string }[] };
    expect(traces.map(({ name }) => name).toSorted()).toEqual([
      'GET /counters/{id}',
      'POST /counters/{id}',
      'POST /counters/{id}',
    ]);
    const { faults } = (await shown(running, 'faults')) as { faults: { component: string }[] };
    expect(faults).toContainEqual(
      expect.objectContaining({ component: 'counter', handler: 'add', entityId: 'a' }),
    );
  });

  test('answers queries, and reads the histories of entities from the journal', async () => {
    const { running, add } = await start();
    await add('a', 1);
    await add('a', 2);
    expect(await shown(running, 'query/counter/a/get')).toEqual({ value: 3 });
    expect(await shown(running, 'entities/counter')).toMatchObject({
      entities: [{ id: 'a', events: 2 }],
    });
    expect(await shown(running, 'entities/counter/a/history')).toMatchObject({
      component: 'counter',
      id: 'a',
      total: 2,
      steps: [{ seq: 1 }, { seq: 2, changes: [{ path: '$.value', before: '1', after: '3' }] }],
    });
  });

  test('of the second service of a process is registered beside the first', async () => {
    const first = await start();
    const second = await start({
      name: 'others',
      observability: { runningFolder: first.running },
    });
    const files = filesIn(first.running).toSorted();
    expect(files).toEqual([
      expect.stringMatching(/^\d+-[0-9a-f]{16}\.json$/),
      `${process.pid}.json`,
    ]);
    const response = await fetch(`${addressIn(first.running, files[0])}/observability/service`);
    expect(await response.json()).toMatchObject({ name: 'others' });
    await first.service.stop();
    expect(filesIn(first.running)).toEqual([files[0]]);
    await second.service.stop();
    expect(filesIn(first.running)).toEqual([]);
  });

  test.each([
    { deployed: true, http: { host: '127.0.0.1', port: 0 } },
    { journal: 'memory', dataFolder: undefined },
    { observability: { local: false } },
  ] as const)('is not there with %j', async (options) => {
    const { running } = await start(options);
    expect(filesIn(running)).toEqual([]);
  });

  test('of a journal in memory shows everything but what is stored', async () => {
    const { running } = await start({
      journal: 'memory',
      dataFolder: undefined,
      observability: { local: true },
    } as unknown as Partial<ServiceOptions>);
    expect(await shown(running, 'service')).toMatchObject({ name: 'counters' });
    expect(await shown(running, 'entities/counter')).toMatchObject({
      status: 404,
      error: expect.stringContaining('dataFolder'),
    });
  });
});

describe('the management server of an embedded service', () => {
  test('answers readiness and metrics, and is gone once the service has stopped', async () => {
    const { service, log, add } = await start({ management: { port: 0 } });
    await add('a', 1);
    const url = service.managementUrl!;
    expect(log).toContainEqual(
      expect.objectContaining({
        message: 'management listening',
        fields: { host: '127.0.0.1', port: Number(new URL(url).port) },
      }),
    );
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ ready: true });
    const metrics = await (await fetch(`${url}/svc/metrics`)).text();
    expect(metrics).toContain('svc_invocations_total');
    expect(metrics).toMatch(/^svc_http_requests_total\{.*status="200"\} 1$/m);
    expect(metrics).toMatch(/^svc_journal_events_total 1$/m);
    await service.stop();
    await expect(fetch(`${url}/ready`)).rejects.toThrow('fetch failed');
  });

  test('is not there unless it is asked for', async () => {
    const { service } = await start({ deployed: true, http: { host: '127.0.0.1', port: 0 } });
    expect(service.managementUrl).toBeUndefined();
  });

  test('is not there with false, and nothing but an object asks for it', async () => {
    const { service } = await start({ management: false });
    expect(service.managementUrl).toBeUndefined();
    await expect(start({ management: true } as never)).rejects.toMatchObject({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining('The option management takes an object'),
    });
  });

  test('that cannot listen fails the service before anything is touched on disk', async () => {
    const { service, folder } = await start({ management: { port: 0 } });
    const taken = { management: { port: Number(new URL(service.managementUrl!).port) } };
    const dataFolder = join(folder, 'other');
    await expect(start({ ...taken, dataFolder })).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: expect.stringMatching(/choose another port with the option management\.port\.$/),
    });
    const settingNames = { management: { host: 'OPS_HOST', port: 'OPS_PORT' } };
    await expect(start({ ...taken, dataFolder, settingNames })).rejects.toThrow(
      /choose another port with OPS_PORT\.$/,
    );
    expect(existsSync(dataFolder)).toBe(false);
    await start({ dataFolder });
  });
});

test('spans of an embedded service are exported, the last ones at its stop', async () => {
  const receiver = await otlpReceiver();
  const otlp = { endpoint: receiver.url, headers: { authorization: 'Bearer words' } };
  const { service, add } = await start({ observability: { local: false, otlp } });
  await add('a', 1);
  await service.stop();
  const names = receiver.spans().map(({ name }) => name);
  expect(names.toSorted()).toEqual(['POST /counters/{id}', 'counter.add']);
});

test.each([
  [{ endpoint: 'localhost:4318' }, 'The option observability.otlp.endpoint takes an address'],
  [
    { endpoint: 'http://127.0.0.1:4318', headers: { 'a\nb': 'c' } },
    'the option observability.otlp.headers',
  ],
])(
  'the receiver of OTLP %j is refused by its name, and leaves the folder free',
  async (otlp, name) => {
    const dataFolder = temporaryFolder();
    await expect(start({ dataFolder, observability: { otlp } })).rejects.toMatchObject({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining(name),
    });
    await start({ dataFolder });
  },
);

test('a journal notes the program that writes it, and another one when its version changes', async () => {
  const { service, folder } = await start({ version: '1' });
  await service.stop();
  const dataFolder = join(folder, 'data');
  await (await start({ dataFolder, version: '1' })).service.stop();
  await (await start({ dataFolder, version: '2' })).service.stop();
  const database = new DatabaseSync(journalPath(dataFolder), { readOnly: true });
  const rows = database.prepare('SELECT fingerprint, descriptor FROM module').all() as {
    readonly fingerprint: string;
    readonly descriptor: string;
  }[];
  database.close();
  expect(new Set(rows.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  expect(rows).toHaveLength(2);
  expect(JSON.parse(rows[0]!.descriptor)).toMatchObject({ entities: [{ component: 'counter' }] });
});
