// An embedded service: HTTP and calls, contained faults, settings, journal and stop.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineEndpoint,
  defineEntity,
  get,
  GuestFault,
  type LogEntry,
  type Metric,
  post,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ value: Type.Integer() });
const Add = Type.Object({ amount: Type.Integer({ maximum: 100 }) });

const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'count', schema: Count },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added'), amount: Type.Integer() })]),
  },
  empty: () => ({ value: 0 }),
  apply(state, { amount }) {
    if (amount === 13) throw new Error('a bad fold');
    return { value: state.value + amount };
  },
  commands: {
    add: {
      input: Add,
      reply: Count,
      handle: ({ value }, { amount }, context) =>
        context.persist({ type: 'added', amount }).thenReply({ value: value + amount }),
    },
    fail: {
      handle: () => {
        throw new Error('a secret');
      },
    },
  },
  queries: {
    get: { reply: Count, handle: (state) => state },
    spoil: {
      reply: Count,
      handle: (state) => {
        (state as { value: number }).value++;
        return state;
      },
    },
  },
});

const endpoint = defineEndpoint({
  prefix: '/counters',
  access: 'internet',
  routes: {
    get: get('/{id}', { reply: Count }, ({ parameters: { id } }, { call }) =>
      call(counter, id).get(),
    ),
    add: post('/{id}', { body: Add, reply: Count }, ({ parameters: { id }, body }, { call }) =>
      call(counter, id).add(body),
    ),
    fail: post('/{id}/fail', {}, ({ parameters: { id } }, { call }) => call(counter, id).fail()),
    addOnce: post(
      '/{id}/once/{key}',
      { body: Add, reply: Count },
      ({ parameters: { id, key }, body }, { call }) =>
        call(counter, id).withIdempotencyKey(key).add(body),
    ),
    caller: get('/caller', { reply: 'text' }, ({ caller }) => caller),
  },
});

interface Started {
  readonly service: Service;
  readonly logged: LogEntry[];
}

async function start(
  options: Partial<Omit<ServiceOptions, 'dataFolder' | 'database' | 'journal'>> & {
    dataFolder?: string;
  } = {},
): Promise<Started> {
  const { dataFolder, ...others } = options;
  const logged: LogEntry[] = [];
  const service = await createService({
    observability: { local: false },
    name: 'counters',
    entities: [counter],
    endpoints: [endpoint],
    http: { port: 0 },
    log: (entry) => logged.push(entry),
    ...others,
    ...(dataFolder === undefined ? { journal: 'memory' } : { dataFolder }),
  });
  onTestFinished(() => service.stop(0));
  return { service, logged };
}

const send = async (url: string, body?: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const callerOf = async ({ service }: Started) =>
  (await fetch(`${service.url}/counters/caller`)).text();

function gauge(name: string): Metric {
  return { name, type: 'gauge', help: 'A gauge.', read: () => 1 };
}

describe('a service', () => {
  test('answers over HTTP and to its program, from one journal', async () => {
    const { service } = await start();
    const added = await send(`${service.url}/counters/a`, { amount: 5 });
    expect([added.status, await added.json()]).toEqual([200, { value: 5 }]);
    expect(await service.call(counter, 'a').add({ amount: 2 })).toMatchObject({
      isOk: true,
      value: { value: 7 },
    });
    expect(await (await fetch(`${service.url}/counters/a`)).json()).toEqual({ value: 7 });
    expect(await service.readEvents(counter, 'a', 1)).toEqual([
      { seq: 2, timeMs: expect.any(Number), event: { type: 'added', amount: 2 } },
    ]);
    const refused = await send(`${service.url}/counters/a`, { amount: 101 });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { status: 400, error: expect.stringContaining('amount: must be an integer from') },
    ]);
  });

  test('continues with the journal in its folder, which no other may use', async () => {
    const dataFolder = temporaryFolder();
    const { service } = await start({ dataFolder });
    await service.call(counter, 'a').add({ amount: 5 });
    await expect(start({ dataFolder })).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    await service.stop();
    await expect(service.call(counter, 'a').get()).rejects.toMatchObject({ code: 'SVC_STOPPING' });

    const { service: again } = await start({ dataFolder });
    expect(await again.call(counter, 'a').get()).toMatchObject({ value: { value: 5 } });
  });

  test('that cannot listen leaves its folder to others', async () => {
    const { service } = await start();
    const port = Number(new URL(service.url!).port);
    const dataFolder = temporaryFolder();
    await expect(start({ dataFolder, http: { port } })).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: expect.stringMatching(/choose another port with the option http\.port\.$/),
    });
    const settingNames = { http: { host: '--host', port: '--port' } };
    await expect(start({ dataFolder, http: { port }, settingNames })).rejects.toThrow(
      /choose another port with --port\.$/,
    );
    await start({ dataFolder });
  });

  test('without endpoints, or with http: false, does not listen', async () => {
    expect((await start({ endpoints: [] })).service.url).toBeUndefined();
    expect((await start({ http: false })).service.url).toBeUndefined();
  });

  test('knows the callers of a developer, and when deployed the internet alone', async () => {
    expect(await callerOf(await start())).toBe('local');
    expect(
      await callerOf(await start({ deployed: true, http: { host: '127.0.0.1', port: 0 } })),
    ).toBe('internet');
  });

  test('does a command with a key once', async () => {
    const { service } = await start();
    const keyed = service.call(counter, 'a').withIdempotencyKey('order-1');
    expect(await keyed.add({ amount: 5 })).toMatchObject({ value: { value: 5 } });
    expect(await keyed.add({ amount: 5 })).toMatchObject({ value: { value: 5 } });
    expect(await service.call(counter, 'a').get()).toMatchObject({ value: { value: 5 } });
    expect(await keyed.add({ amount: 6 })).toMatchObject({ isOk: false, code: 'UNPROCESSABLE' });
  });
});

test('a key of a handler that cannot be one is a fault: 500 with an error id, and the log has its code', async () => {
  const { service, logged } = await start();
  const answer = await send(`${service.url}/counters/a/once/loan%201`, { amount: 5 });
  expect(answer.status).toBe(500);
  const { errorId, ...body } = (await answer.json()) as { errorId: string };
  expect(body).toEqual({ status: 500, error: 'The service failed to handle the request.' });
  expect(logged.filter(({ fields }) => fields?.['errorId'] === errorId)).toMatchObject([
    { fields: { code: 'SVC_IDEMPOTENCY_KEY_INVALID' } },
  ]);
  expect((await send(`${service.url}/counters/a/once/loan-1`, { amount: 5 })).status).toBe(200);
  expect(await service.readEvents(counter, 'a')).toHaveLength(1);
});

describe('a fault of a handler', () => {
  test('is 500 with an error id, and its words are in the log alone', async () => {
    const { service, logged } = await start();
    await service.call(counter, 'a').add({ amount: 5 });
    const answer = await send(`${service.url}/counters/a/fail`);
    expect(answer.status).toBe(500);
    const { errorId, ...body } = (await answer.json()) as { errorId: string };
    expect(body).toEqual({ status: 500, error: 'The service failed to handle the request.' });
    const lines = logged.filter(({ fields }) => fields !== undefined);
    expect(lines.some(({ fields }) => fields!['errorId'] === errorId)).toBe(true);
    const words = lines.filter(({ fields }) =>
      String(fields!['guestMessage']).includes('a secret'),
    );
    expect(words).toMatchObject([
      { fields: { component: 'counter', entity: 'a', handler: 'fail' } },
    ]);
    expect(String(words[0]!.fields!['guestMessage'])).toContain('embed.test.ts');
  });

  test('drops the state of its entity, which comes back from the journal', async () => {
    const { service } = await start();
    await service.call(counter, 'a').add({ amount: 5 });
    await expect(service.call(counter, 'a').fail()).rejects.toBeInstanceOf(GuestFault);
    expect(await service.call(counter, 'a').add({ amount: 1 })).toMatchObject({
      value: { value: 6 },
    });
  });

  test('in apply keeps the event from being stored', async () => {
    const { service } = await start();
    await expect(service.call(counter, 'a').add({ amount: 13 })).rejects.toBeInstanceOf(GuestFault);
    expect(await service.readEvents(counter, 'a')).toEqual([]);
    expect(await service.call(counter, 'a').get()).toMatchObject({ value: { value: 0 } });
  });

  test('that changes the state it was given is found, and nothing of it kept', async () => {
    const { service } = await start();
    await expect(service.call(counter, 'a').spoil()).rejects.toMatchObject({
      code: 'SVC_STATE_CHANGED',
      message: expect.stringContaining('value'),
    });
    expect(await service.call(counter, 'a').get()).toMatchObject({ value: { value: 0 } });
  });
});

describe('the settings of a service', () => {
  test('have the meaning that they have for svc run', async () => {
    const { service: small } = await start({
      settings: { 'svc.http.body-bytes-max': 1, 'svc.engine.calls-per-entity-max': 1 },
    });
    expect((await send(`${small.url}/counters/a`, { amount: 1 })).status).toBe(413);
    const calls = [1, 2].map(async (amount) => small.call(counter, 'a').add({ amount }));
    const [, second] = await Promise.allSettled(calls);
    expect(second).toMatchObject({ reason: { code: 'SVC_OVERLOADED' } });
  });

  test.each([
    [{ 'svc.engine.live-entities-max': 0 }, 'live-entities-max takes a whole number from 1 to'],
    [{ 'svc.http.answer-timeout-ms': 1.5 }, "and found '1.5'"],
    [{ 'svc.wasm.memory-pages-max': 1 }, "no setting 'svc.wasm.memory-pages-max'"],
    [{ 'svc.http.port': 1 }, "no setting 'svc.http.port'"],
  ])('are refused when they cannot be: %j', async (settings: object, problem) => {
    await expect(start({ settings })).rejects.toMatchObject({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining(problem),
    });
  });

  test.each([
    ['2048', ['no other service can call this one']],
    ['game-2048', []],
  ])('warn of a name by which no other service can call this one: %s', async (name, warnings) => {
    const { logged } = await start({ name });
    const warned = logged.filter(({ level }) => level === 'warn');
    expect(warned.map(({ message }) => message)).toEqual(warnings);
  });

  test.each([
    [{ name: 'My service' }, 'SVC_SETTING_INVALID', /^The option name takes lower-case letters/],
    [
      { name: undefined as never },
      'SVC_SETTING_INVALID',
      /^The option name takes .* and found 'undefined'/,
    ],
    [{ http: { port: 65_536 } }, 'SVC_SETTING_INVALID', /^The option http\.port takes a whole/],
    [{ metrics: [gauge('svc_mine')] }, 'SVC_SETTING_INVALID', /do not begin with svc_ or process_/],
    [{ metrics: [gauge('mails_total')] }, 'SVC_SETTING_INVALID', /_total for counters, and for/],
    [{ metrics: [gauge('a'), gauge('a')] }, 'SVC_SETTING_INVALID', /metrics has 'a' twice/],
    [{ metrics: [{ ...gauge('a'), label: 'a b' }] }, 'SVC_SETTING_INVALID', /found 'a b'/],
    [{ management: { port: -1 } }, 'SVC_SETTING_INVALID', /^The option management\.port takes/],
    // TEST-NET-1 (RFC 5737) belongs to no machine.
    [
      { http: { host: '192.0.2.1', port: 0 } },
      'SVC_ADDRESS_UNAVAILABLE',
      /with the option http\.host, and a port from 1024 on with the option http\.port\.$/,
    ],
    [
      { management: { host: '192.0.2.1', port: 0 } },
      'SVC_ADDRESS_UNAVAILABLE',
      /with the option management\.host, and a port from 1024 on with the option management\.port\.$/,
    ],
  ])(
    'and so are options, by the names that the program gives them: %j',
    async (options, code, words) => {
      await expect(start(options)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(words),
      });
    },
  );
});
