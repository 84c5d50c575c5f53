import { describe, expect, test } from 'vitest';
import { LOCAL } from '../../../host/http/access.ts';
import type { HttpLogFields } from '../../../host/http/http-log.ts';
import { createHttpServer } from '../../../host/http/http-server.ts';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import { ask, descriptorOf, gate, get, ok, RawClient, start, TEXT_BODY } from './http-harness.ts';

const ONE_ROUTE = descriptorOf([['GET', '/a']]);

/** A server that stores the requests which its handler receives. */
async function startWitness(...routes: Parameters<typeof descriptorOf>[0]) {
  const seen: EndpointRequest[] = [];
  const running = await start({
    descriptor: descriptorOf(routes),
    handle: (request) => {
      seen.push(request);
      return ok();
    },
  });
  return { ...running, seen };
}

describe('routing', () => {
  test('a request reaches the handler of its route with its parameters and its query', async () => {
    const { url, seen } = await startWitness(['GET', '/x'], ['GET', '/carts/{id}/items/{item}']);
    const response = await fetch(`${url}/carts/c%201/items/%E2%82%AC?full=1&x=%zz`);
    expect(await response.text()).toBe('ok');
    expect(seen).toMatchObject([
      {
        route: 1,
        parameters: ['c 1', '€'],
        query: 'full=1&x=%zz',
        caller: 'local',
        body: { kind: 'none' },
      },
    ]);
  });

  test('an encoded slash does not split a segment', async () => {
    const { port, seen } = await startWitness(['GET', '/carts/{id}']);
    expect((await ask(port, get('/carts/a%2Fb'))).status).toBe(200);
    expect(seen[0]?.parameters).toEqual(['a/b']);
  });

  test.each(['/', '/a/', '//a', '/./a', '/b/../a', '/A', '/a/%2e%2e/a', '/a;x'])(
    'the path %s is not the path /a: 404',
    async (path) => {
      const { port } = await start({ descriptor: ONE_ROUTE });
      const answer = await ask(port, get(path));
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(JSON.parse(answer.body)).toEqual({ status: 404, error: 'There is no such path.' });
    },
  );

  test.each(['/%', '/%zz', '/%ff', '/a%C3', '/%C0%AF', '/%ED%A0%80'])(
    'the malformed path %s is 400',
    async (path) => {
      const { port } = await start({ descriptor: descriptorOf([['GET', '/{x}']]) });
      const answer = await ask(port, get(path));
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toEqual({
        status: 400,
        error: 'The path has a percent-encoding that is not UTF-8.',
      });
    },
  );

  test('a path of bytes beyond ASCII is 400', async () => {
    const { port } = await start({ descriptor: descriptorOf([['GET', '/{x}']]) });
    expect((await ask(port, get('/caf\u00c3\u00a9'))).status).toBe(400);
  });

  test('a very long parameter is served like a short one', async () => {
    const { port, seen } = await startWitness(['GET', '/{x}']);
    expect((await ask(port, get(`/${'x'.repeat(5000)}`))).status).toBe(200);
    expect(seen[0]?.parameters[0]).toHaveLength(5000);
  });

  test('the address in the form that proxies send names the same path', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    expect((await ask(port, get('http://elsewhere.test/a'))).status).toBe(200);
  });

  test('a template that other routers would read in their own way is served as a literal', async () => {
    const { port } = await start({
      descriptor: descriptorOf([
        ['GET', '/:id'],
        ['GET', '/*'],
        ['GET', '/a(.*)'],
      ]),
    });
    expect((await ask(port, get('/:id'))).status).toBe(200);
    expect((await ask(port, get('/*'))).status).toBe(200);
    expect((await ask(port, get('/a(.*)'))).status).toBe(200);
    expect((await ask(port, get('/anything'))).status).toBe(404);
  });

  test('a parameter name of the module never becomes code', async () => {
    const { port, seen } = await startWitness(['GET', '/{__proto__}/{constructor}']);
    expect((await ask(port, get('/1/2'))).status).toBe(200);
    expect(seen[0]?.parameters).toEqual(['1', '2']);
    expect(Object.hasOwn(Object.prototype, '1')).toBe(false);
  });
});

describe('methods', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'FOO', 'get'])(
    '%s on a path of GET is 405 and says what is allowed',
    async (method) => {
      const { port } = await start({ descriptor: ONE_ROUTE });
      const answer = await ask(port, `${method} /a HTTP/1.1\r\nhost: t\r\n\r\n`);
      expect(answer.status).toBe(405);
      expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
      expect(JSON.parse(answer.body)).toEqual({
        status: 405,
        error: 'This path takes GET, HEAD, OPTIONS.',
      });
    },
  );

  test('an unknown path is 404 whatever the method', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    for (const method of ['POST', 'OPTIONS', 'PROPFIND'])
      expect((await ask(port, `${method} /b HTTP/1.1\r\nhost: t\r\n\r\n`)).status).toBe(404);
  });

  test('OPTIONS on a known path is 204 with what is allowed, and admits no other origin', async () => {
    const { port } = await start({
      descriptor: descriptorOf([
        ['POST', '/a/{x}', TEXT_BODY],
        ['GET', '/a/b'],
      ]),
    });
    const answer = await ask(
      port,
      'OPTIONS /a/b HTTP/1.1\r\nhost: t\r\norigin: http://evil.test\r\naccess-control-request-method: POST\r\n\r\n',
    );
    expect(answer.status).toBe(204);
    expect(answer.headers['allow']).toBe('GET, HEAD, POST, OPTIONS');
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-'))).toEqual([]);
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  test('OPTIONS of the server as a whole is 204', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    expect((await ask(port, 'OPTIONS * HTTP/1.1\r\nhost: t\r\n\r\n')).status).toBe(204);
    expect((await ask(port, 'GET * HTTP/1.1\r\nhost: t\r\n\r\n')).status).toBe(400);
  });

  test('HEAD answers as GET does, without the content and with its length', async () => {
    const { port } = await start({
      descriptor: ONE_ROUTE,
      handle: () => ok('grün', [['x-own', '1']]),
    });
    const client = new RawClient(port);
    const head = await client.send('HEAD /a HTTP/1.1\r\nhost: t\r\n\r\n').answer(false);
    const full = await client.send(get('/a')).answer();
    expect(head.body).toBe('');
    expect(head.status).toBe(200);
    expect({ ...head.headers, date: '' }).toEqual({ ...full.headers, date: '' });
    expect(head.headers['content-length']).toBe('5');
  });

  test('HEAD of an error has the length of the error and no content', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    const client = new RawClient(port);
    const head = await client.send('HEAD /b HTTP/1.1\r\nhost: t\r\n\r\n').answer(false);
    expect(head.status).toBe(404);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
    expect((await client.send(get('/a')).answer()).status).toBe(200);
  });
});

describe('connections', () => {
  test('a connection serves one request after the other', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    const client = new RawClient(port);
    for (let round = 0; round < 3; round++)
      expect((await client.send(get('/a')).answer()).status).toBe(200);
  });

  test('pipelined requests are answered in their order', async () => {
    const first = gate();
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/{x}']]),
      handle: async (request) => {
        if (request.parameters[0] === '1') await first.passed;
        else first.open();
        return ok(request.parameters[0]);
      },
    });
    const client = new RawClient(port).send(get('/1') + get('/2'));
    expect((await client.answer()).body).toBe('1');
    expect((await client.answer()).body).toBe('2');
  });

  test('HTTP/1.0 without Host is served and closed', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    const client = new RawClient(port).send('GET /a HTTP/1.0\r\n\r\n');
    expect((await client.answer()).body).toBe('ok');
    await client.closed();
  });

  test('more connections than the limit are closed, and those before go on', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE, settings: { connectionsMax: 1 } });
    const client = new RawClient(port);
    expect((await client.send(get('/a')).answer()).status).toBe(200);
    const further = new RawClient(port).send(get('/a'));
    expect(await further.rest()).toBe('');
    expect((await client.send(get('/a')).answer()).status).toBe(200);
  });

  test('an idle connection is closed after its time', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE, settings: { keepAliveTimeoutMs: 50 } });
    const client = new RawClient(port);
    expect((await client.send(get('/a')).answer()).status).toBe(200);
    await client.closed();
  });
});

test('garbage behind a body does not take the answer from its request', async () => {
  const { port } = await start({
    descriptor: descriptorOf([['POST', '/a', TEXT_BODY]]),
    handle: (request) => ok((request.body as { text: string }).text),
  });
  const client = new RawClient(port).send(
    'POST /a HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nabcgarbage\r\n\r\n',
  );
  expect((await client.answer()).body).toBe('abc');
  expect((await client.answer()).status).toBe(400);
  expect(await client.rest()).toBe('');
});

describe('listen', () => {
  test('a port in use is named with what to do', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    await expect(create().listen({ host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`^Port ${port} of 127.0.0.1 .*--port`)),
    });
  });

  test('an address of another machine is refused', async () => {
    await expect(create().listen({ host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
      code: 'SVC_ADDRESS_UNAVAILABLE',
      message: expect.stringContaining('192.0.2.1'),
    });
  });

  test('port 0 takes a free port, and the address says which', async () => {
    const server = create();
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    expect(address).toEqual({ host: '127.0.0.1', port: expect.any(Number) });
    expect(await (await fetch(`http://127.0.0.1:${address.port}/a`)).text()).toBe('ok');
    await server.stop(0);
  });

  test('the port is free again after the stop', async () => {
    const first = create();
    const address = await first.listen({ host: '127.0.0.1', port: 0 });
    await first.stop();
    const second = create();
    expect(await second.listen(address)).toEqual(address);
    await second.stop();
  });

  test('a server that never listened can stop', async () => {
    const server = create();
    await expect(server.stop()).resolves.toEqual({ hasCut: false });
  });

  test.each([
    { answerTimeoutMs: 0 },
    { answerTimeoutMs: 2 ** 31 },
    { requestsInFlightMax: 0 },
    { bodyBytesMax: -1 },
    { headersMax: 1.5 },
    { headersTimeoutMs: 2, requestTimeoutMs: 1 },
  ])('the settings %j are refused', (settings) => {
    expect(() => create(settings)).toThrow(
      expect.objectContaining({ code: 'SVC_SETTING_INVALID' }),
    );
  });

  test.each([
    [
      { responseBytesMax: 65_537, unsentBytesMax: 65_536 },
      /svc\.http\.response-bytes-max is 65537 bytes, more than svc\.http\.unsent-bytes-max .* Raise svc\.http\.unsent-bytes-max to 65537/,
    ],
    [
      { bodyBytesMax: 65_537, bodyBytesTotalMax: 65_536 },
      /svc\.http\.body-bytes-max is 65537 bytes, more than svc\.http\.body-bytes-total-max .* Raise svc\.http\.body-bytes-total-max to 65537/,
    ],
    [
      { headersTimeoutMs: 2, requestTimeoutMs: 1 },
      /svc\.http\.headers-timeout-ms is 2, longer than svc\.http\.request-timeout-ms/,
    ],
    [{ headersMax: 0 }, /svc\.http\.headers-max takes a whole number from 1 to/],
  ])('the settings %j are refused under the names that an operator sets', (settings, problem) => {
    expect(() => create(settings)).toThrow(problem);
  });
});

function create(settings = {}) {
  return createHttpServer({
    routes: new RouteTable(ONE_ROUTE),
    handle: () => ok(),
    settings: { ...HTTP_SETTINGS_DEFAULT, ...settings },
    log: { warn: fail, error: fail },
    random: { next64: () => 1n },
    callerOf: () => LOCAL,
  });
}

function fail(fields: HttpLogFields) {
  expect.fail(fields.reason);
}
