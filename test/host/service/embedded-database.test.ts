// The journal of an embedded service in PostgreSQL: everything works as with a folder, and the options hold no URL.
import { Type } from 'typebox';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEntity,
  Due,
  type LogEntry,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { balance, ledger, order as transfer, serve } from '../../support/consumers/transfers.ts';
import type { FreshDatabase } from '../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { orderService } from './support/order-service.ts';

const SOON = { timeout: 20_000 };
const Rung = Type.Object({ times: Type.Integer() });

const alarm = defineEntity({
  component: 'alarm',
  state: { manifest: 'alarm', schema: Rung },
  event: { manifest: 'rung', schema: Type.Object({ type: Type.Literal('rung') }) },
  empty: () => ({ times: 0 }),
  apply: ({ times }) => ({ times: times + 1 }),
  commands: {
    ring: { handle: (_state, { persist }) => persist({ type: 'rung' }).thenReply() },
    after: {
      input: Type.Integer(),
      handle: (_state, ms, { setTimer, self }) =>
        setTimer('ring', Due.after(ms), self.ring()).thenReply(),
    },
  },
  queries: { get: { reply: Rung, handle: (state) => state } },
});

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
});

async function newDatabase(): Promise<FreshDatabase> {
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  return database;
}

/** The option that names a database. */
function storedIn({ source }: FreshDatabase) {
  if (source.kind !== 'file') throw new Error('the URL of a test is in a file');
  return { database: { urlFile: source.path } };
}

async function alarms(options: object): Promise<Service> {
  const service = await createService({
    name: 'alarms',
    entities: [alarm],
    http: false,
    log: 'none',
    ...options,
  } as unknown as ServiceOptions);
  onTestFinished(() => service.stop(0));
  return service;
}

const times = async (service: Service, id: string) => {
  const found = await service.call(alarm, id).get();
  return found.isOk ? found.value.times : found;
};

const place = async (service: Service, id: string) => {
  const placed = await service.fetch(`/customers/ada/orders/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ cents: 5 }),
  });
  return (await placed.json()) as readonly unknown[];
};

const failureOf = (options: object) => alarms(options).catch((error: unknown) => error);

test('entities and timers go on after a stop, and a second program is refused meanwhile', async () => {
  const storage = storedIn(await newDatabase());
  const entries: LogEntry[] = [];
  const first = await alarms({ ...storage, log: (entry: LogEntry) => entries.push(entry) });
  await first.call(alarm, 'a').withIdempotencyKey('one').ring();
  await first.call(alarm, 'a').withIdempotencyKey('one').ring();
  await first.call(alarm, 'b').after(1);
  await first.call(alarm, 'c').after(3_000);
  await expect.poll(() => times(first, 'b'), SOON).toBe(1);
  await expect(alarms(storage)).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
  await first.stop();
  const warnings = entries.filter(({ level }) => level === 'warn');
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('has no synchronous standby'),
  ]);

  const second = await alarms(storage);
  expect(await times(second, 'a')).toBe(1);
  expect(await second.readEvents(alarm, 'a')).toHaveLength(1);
  await second.call(alarm, 'a').withIdempotencyKey('one').ring();
  expect(await times(second, 'a')).toBe(1);
  await expect.poll(() => times(second, 'c'), SOON).toBe(1);
});

test('the metrics have the lease and the slices of the program', async () => {
  const service = await alarms({
    ...storedIn(await newDatabase()),
    management: { host: '127.0.0.1', port: 0 },
  });
  const metrics = await (await fetch(`${service.managementUrl!}/svc/metrics`)).text();
  expect(metrics).toContain('\nsvc_cluster_slices 1024\n');
  expect(metrics).toContain('\nsvc_cluster_nodes{status="Joining"} 1\n');
  expect(metrics).toMatch(/^svc_cluster_lease_left_seconds [1-5]/m);
});

test('views have what was stored before a position, also after a restart', async () => {
  const storage = storedIn(await newDatabase());
  const first = await orderService(storage);
  onTestFinished(() => first.service.stop(0));
  const view = () => first.service.view(first.orders, { after: first.service.position() });
  await expect.poll(() => view().all(10), SOON).toMatchObject({ isOk: true });
  expect(await place(first.service, 'o1')).toHaveLength(1);
  expect(await place(first.service, 'o2')).toHaveLength(2);
  await first.service.stop();
  const second = await orderService(storage);
  onTestFinished(() => second.service.stop(0));
  await expect.poll(() => place(second.service, 'o3'), SOON).toHaveLength(3);
});

test('consumers get each event once', async () => {
  const storage = storedIn(await newDatabase());
  const service = await serve([ledger], storage);
  for (let n = 0; n < 20; n++) await transfer(service, `t${n % 5}`, 'a');
  await expect.poll(() => balance(service, 'a'), SOON).toBe(20);
  await transfer(service, 't0', 'b');
  await expect.poll(() => balance(service, 'b'), SOON).toBe(1);
  expect(await balance(service, 'a')).toBe(20);
});

test('services with schemas of their own share a database, and nothing that they store', async () => {
  const database = await newDatabase();
  const inSchema = (schema: string) => ({
    database: { ...storedIn(database).database, schema },
  });
  const [one, other] = [await alarms(inSchema('alarms_1')), await alarms(inSchema('alarms_2'))];
  await expect(alarms(inSchema('alarms_1'))).rejects.toMatchObject({
    code: 'SVC_DATA_IN_USE',
    message: expect.stringContaining('(schema alarms_1)'),
  });
  await one.call(alarm, 'a').withIdempotencyKey('one').ring();
  await one.call(alarm, 'b').after(1);
  await expect.poll(() => times(one, 'b'), SOON).toBe(1);
  expect([await times(other, 'a'), await times(other, 'b')]).toEqual([0, 0]);
  const [transfers, orders] = [
    await serve([ledger], inSchema('transfers')),
    await orderService(inSchema('orders')),
  ];
  onTestFinished(() => orders.service.stop(0));
  await transfer(transfers, 't', 'a', 5);
  await expect.poll(() => balance(transfers, 'a'), SOON).toBe(5);
  expect(await place(orders.service, 'o1')).toHaveLength(1);
  await one.stop();
  const again = await alarms(inSchema('alarms_1'));
  await again.call(alarm, 'a').withIdempotencyKey('one').ring();
  expect(await times(again, 'a')).toBe(1);
  const schemas = await database.sql(
    "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public)' ORDER BY 1",
  );
  expect(schemas.map(({ nspname }) => nspname)).toEqual([
    'alarms_1',
    'alarms_2',
    'orders',
    'transfers',
  ]);
});

describe('the option database', () => {
  const SECRET = 'postgresql://u:never-printed@127.0.0.1/d';
  test('takes the name of a variable, whose value each connection reads', async () => {
    const { url } = await newDatabase();
    process.env['ALARMS_URL'] = url;
    onTestFinished(() => void delete process.env['ALARMS_URL']);
    const service = await alarms({ database: { urlVariable: 'ALARMS_URL' } });
    await service.call(alarm, 'a').ring();
    expect(await times(service, 'a')).toBe(1);
  });

  test.each<[string, unknown]>([
    ['a URL', SECRET],
    ['a URL as an option', { url: SECRET }],
    ['a URL beside a file', { url: SECRET, urlFile: 'f' }],
    ['a file and a variable', { urlFile: 'f', urlVariable: 'V' }],
    ['an empty path', { urlFile: '' }],
    ['an empty name', { urlVariable: '' }],
    ['a number', 5],
    ['null', null],
    ['nothing in it', {}],
    ['a schema alone', { schema: 'one' }],
    ['a schema that is no name', { urlFile: 'f', schema: 'one; DROP SCHEMA svc' }],
    ['a schema of the server', { urlFile: 'f', schema: 'pg_one' }],
    ['a schema with capitals', { urlFile: 'f', schema: 'One' }],
    ['an empty schema', { urlFile: 'f', schema: '' }],
    ['no path of authorities', { urlFile: 'f', authoritiesFile: '' }],
    ['authorities as an object', { urlFile: 'f', authoritiesFile: { url: SECRET } }],
    ['authorities alone', { authoritiesFile: 'f' }],
  ])('is refused with %s', async (_what, database) => {
    const failure = await failureOf({ database });
    expect(failure).toMatchObject({ code: 'SVC_SETTING_INVALID' });
    expect(String(failure)).not.toContain('never-printed');
  });

  test.each<[string, object]>([
    ['a folder', { dataFolder: 'd' }],
    ['memory', { journal: 'memory' }],
  ])('is refused beside %s', async (_what, other) => {
    const failure = await failureOf({ database: { urlFile: 'f' }, ...other });
    expect(failure).toMatchObject({ code: 'SVC_SETTING_INVALID' });
  });

  test('with a URL that is no URL is refused without its text', async () => {
    process.env['ALARMS_URL'] = SECRET.replace('@', '@@');
    onTestFinished(() => void delete process.env['ALARMS_URL']);
    const failure = await failureOf({ database: { urlVariable: 'ALARMS_URL' } });
    expect(failure).toMatchObject({ code: 'SVC_DATABASE_URL_INVALID' });
    expect(String(failure)).not.toContain('never-printed');
  });
});
