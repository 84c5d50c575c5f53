// Bad input over HTTP: each with its status and a sentence that helps, and nothing is stored.
import { request, type ClientRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { service } from '../../../control-plane/model/service.ts';
import { ApiUnderTest, idleOrchestrator, type Sent } from './api-under-test.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  const orchestrator = idleOrchestrator({
    async problems({ descriptor }) {
      if (descriptor.image.includes('unknown')) throw new Error('connect ECONNREFUSED');
      return [];
    },
  });
  api = await ApiUnderTest.start({}, undefined, orchestrator);
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const json = { name: 'Web', organizationId: 'shop' };
  await api.done('POST /projects/web', { as: 'ann', json });
  await api.done('PUT /services/web/cart', { as: 'ann', json: { name: 'cart', image: 'it:1' } });
});
afterAll(() => api[Symbol.asyncDispose]());

const RENAME = 'PUT /organizations/shop/name';
const APPLY = 'PUT /services/web/api';
const descriptor = (more: string) => `{"name":"api","image":"it:1"${more}}`;

/** Sends a request as `send` writes it, and resolves to the status of its answer. */
function statusOf(
  method: string,
  path: string,
  send: (sent: ClientRequest) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.control.url}${path}`, { method }, (response) => {
      response.resume();
      resolve(response.statusCode!);
      sent.destroy();
    });
    sent.on('error', reject);
    send(sent);
  });
}

describe('before the token is judged', () => {
  test.each([
    ['GET /nowhere', 404],
    ['PATCH /organizations/shop', 405],
    ['GET /organizations/shop/', 404],
    ['GET /organizations/%zz', 400],
    ['GET /organizations/%c0%af', 400],
    ['GET /organizations//members', 404],
  ])('%s is answered %i', async (line, status) => {
    expect((await api.send(line)).status).toBe(status);
  });

  test('headers of more than 16 KiB are refused', async () => {
    const headers = { 'x-large': 'x'.repeat(17_000) };
    expect((await api.send(RENAME, { headers })).status).toBe(431);
  });
});

describe('before a byte of its body is read', () => {
  beforeAll(async () => {
    api.knows({ subject: 'administrator', roles: ['platform-admin'] });
    const as = 'ann';
    for (const id of ['shop', 'closed']) {
      if (id !== 'shop') await api.done(`POST /organizations/${id}`, { as, json: { name: id } });
      await api.done(`POST /organizations/${id}/members/mia/repair`, {
        as: 'administrator',
        json: { role: 'member' },
      });
    }
    await api.done('POST /organizations/closed/disable', { as: 'administrator' });
  });

  const OVER = (1 << 20) + 1;
  test.each<[string, string | undefined, string, number, number]>([
    ['without a token', undefined, 'shop', 1 << 20, 401],
    ['without a token', undefined, 'shop', OVER, 401],
    ['with a bad token', 'a.b.c', 'shop', OVER, 401],
    ['of a stranger', 'sam', 'shop', OVER, 404],
    ['for what was never there', 'ann', 'nowhere', OVER, 404],
    ['of a member without the role', 'mia', 'shop', OVER, 403],
    ['of an owner while the organization is disabled', 'ann', 'closed', OVER, 403],
    ['of an owner', 'ann', 'shop', OVER, 413],
  ])('a request %s is judged (%#)', async (_, as, organization, bytes, status) => {
    const token = as?.includes('.') === true ? as : as && (await api.token(as));
    const answered = await statusOf('PUT', `/organizations/${organization}/name`, (sent) => {
      if (token !== undefined) sent.setHeader('authorization', `Bearer ${token}`);
      sent.setHeader('content-length', bytes);
      sent.flushHeaders();
    });
    expect(answered).toBe(status);
  });

  test.each([
    ['an invalid key', RENAME, { 'idempotency-key': 'a b' }],
    ['a foreign position', 'GET /organizations', { 'svc-after': 'x' }],
  ])('the token is judged before %s', async (_, line, headers) => {
    expect((await api.send(line, { headers })).status).toBe(401);
    expect((await api.send(line, { as: 'ann', headers })).status).toBe(400);
  });

  test('a request without a token is not asked for its body', async () => {
    let isAsked = false;
    const status = await statusOf('PUT', '/organizations/shop/name', (sent) => {
      sent.on('continue', () => (isAsked = true));
      sent.setHeader('expect', '100-continue');
      sent.setHeader('content-length', 100);
      sent.flushHeaders();
    });
    expect([status, isAsked]).toEqual([401, false]);
  });
});

test.each<[string, string, Sent, number, string]>([
  ['no body', RENAME, {}, 400, 'body: is missing'],
  ['no JSON', RENAME, { text: 'name=x' }, 400, 'body: is not JSON'],
  ['null', RENAME, { text: 'null' }, 400, 'body: is not an object'],
  ['a list', RENAME, { text: '[]' }, 400, 'body: is not an object'],
  ['a key twice', RENAME, { text: '{"name":"a","name":"b"}' }, 400, 'name: is given twice'],
  ['an unknown key', RENAME, { text: '{"name":"a","x":1}' }, 400, 'unknown field \\"x\\"'],
  [
    '__proto__',
    RENAME,
    { text: '{"name":"a","__proto__":{}}' },
    400,
    'unknown field \\"__proto__\\"',
  ],
  ['no UTF-8', RENAME, { text: Uint8Array.from([0x22, 0xff, 0x22]) }, 400, 'body: is not UTF-8'],
  [
    '100,000 levels',
    RENAME,
    { text: '['.repeat(1e5) + ']'.repeat(1e5) },
    400,
    'more than 32 levels',
  ],
  ['NUL', RENAME, { text: '{"name":"a\\u0000"}' }, 400, 'name: is '],
  ['half of a character', RENAME, { text: '{"name":"\\ud800"}' }, 400, 'has half of a character'],
  [
    '201 characters',
    RENAME,
    { json: { name: 'x'.repeat(201) } },
    400,
    'longer than 200 characters',
  ],
  ['a number as text', APPLY, { text: descriptor(',"port":"9000"') }, 400, 'port: is not a whole'],
  ['1e400', APPLY, { text: descriptor(',"instances":1e400') }, 400, 'instances: is not a whole'],
  ['NUL in a variable', APPLY, { text: descriptor(',"env":{"A":"\\u0000"}') }, 400, 'env/A: '],
  [
    'a mount on itself',
    APPLY,
    {
      text: descriptor(
        ',"hosting":"process","protocol":"http/1.1","mounts":[{"path":"/a","service":"api"}]',
      ),
    },
    400,
    'mounts/0/service: ',
  ],
  [
    'a setting of the platform',
    APPLY,
    { text: descriptor(',"hosting":"wasm","protocol":"0.2.0","env":{"SVC_AUTH_ISSUER":"x"}') },
    400,
    'SVC_AUTH_ISSUER',
  ],
  ['a body where none belongs', 'POST /services/web/cart/pause', { json: {} }, 400, 'takes none'],
  ['a body of DELETE', 'DELETE /services/web/cart', { text: 'x' }, 400, 'takes none'],
  ['a name of blanks', RENAME, { json: { name: ' \u3000' } }, 400, 'not only blanks'],
  ['a name that turns text around', RENAME, { json: { name: 'a\u202eb' } }, 400, 'not visible'],
  ['a name with an invisible tag', RENAME, { json: { name: 'a\u{e0041}b' } }, 400, 'not visible'],
  ['an invalid name', 'GET /services/web/1cart', {}, 400, 'name: is '],
  ['an invalid subject', 'DELETE /organizations/shop/members/a%00b', {}, 400, 'subject: is '],
  [
    'a key of a write',
    RENAME,
    { json: { name: 'a' }, headers: { 'idempotency-key': 'x'.repeat(300) } },
    400,
    'Idempotency-Key',
  ],
])('hard case 23: %s is refused', async (_, line, sent, status, words) => {
  const answer = await api.send(line, { as: 'ann', ...sent });
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)]);
});

test.each([
  ['GET', '/organizations'],
  ['GET', '/services/web/cart'],
  ['DELETE', '/services/web/cart'],
])('a body in chunks of %s %s is refused', async (method, path) => {
  const token = await api.token('ann');
  const status = await statusOf(method, path, (sent) => {
    sent.setHeader('authorization', `Bearer ${token}`);
    sent.setHeader('transfer-encoding', 'chunked');
    sent.end('abc');
  });
  expect(status).toBe(400);
});

test('nothing of it was stored', async () => {
  expect(await api.done('GET /organizations/shop', { as: 'ann' })).toMatchObject({ name: 'Shop' });
  expect(await api.service.readEvents(service, 'web/api')).toEqual([]);
  expect(await api.service.readEvents(service, 'web/cart')).toHaveLength(1);
});

test.each(['application/x-www-form-urlencoded', 'text/plain', 'application/vnd.svc+json', ''])(
  'a body is JSON whatever its media type: %s',
  async (type) => {
    const answer = await api.send(RENAME, {
      as: 'ann',
      text: new TextEncoder().encode('{"name":"Shop"}'),
      headers: type === '' ? {} : { 'content-type': type },
    });
    expect(answer.status).toBe(204);
  },
);

test('the empty body of a POST may have a media type', async () => {
  const headers = { 'content-type': 'application/json' };
  const answer = await api.send('POST /services/web/cart/resume', { as: 'ann', headers });
  expect(answer.status).toBe(200);
});

test('a variable of the name __proto__ is kept as any other', async () => {
  const text = '{"name":"odd","image":"it:1","env":{"__proto__":"x","constructor":"y"}}';
  await api.done('PUT /services/web/odd', { as: 'ann', text });
  const [applied] = await api.service.readEvents(service, 'web/odd');
  const { env } = (applied!.event as { readonly descriptor: { readonly env: object } }).descriptor;
  expect(Object.entries(env)).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ]);
});

test('a descriptor that the orchestrator cannot judge is stored', async () => {
  const json = { name: 'api', image: 'unknown:1' };
  const answer = await api.send(APPLY, { as: 'ann', json });
  expect([answer.status, answer.body]).toMatchObject([200, { image: 'unknown:1' }]);
  expect(await api.service.readEvents(service, 'web/api')).toHaveLength(1);
});

test('a key that was used for another request is refused', async () => {
  const headers = { 'idempotency-key': 'rename-1' };
  await api.done(RENAME, { as: 'ann', json: { name: 'Shop' }, headers });
  const answer = await api.send(RENAME, { as: 'ann', json: { name: 'Other' }, headers });
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('idempotency key')]);
});

test('two Authorization headers are refused', async () => {
  const token = await api.token('ann');
  const status = await statusOf('GET', '/auth/whoami', (sent) => {
    sent.setHeader('authorization', [`Bearer ${token}`, `Bearer ${token}`]);
    sent.end();
  });
  expect(status).toBe(401);
});

test.each(['/openapi.json', '/auth', '/auth/whoami'])(
  'a GET of %s with a body is refused',
  async (path) => {
    const token = await api.token('ann');
    const status = await statusOf('GET', path, (sent) => {
      sent.setHeader('authorization', `Bearer ${token}`);
      sent.setHeader('content-length', 2);
      sent.end('{}');
    });
    expect(status).toBe(400);
  },
);
