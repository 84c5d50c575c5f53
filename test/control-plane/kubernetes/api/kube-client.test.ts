import { expect, test } from 'vitest';
import {
  KubeError,
  WORDS_LENGTH_MAX,
} from '../../../../control-plane/kubernetes/api/kube-error.ts';
import {
  answerJson,
  ScriptedApi,
  scriptedObject,
  statusObject,
} from '../../../support/kubernetes/scripted-api.ts';

const MAPS = '/api/v1/namespaces/shop/configmaps';
const CART = `${MAPS}/cart`;

const unreadable = () => Promise.reject(new Error('the file of the token is empty'));

async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

test.each([
  [409, 'Conflict', undefined],
  [429, 'TooManyRequests', '7'],
  [500, 'InternalError', undefined],
])('a refusal with %i has the words of the server, and its reason', async (code, reason, wait) => {
  await using api = await ScriptedApi.start((_, response) => {
    if (wait !== undefined) response.setHeader('retry-after', wait);
    answerJson(response, code, statusObject(code, reason, 'the quota of shop is full'));
  });
  const error = await failureOf(api.client().get(CART));
  expect(error).toMatchObject({
    kind: 'refused',
    status: code,
    reason,
    message: 'the quota of shop is full',
    retryAfterMs: wait === undefined ? undefined : 7000,
  });
  expect(api.requests).toHaveLength(1);
});

test('words of a server are bounded and printable', async () => {
  const words = `bad\u001b[31m ${'x'.repeat(100_000)}`;
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 403, statusObject(403, 'Forbidden', words.slice(0, 50_000))),
  );
  const { message } = await failureOf(api.client().get(CART));
  expect(message).toMatch(/^bad\\u\{1b\}\[31m x+…$/);
  expect(message.length).toBeLessThan(WORDS_LENGTH_MAX + 20);
});

test('a refusal that is cut off at its limit is still named by its status', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 422, statusObject(422, 'Invalid', 'x'.repeat(1_000_000))),
  );
  const error = await failureOf(api.client().get(CART));
  expect(error.status).toBe(422);
  expect(error.message).toMatch(/^the API server answers 422 with something that is not JSON: "/);
  expect(error.message.length).toBeLessThan(400);
});

test.each([200, 502])('a web page with status %i is named', async (status) => {
  await using api = await ScriptedApi.start((_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!doctype html><html><h1>Bad\nGateway</h1></html>');
  });
  const error = await failureOf(api.client().get(CART));
  expect(error.message).toBe(`the API server answers ${status} with a web page: "Bad Gateway"`);
  expect(error.kind).toBe(status === 200 ? 'invalid' : 'refused');
});

test('an answer that is cut off is an error', async () => {
  await using api = await ScriptedApi.start((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"metadata":{"name":"cart"}', () => response.destroy());
  });
  const error = await failureOf(api.client().get(CART));
  expect(error.kind).toBe('unreachable');
  expect(error.message).toMatch(/^the API server cannot be reached: /);
});

test('JSON that is cut off is an error, although the answer is whole', async () => {
  await using api = await ScriptedApi.start((_, response) => {
    response.writeHead(200).end('{"metadata":{"name":"ca');
  });
  const error = await failureOf(api.client().get(CART));
  expect(error.kind).toBe('invalid');
});

test.each(['headers', 'body'])('an answer whose %s does not come is late', async (missing) => {
  await using api = await ScriptedApi.start((_, response) => {
    if (missing === 'body') response.writeHead(200).write('{');
  });
  const error = await failureOf(api.client({ answerTimeoutMs: 50 }).get(CART));
  expect(error).toMatchObject({
    kind: 'late',
    message: 'the API server has not answered within 50 ms',
  });
});

test('an answer that is too large is not read to its end', async () => {
  await using api = await ScriptedApi.start((_, response) => {
    response.writeHead(200).write(Buffer.alloc(3000, 'x'));
  });
  const error = await failureOf(api.client({ objectBytesMax: 2000 }).get(CART));
  expect(error.kind).toBe('invalid');
  expect(error.message).toBe(
    `the answer of the API server to GET ${CART} is larger than 2000 bytes`,
  );
});

test('a server that nobody listens for is unreachable', async () => {
  const api = await ScriptedApi.start(() => undefined);
  const client = api.client();
  await api[Symbol.asyncDispose]();
  const other = await ScriptedApi.start(() => undefined);
  const gone = other.url;
  await other[Symbol.asyncDispose]();
  await using third = await ScriptedApi.start(() => undefined);
  const error = await failureOf(third.client({}, { server: gone }).get(CART));
  expect(error.kind).toBe('unreachable');
  expect(error.message).toContain('ECONNREFUSED');
  expect((await failureOf(client.get(CART))).kind).toBe('unreachable');
});

test('credentials are asked for at each request, and no redirect gets them', async () => {
  await using other = await ScriptedApi.start((_, response) =>
    answerJson(response, 200, scriptedObject('cart', 1)),
  );
  await using api = await ScriptedApi.start((_, response) => {
    response.writeHead(307, { location: `${other.url}${CART}` }).end();
  });
  let asked = 0;
  const current = async () => ({ authorization: `Bearer token-${++asked}` });
  const client = api.client({}, { credentials: { current, renewed: current } });
  expect((await failureOf(client.get(CART))).status).toBe(307);
  expect((await failureOf(client.get(CART))).status).toBe(307);
  expect(other.requests).toEqual([]);
  expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-1',
    'Bearer token-2',
  ]);
});

test('credentials that cannot be read are an error', async () => {
  await using api = await ScriptedApi.start(() => undefined);
  const client = api.client({}, { credentials: { current: unreadable, renewed: unreadable } });
  const error = await failureOf(client.get(CART));
  expect(error.message).toBe(
    'there are no credentials for the API server: the file of the token is empty',
  );
  expect(api.requests).toEqual([]);
});

test('a path of the server precedes those of the API', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 200, scriptedObject('cart', 1)),
  );
  await api.client({}, { server: `${api.url}/k8s/clusters/one/` }).get(CART);
  expect(api.requests[0]!.path).toBe(`/k8s/clusters/one${CART}`);
});

test("a caller's signal ends a request with its reason", async () => {
  const caller = new AbortController();
  await using api = await ScriptedApi.start(() => caller.abort(new Error('no longer wanted')));
  await expect(api.client().get(CART, caller.signal)).rejects.toThrow('no longer wanted');
});

test('an object that is missing is undefined, and a path that the server does not know is an error', async () => {
  let isKnown = true;
  await using api = await ScriptedApi.start((_, response) => {
    if (isKnown)
      answerJson(response, 404, statusObject(404, 'NotFound', 'configmaps "cart" not found'));
    else response.writeHead(404).end('404 page not found\n');
  });
  const client = api.client();
  expect(await client.get(CART)).toBeUndefined();
  expect(await client.delete(CART)).toBe(false);
  isKnown = false;
  const error = await failureOf(client.get(CART));
  expect(error.message).toContain('404 page not found');
  expect((await failureOf(client.delete(CART))).status).toBe(404);
});

test('an object without a name is an error', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 200, { metadata: {} }),
  );
  expect((await failureOf(api.client().get(CART))).kind).toBe('invalid');
});

test('an apply names its field manager, and whether it takes fields over', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 200, scriptedObject('cart', 2)),
  );
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cart' } };
  const client = api.client();
  await client.apply(CART, object, { force: true });
  await client.apply(CART, object, { force: false, isDryRun: true });
  expect(api.requests).toMatchObject([
    { method: 'PATCH', path: CART, query: { fieldManager: 'test', force: 'true' } },
    { query: { fieldManager: 'test', force: 'false', dryRun: 'All' } },
  ]);
  expect(api.requests[0]!.headers['content-type']).toBe('application/apply-patch+yaml');
  expect(JSON.parse(api.requests[0]!.body)).toEqual(object);
});

test('a deletion has preconditions', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 200, { kind: 'Status', status: 'Success' }),
  );
  const options = { uid: 'u1', resourceVersion: '7', propagation: 'Foreground' as const };
  expect(await api.client().delete(CART, options)).toBe(true);
  expect(JSON.parse(api.requests[0]!.body)).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
    preconditions: { uid: 'u1', resourceVersion: '7' },
  });
});

test('a list is read page by page, and from its beginning if a page has expired', async () => {
  let expirations = 1;
  await using api = await ScriptedApi.start(({ query }, response) => {
    if (query['continue'] === undefined)
      return answerJson(response, 200, {
        metadata: { resourceVersion: '9', continue: 'second' },
        items: [scriptedObject('a', 1)],
      });
    if (expirations-- > 0)
      return answerJson(response, 410, statusObject(410, 'Expired', 'the page has expired'));
    answerJson(response, 200, {
      metadata: { resourceVersion: '9' },
      items: [scriptedObject('b', 2)],
    });
  });
  const { items, version } = await api.client().list(MAPS, { labelSelector: 'one=two' });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  expect(version).toBe('9');
  expect(api.requests.map(({ query }) => query)).toEqual([
    { limit: '250', labelSelector: 'one=two' },
    { limit: '250', labelSelector: 'one=two', continue: 'second' },
    { limit: '250', labelSelector: 'one=two' },
    { limit: '250', labelSelector: 'one=two', continue: 'second' },
  ]);
});

test.each([
  [{ listItemsMax: 5, pageItems: 1 }, 1, 5],
  // Pages of fewer objects than were asked for.
  [{ listItemsMax: 100, pageItems: 50 }, 1, 3],
  [{}, 0, 1],
])(
  'a list that does not end is an error, with %j and pages of %d',
  async (limits, items, pages) => {
    let page = 0;
    await using api = await ScriptedApi.start((_, response) =>
      answerJson(response, 200, {
        metadata: { resourceVersion: '9', continue: String(++page) },
        items: [scriptedObject('a', 1)].slice(0, items),
      }),
    );
    const error = await failureOf(api.client(limits).list(MAPS));
    expect(error.kind).toBe('invalid');
    expect(error.message).toBe(`the list ${MAPS} of the API server does not end`);
    expect(page).toBe(pages);
  },
);

test.each([{}, { metadata: {} }, { metadata: { resourceVersion: '1' }, items: [{}] }])(
  'the list %j is an error',
  async (body) => {
    await using api = await ScriptedApi.start((_, response) => answerJson(response, 200, body));
    expect((await failureOf(api.client().list(MAPS))).kind).toBe('invalid');
  },
);
