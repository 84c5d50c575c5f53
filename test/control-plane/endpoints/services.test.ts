// Services: what members do with them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { LogQuery } from '../../../control-plane/orchestration/orchestrator.ts';
import { ApiUnderTest, idleOrchestrator } from './api-under-test.ts';

const asked: LogQuery[] = [];
/** Settles when the orchestrator may answer whether it can run a descriptor; undefined: at once. */
let judging: PromiseWithResolvers<void> | undefined;
let judged = 0;
const bytesMax = ORCHESTRATOR_DEFAULTS.logsBytesMax;
const orchestrator = idleOrchestrator({
  async problems({ descriptor }) {
    judged++;
    await judging?.promise;
    return descriptor.instances === 9
      ? [{ path: '/instances', reason: 'is more than there is' }]
      : [];
  },
  async logs({ service }, query) {
    asked.push(query);
    return service === 'idle' || query.instance === 'other'
      ? []
      : [
          { instance: `${service}-1`, output: 'ready\n', error: null },
          { instance: `${service}-2`, output: '', error: 'cannot be read' },
        ];
  },
});

let api: ApiUnderTest;
let created = 0;
/** A project of Ann's, a new one for each test. */
let project: string;

beforeAll(async () => {
  api = await ApiUnderTest.start({}, undefined, orchestrator);
  api.knows({ subject: 'ann', name: 'Ann' });
  api.knows({ subject: 'root', name: 'Root', roles: ['platform-admin'] });
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  project = `p${++created}`;
  const json = { name: project, organizationId: 'shop' };
  await api.done(`POST /projects/${project}`, { as: 'ann', json });
});

const IMAGE = 'registry.example/it:1';

function send(line: string, json?: unknown, as = 'ann') {
  const [method, path] = line.split(' ') as [string, string];
  return api.send(`${method} /services/${project}${path}`, {
    as,
    ...(json !== undefined && { json }),
  });
}

async function done(line: string, json?: unknown): Promise<unknown> {
  const { status, text, body } = await send(line, json);
  if (status >= 300) throw new Error(`${line} is answered ${status}: ${text}`);
  return body;
}

async function refusal(line: string, json?: unknown, as?: string) {
  const { status, body } = await send(line, json, as);
  return [status, (body as { error: string }).error];
}

function apply(name: string, more: object = {}): Promise<unknown> {
  return done(`PUT /${name}`, { name, image: IMAGE, ...more });
}

/** Fails if an entry does not say who did what, and when. */
async function history(name: string) {
  const entries = (await done(`GET /${name}/history`)) as {
    readonly kind: string;
    readonly generation: number;
    readonly actor?: unknown;
    readonly at?: unknown;
  }[];
  expect(entries.filter(({ actor, at }) => actor === undefined || at === undefined)).toEqual([]);
  return entries.map(({ kind, generation }) => `${kind} ${generation}`);
}

test('an apply creates a service, and each one is a generation with an entry', async () => {
  const status = {
    name: 'cart',
    projectId: project,
    lifecycle: 'pending',
    generation: 1,
    image: IMAGE,
    readyInstances: 0,
    desiredInstances: 1,
    confirmed: false,
    exposed: false,
    suspended: false,
    paused: false,
    hosting: 'embedded',
  };
  expect(await apply('cart')).toEqual(status);
  expect(await apply('cart', { instances: 3 })).toEqual({
    ...status,
    generation: 2,
    desiredInstances: 3,
  });
  await apply('api', { hosting: 'process', protocol: 'http/1.1' });
  expect(await done('GET ')).toEqual([
    { ...status, name: 'api', hosting: 'process', protocol: 'http/1.1' },
    { ...status, generation: 2, desiredInstances: 3 },
  ]);
  expect(await api.done(`GET /projects/${project}`, { as: 'ann' })).toMatchObject({ services: 2 });
  expect(await api.done('GET /projects?organization=shop', { as: 'ann' })).toContainEqual({
    id: project,
    name: project,
    organizationId: 'shop',
    services: 2,
  });
  expect(await done('GET /cart/history')).toEqual(
    [2, 1].map((generation) => ({
      kind: 'applied',
      generation,
      actor: { subject: 'ann', display: 'Ann', administrative: false },
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })),
  );
});

test.each([
  ['who was removed', 'DELETE /organizations/shop/members/carol', 404, 'there is no such project'],
  ['of a disabled organization', 'POST /organizations/shop/disable', 403, 'is disabled'],
])('an apply of a member %s while the orchestrator judged it is refused', async (...given) => {
  const [, change, status, error] = given;
  const json = { role: 'member' };
  await api.done('POST /organizations/shop/members/carol/repair', { as: 'root', json });
  judging = Promise.withResolvers();
  const before = judged;
  const late = refusal('PUT /late', { name: 'late', image: IMAGE }, 'carol');
  await expect.poll(() => judged).toBe(before + 1);
  await api.done(change, { as: change.startsWith('DELETE') ? 'ann' : 'root' });
  judging.resolve();
  judging = undefined;
  expect(await late).toEqual([status, expect.stringContaining(error)]);
  await api.send('POST /organizations/shop/enable', { as: 'root' });
  expect(await done('GET ')).toEqual([]);
});

test('two applies at once are two generations', async () => {
  const both = await Promise.all([apply('cart'), apply('cart')]);
  expect(both).toContainEqual(expect.objectContaining({ generation: 2 }));
  expect(await history('cart')).toEqual(['applied 2', 'applied 1']);
});

test('pausing, resuming and restarting', async () => {
  await apply('cart');
  expect(await refusal('POST /other/pause')).toEqual([
    404,
    expect.stringContaining('no such service'),
  ]);
  expect(await done('POST /cart/pause')).toMatchObject({
    lifecycle: 'paused',
    desiredInstances: 0,
  });
  await done('POST /cart/pause');
  expect(await refusal('POST /cart/restart')).toEqual([
    409,
    'the service is paused: resume it instead of restarting it',
  ]);
  expect(await apply('cart')).toMatchObject({ paused: true, generation: 2 });
  expect(await done('POST /cart/resume')).toMatchObject({ paused: false, generation: 2 });
  await done('POST /cart/resume');
  expect(await done('POST /cart/restart')).toMatchObject({ generation: 3 });
  expect(await history('cart')).toEqual([
    'restarted 3',
    'resumed 2',
    'applied 2',
    'paused 1',
    'applied 1',
  ]);
});

test('a service is exposed at its derived hostname until it is not', async () => {
  await apply('cart');
  const hostname = `https://cart-${project}.svc.test`;
  expect(await done('POST /cart/expose')).toMatchObject({ exposed: true, hostname });
  expect(await done('POST /cart/expose')).toMatchObject({ exposed: true, hostname });
  expect(await done('GET ')).toMatchObject([{ exposed: true, hostname }]);
  expect(await done('POST /cart/unexpose')).not.toHaveProperty('hostname');
  expect(await done('POST /cart/unexpose')).toMatchObject({ exposed: false });
  await done('POST /cart/expose');
  expect(await apply('cart', { http: false })).toMatchObject({ exposed: false });
  expect(await history('cart')).toEqual([
    'unexposed 2',
    'applied 2',
    'exposed 1',
    'unexposed 1',
    'exposed 1',
    'applied 1',
  ]);
});

test('hard case 6: services a-b/c and a/b-c both expose: one 200, one 409; unexposing and deleting free it', async () => {
  const other = `/services/b-${project}`;
  const json = { name: `b-${project}`, organizationId: 'shop' };
  await api.done(`POST /projects/b-${project}`, { as: 'ann', json });
  await apply('a-b');
  await api.done(`PUT ${other}/a`, { as: 'ann', json: { name: 'a', image: IMAGE } });
  await done('POST /a-b/expose');
  const exposing = `POST ${other}/a/expose`;
  const taken = `another service has the hostname a-b-${project}.svc.test`;
  expect(await api.refusal(exposing, { as: 'ann' })).toEqual([409, taken]);
  await done('POST /a-b/unexpose');
  await api.done(exposing, { as: 'ann' });
  expect(await refusal('POST /a-b/expose')).toEqual([409, taken]);
  await api.done(`DELETE ${other}/a`, { as: 'ann' });
  await done('POST /a-b/expose');
});

test('hard case 7: what keeps a service from being exposed is judged in order', async () => {
  const long = 'x'.repeat(63 - project.length);
  const fits = long.slice(1);
  for (const name of [long, fits]) await apply(name);
  expect(await done(`POST /${fits}/expose`)).toMatchObject({
    hostname: `https://${fits}-${project}.svc.test`,
  });
  expect(await refusal(`POST /${long}/expose`)).toEqual([
    409,
    expect.stringContaining('has more than 63 characters'),
  ]);
  await apply(long, { http: false });
  expect(await refusal(`POST /${long}/expose`)).toEqual([
    409,
    expect.stringContaining('serves no HTTP'),
  ]);
  await using bare = await ApiUnderTest.start({ baseDomain: undefined });
  await bare.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  await bare.done('POST /projects/web', {
    as: 'ann',
    json: { name: 'Web', organizationId: 'shop' },
  });
  await bare.done(`PUT /services/web/${long}`, { as: 'ann', json: { name: long, image: IMAGE } });
  expect(await bare.refusal(`POST /services/web/${long}/expose`, { as: 'ann' })).toEqual([
    409,
    expect.stringContaining('no base domain'),
  ]);
});

test('a custom hostname has one service, until it is given up', async () => {
  const hostnames = [`${project}.example.com`];
  const several = [`a-${project}.example.com`, ...hostnames];
  await apply('cart', { hostnames });
  expect(await refusal('PUT /api', { name: 'api', image: IMAGE, hostnames: several })).toEqual([
    409,
    `another service has the hostname ${hostnames[0]}`,
  ]);
  expect((await send('GET /api')).status).toBe(404);
  await apply('cart');
  await apply('api', { hostnames });
});

test('a deleted name may be used again, and generation and history go on', async () => {
  await apply('cart');
  expect((await send('DELETE /cart')).status).toBe(204);
  for (const line of ['GET /cart', 'GET /cart/history', 'GET /cart/logs', 'DELETE /cart'])
    expect([line, (await send(line)).status]).toEqual([line, 404]);
  expect(await done('GET ')).toEqual([]);
  expect(await apply('cart')).toMatchObject({ generation: 2 });
  expect(await history('cart')).toEqual(['applied 2', 'deleted 1', 'applied 1']);
});

test('hard case 22: every problem of a descriptor is reported at once', async () => {
  const env = Object.fromEntries(Array.from({ length: 3 }, (_, index) => [`${index}-bad`, 'x']));
  const json = {
    name: 'other',
    port: '9000',
    http: false,
    hostnames: ['a.example.com'],
    env,
    prot: 1,
  };
  const [status, error] = await refusal('PUT /cart', json);
  expect(status).toBe(400);
  const paths = String(error)
    .split('\n')
    .map((line) => line.split(':')[0]);
  expect(paths).toEqual(['body', 'env', 'env', 'env', 'hostnames', 'image', 'name', 'port']);
  expect((await send('GET /cart')).status).toBe(404);
  expect(await refusal('PUT /cart', { name: 'cart', image: IMAGE, instances: 9 })).toEqual([
    400,
    'instances: is more than there is',
  ]);
  expect((await send('GET /cart')).status).toBe(404);
});

test('the answer to a descriptor with 1,000 problems is bounded, and says so', async () => {
  const mounts = Array.from({ length: 1000 }, (_, index) => ({
    path: `${'x'.repeat(100)}${index}`,
  }));
  const env = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`${index}-${'y'.repeat(200)}`, 1]),
  );
  const answer = await send('PUT /cart', { name: 'cart', image: IMAGE, mounts, env });
  expect([answer.status, answer.text.length <= 65_536]).toEqual([400, true]);
  expect(answer.text).toMatch(/is longer|more problems are not shown|more than/);
});

test('logs are of the instances, each with its own error', async () => {
  await apply('cart');
  await apply('idle');
  expect(await done('GET /cart/logs?instance=cart-1&previous&tail=0&since=60')).toEqual({
    instances: [
      { instance: 'cart-1', output: 'ready\n', error: null },
      { instance: 'cart-2', output: '', error: 'cannot be read' },
    ],
  });
  expect(asked.at(-1)).toEqual({
    instance: 'cart-1',
    previous: true,
    tail: 0,
    sinceS: 60,
    bytesMax,
  });
  await done('GET /cart/logs?previous=true');
  expect(asked.at(-1)).toEqual({ previous: true, bytesMax });
  await done('GET /cart/logs?previous=false');
  expect(asked.at(-1)).toEqual({ previous: false, bytesMax });
  expect((await send('GET /idle/logs')).status).toBe(404);
  expect((await send('GET /cart/logs?instance=other')).status).toBe(404);
  await done('POST /cart/pause');
  expect((await send('GET /cart/logs')).status).toBe(404);
  expect(await refusal('GET /cart/logs?tail=-1&since=abc&previous=maybe')).toEqual([
    400,
    [
      'previous: is not true or false',
      'since: is not a whole number from 0 to 31536000',
      'tail: is not a whole number from 0 to 100000',
    ].join('\n'),
  ]);
  expect(await refusal('GET /cart/logs?tail=%zz')).toEqual([
    400,
    'query: has an escape that is not UTF-8',
  ]);
});

test('a disabled organization suspends services at once, and their history follows', async () => {
  await apply('cart');
  await apply('still');
  await done('POST /still/pause');
  await api.done('POST /organizations/shop/disable', { as: 'root' });
  expect(await done('GET /cart')).toMatchObject({ suspended: true, lifecycle: 'suspended' });
  expect(await done('GET ')).toMatchObject([
    { suspended: true },
    { suspended: true, paused: true },
  ]);
  expect(await refusal('POST /cart/restart')).toEqual([403, expect.stringContaining('disabled')]);
  const suspended = {
    kind: 'suspended',
    generation: 1,
    actor: { subject: 'root', display: 'Root', administrative: true },
    at: expect.any(String),
  };
  await expect.poll(() => done('GET /cart/history')).toMatchObject([suspended, {}]);
  await api.done('POST /organizations/shop/enable', { as: 'root' });
  expect(await done('GET /still')).toMatchObject({ suspended: false, lifecycle: 'paused' });
  await expect.poll(() => history('cart')).toContain('reinstated 1');
});

test('an apply that is sent again with its key makes one generation', async () => {
  const sent = {
    as: 'ann',
    json: { name: 'cart', image: IMAGE },
    headers: { 'idempotency-key': 'apply-1' },
  };
  const line = `PUT /services/${project}/cart`;
  await api.done(line, sent);
  expect(await api.done(line, sent)).toMatchObject({ generation: 1 });
  expect(await history('cart')).toEqual(['applied 1']);
});

test('an administrator who is no member, and a stranger, get what nobody has gets', async () => {
  await apply('cart');
  const never = await api.refusal('GET /services/never/cart', { as: 'bob' });
  expect(never[0]).toBe(404);
  for (const as of ['bob', 'root'])
    for (const line of ['GET /cart', 'PUT /cart', 'POST /cart/pause', 'GET ', 'GET /cart/history'])
      expect([line, await refusal(line, undefined, as)]).toEqual([line, never]);
});
