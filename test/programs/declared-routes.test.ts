// The contract's table "HTTP routes declared by a component service", row by row, against a real host.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const started: SvcProcess[] = [];
let routes: string;
let carts: string;

async function serve(fixture: string): Promise<string> {
  const module = join(folder, `${fixture}.wasm`);
  writeFileSync(module, await compileFixture(fixture));
  const svc = new SvcProcess(['run', module, '--port', '0', '--data', join(folder, fixture)]);
  started.push(svc);
  return svc.listening();
}

beforeAll(async () => {
  routes = await serve('routes');
  carts = await serve('shopping-cart');
});
afterAll(async () => {
  await Promise.all(started.map((svc) => svc.end('SIGTERM')));
});

/** Status, content type and body of a request; a string or bytes are sent as they are, all else as JSON. */
async function call(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    type,
    body: type.startsWith('application/json') ? (JSON.parse(text) as unknown) : text,
    headers: response.headers,
  };
}

describe('declaration: an endpoint has a prefix and routes of a method, a template and a handler', () => {
  test.each([
    ['GET', undefined, 'get', 'a'],
    ['POST', { sku: 's', quantity: 1 }, 'post', 'a s 1 false'],
    ['PUT', { sku: 's', quantity: 1 }, 'put', 'a s'],
    ['PATCH', { sku: 's', quantity: 1 }, 'patch', 'a s'],
  ])('%s', async (method, body, handler, text) => {
    const answer = await call(method, `${routes}/methods/a`, body);
    expect(answer).toMatchObject({ status: 200, body: { handler, text } });
  });

  test('DELETE', async () => {
    expect(await call('DELETE', `${routes}/methods/a`)).toMatchObject({ status: 204, body: '' });
  });

  test('a path that is declared with other methods answers 405 and says which', async () => {
    const { status, headers } = await call('POST', `${routes}/match/a`, {});
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('a path that is not declared answers 404', async () => {
    expect(await call('GET', `${routes}/nowhere`)).toMatchObject({
      status: 404,
      body: { status: 404 },
    });
  });
});

describe('path parameters bind by name from the template', () => {
  test('in any order of the handler', async () => {
    const { body } = await call('GET', `${routes}/match/1/2/3`);
    expect(body).toEqual({ handler: 'three', text: '1,2,3' });
  });

  test('percent-decoded, an encoded slash included', async () => {
    const { body } = await call('GET', `${routes}/match/a%2Fb%20%C3%A4`);
    expect(body).toEqual({ handler: 'byId', text: 'a/b ä' });
  });

  test('by their type', async () => {
    const { body } = await call('GET', `${routes}/requests/typed/true/-5/9007199254740993/0.5`);
    expect(body).toEqual({ flag: true, small: -5, big: '9007199254740993', real: 0.5 });
  });

  test.each([
    ['yes/1/1/1', 'flag'],
    ['true/1.5/1/1', 'small'],
    ['true/99999999999/1/1', 'small'],
    ['true/1/x/1', 'big'],
    ['true/1/1/one', 'real'],
  ])('one that does not decode answers 400 and is named: %s', async (path, name) => {
    const answer = await call('GET', `${routes}/requests/typed/${path}`);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(name) } });
  });
});

describe('body: for post, put and patch one further typed parameter is the decoded request body', () => {
  test('as JSON of its type', async () => {
    const orders = [
      { sku: 'a', quantity: 2 },
      { sku: 'b', quantity: 40 },
    ];
    expect(await call('POST', `${routes}/bodies/json`, orders)).toMatchObject({
      status: 200,
      body: 42,
    });
  });

  test.each([
    ['[{"sku":"a","quantity":1},{"sku":"b","quantity":"2"}]', '[1].quantity'],
    ['[{"sku":"a"}]', '[0].quantity'],
    ['[{"sku":"a","quantity":1}', ''],
    ['{}', ''],
    ['', ''],
  ])('what does not decode answers 400 with the path: %s', async (body, path) => {
    const answer = await call('POST', `${routes}/bodies/json`, body, {
      'content-type': 'application/json',
    });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(path) } });
  });

  test('as text, and as bytes', async () => {
    const text = await call('POST', `${routes}/bodies/text`, 'grüße', {
      'content-type': 'text/plain',
    });
    expect(text.body).toBe('grüße');
    const bytes = await call('POST', `${routes}/bodies/bytes`, new Uint8Array([1, 2, 3]), {
      'content-type': 'application/octet-stream',
    });
    expect(bytes.body).toBe('\u0003\u0002\u0001');
  });

  test('of another media type answers 415, over 1 MiB 413', async () => {
    const xml = await call('POST', `${routes}/bodies/json`, '<a/>', { 'content-type': 'text/xml' });
    expect(xml.status).toBe(415);
    const large = await call('POST', `${routes}/bodies/text`, 'x'.repeat(1024 * 1024 + 1), {
      'content-type': 'text/plain',
    });
    expect(large.status).toBe(413);
  });
});

describe('reply: the return value is encoded by its type', () => {
  test('Done answers 204', async () => {
    expect(await call('GET', `${routes}/replies/done`)).toMatchObject({ status: 204, body: '' });
  });

  test.each([
    ['text', 'text/plain; charset=utf-8', 'grüße, 世界'],
    ['number', 'application/json', 0.1],
    ['list', 'application/json', ['a', 'b']],
    ['map', 'application/json', { one: 1, two: 2 }],
    ['nothing', 'application/json', null],
    ['html', 'text/html; charset=utf-8', '<p>hello</p>'],
  ])('%s', async (path, type, body) => {
    expect(await call('GET', `${routes}/replies/${path}`)).toMatchObject({
      status: 200,
      type,
      body,
    });
  });

  test('a Response has a status and headers of its own', async () => {
    const created = await call('POST', `${routes}/replies/created`, { sku: 'a', quantity: 1 });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/orders/a');
    expect((await call('GET', `${routes}/replies/moved`)).status).toBe(303);
  });

  test('HEAD answers as GET without the body', async () => {
    const { status, headers, body } = await call('HEAD', `${routes}/replies/text`);
    expect({ status, body, length: headers.get('content-length') }).toEqual({
      status: 200,
      body: '',
      length: String(Buffer.byteLength('grüße, 世界')),
    });
  });

  test.each(['bad-header', 'bad-status/99', 'bad-status/1000'])(
    'what no response may carry is a fault of the module: %s',
    async (path) => {
      const { status, headers, body } = await call('GET', `${routes}/replies/${path}`);
      expect({ status, cookie: headers.get('set-cookie') }).toEqual({ status: 500, cookie: null });
      expect(body).toMatchObject({ errorId: expect.any(String) });
    },
  );
});

describe('precedence: a literal segment is preferred over a parameter at the same position', () => {
  test.each([
    ['/match/latest', { handler: 'latest', text: '' }],
    ['/match/caf%C3%A9', { handler: 'encoded', text: '' }],
    ['/match/caf%c3%a9', { handler: 'encoded', text: '' }],
    ['/match/cafe', { handler: 'byId', text: 'cafe' }],
    ['/match/later', { handler: 'byId', text: 'later' }],
    ['/match/latest/x', { handler: 'latestPart', text: 'x' }],
    ['/match/other/items', { handler: 'items', text: 'other' }],
    ['/match/latest/items', { handler: 'latestPart', text: 'items' }],
  ])('%s', async (path, body) => {
    expect((await call('GET', routes + path)).body).toEqual(body);
  });
});

describe('serving: the runtime applies the access rule and forwards each request', () => {
  test.each(['inherited', 'internet', 'services', 'local', 'nobody'])(
    'on the own machine the caller is local and admitted: %s',
    async (path) => {
      expect(await call('GET', `${routes}/access/${path}`)).toMatchObject({
        status: 200,
        body: path,
      });
    },
  );

  test('the handler sees caller, headers and query string where it asks for the request', async () => {
    expect((await call('GET', `${routes}/requests/caller`)).body).toBe('local');
    const header = await call('GET', `${routes}/requests/header/x-mine`, undefined, {
      'X-Mine': 'yes',
    });
    expect(header.body).toBe('yes');
    expect((await call('GET', `${routes}/requests/query/a?a=1&b=2&a=%20x`)).body).toEqual([
      '1',
      ' x',
    ]);
    expect((await call('GET', `${routes}/requests/raw-query?a=%2F&&=`)).body).toBe('a=%2F&&=');
  });

  test('a caller cannot say who it is', async () => {
    const { body } = await call('GET', `${routes}/requests/headers`, undefined, {
      'X-Svc-Caller': 'service a/b',
    });
    expect(JSON.stringify(body)).not.toContain('x-svc-');
  });
});

describe('entity calls', () => {
  test('go by component id, entity id, wire name and input', async () => {
    await call('POST', `${carts}/carts/one/items`, { sku: 'a', quantity: 1 });
    expect((await call('GET', `${carts}/carts/one`)).body).toMatchObject({ items: [{ sku: 'a' }] });
    expect((await call('GET', `${carts}/carts/two`)).body).toMatchObject({ items: [] });
  });

  test("carry the request's trace", async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { body } = await call('GET', `${routes}/requests/traceparent`, undefined, {
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    expect(body).toContain(`00-${trace}-`);
  });
});

describe("refusals: an entity's refusal becomes the status its error code stands for", () => {
  test.each([
    [0, 400],
    [1, 401],
    [2, 403],
    [3, 404],
    [4, 409],
    [5, 422],
    [6, 429],
  ])('code %i answers %i with message and details', async (code, status) => {
    expect(await call('GET', `${routes}/replies/refused/${code}`)).toMatchObject({
      status,
      body: { status, error: `refused with ${code}`, details: { code } },
    });
  });

  test('through a component call', async () => {
    const refused = await call('DELETE', `${carts}/carts/empty/items/none`);
    expect(refused).toMatchObject({ status: 404, body: { error: "the cart has no 'none'" } });
  });
});

test('registration: an endpoint that is not registered does not exist', async () => {
  expect((await call('GET', `${routes}/unregistered/`)).status).toBe(404);
});

test('stored format: events lie in the journal as JSON with the case name in type, under their manifest', async () => {
  await call('POST', `${carts}/carts/stored/items`, { sku: 'apple', quantity: 2 });
  const database = new DatabaseSync(join(folder, 'shopping-cart', 'journal.sqlite'), {
    readOnly: true,
  });
  const rows = database
    .prepare(
      `SELECT seq, manifest, json FROM journal JOIN entity USING (eno) WHERE entity.id = 'stored' AND component = 'shopping-cart'`,
    )
    .all();
  database.close();
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ seq: 1, manifest: 'cart-event' });
  expect(JSON.parse(String(rows[0]!['json']))).toEqual({
    type: 'item-added',
    sku: 'apple',
    quantity: 2,
  });
});

test('wire names: renaming a handler in the code changes nothing that is stored or routed by', async () => {
  const source = join(folder, 'renamed');
  cpSync(join(import.meta.dirname, '../../fixtures/shopping-cart/assembly'), source, {
    recursive: true,
  });
  for (const file of ['cart.ts', 'cart-endpoint.ts']) {
    const code = readFileSync(join(source, file), 'utf8');
    expect(code).toContain('addItem(');
    writeFileSync(join(source, file), code.replaceAll('addItem(', 'putItem('));
  }
  const { component, descriptor } = await buildComponent({
    entryFile: join(source, 'index.ts'),
    optimizeLevel: 0,
  });
  expect(descriptor.entities[0]!.commands.map(({ name }) => name)).toContain('add-item');
  const module = join(folder, 'renamed.wasm');
  writeFileSync(module, component);

  const data = join(folder, 'renamed-data');
  const original = new SvcProcess([
    'run',
    join(folder, 'shopping-cart.wasm'),
    '--port',
    '0',
    '--data',
    data,
  ]);
  await call('POST', `${await original.listening()}/carts/c/items`, { sku: 'a', quantity: 1 });
  await original.end('SIGTERM');
  const renamed = new SvcProcess(['run', module, '--port', '0', '--data', data]);
  const url = await renamed.listening();
  const { body } = await call('POST', `${url}/carts/c/items`, { sku: 'a', quantity: 1 });
  expect(body).toMatchObject({ items: [{ sku: 'a', quantity: 2 }] });
  await renamed.end('SIGTERM');
});
