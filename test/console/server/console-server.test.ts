// The responses and refusals of the console: its page, and the introspection of services.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startConsole } from '../../../console/server/console.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { answerJson, StandInService } from '../support/stand-in-service.ts';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

test('answers have the strict CSP, whatever they are', async () => {
  const served = await ConsoleUnderTest.start();
  for (const path of [
    '/',
    '/assets/index-1a2b.js',
    '/api/services',
    '/nothing',
    '/api/services/x/call',
  ]) {
    const { headers } = await served.ask(path);
    expect(headers).toMatchObject({
      'content-security-policy': CSP,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

test('the page and its files are served, hashed names for ever', async () => {
  const served = await ConsoleUnderTest.start();
  for (const path of ['/', '/?x=1', '/index.html'])
    expect(await served.ask(path)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      text: '<!doctype html><title>svc</title>',
    });
  expect(await served.ask('/assets/index-1a2b.js')).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    },
    text: 'let x;',
  });
  expect(await served.ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  expect(await served.ask('/', { method: 'POST' })).toMatchObject({
    status: 405,
    headers: { allow: 'GET, HEAD' },
  });
});

test.each([
  '/../secret.html',
  '/assets/../../secret.html',
  '/assets/..%2f..%2fsecret.html',
  '/assets/%2e%2e/%2e%2e/secret.html',
  '/..\\secret.html',
  '//index.html',
  '/assets/',
  '/assets',
  'http://127.0.0.1/index.html',
])('../ in the path of an asset is 404: %s', async (path) => {
  const served = await ConsoleUnderTest.start();
  expect(await served.ask(path)).toMatchObject({ status: 404, json: { status: 404 } });
});

test.each([
  ['a name that leads here', { host: 'rebinding.example' }],
  ['a name that begins as this one', { host: '127.0.0.1.example:9889' }],
  ['another port', { host: '127.0.0.1:1' }],
  ['no port', { host: '127.0.0.1' }],
])('a foreign Host is refused: %s', async (_what, headers) => {
  const served = await ConsoleUnderTest.start();
  for (const path of ['/', '/api/services'])
    expect(await served.ask(path, { headers })).toMatchObject({ status: 403 });
});

test('localhost and ::1 are names of the console', async () => {
  const served = await ConsoleUnderTest.start();
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    const host = `${name}:${served.port}`;
    const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    expect(await served.ask('/api/services', { headers })).toMatchObject({ status: 200 });
  }
});

test.each([
  ['another origin', { origin: 'https://example.com' }],
  ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ['a sandboxed page', { origin: 'null' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a page of another port', { 'sec-fetch-site': 'same-site' }],
])('a page of another origin can send nothing: %s', async (_what, foreign) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  await served.ask('/api/services');
  const heard = service.heard.length;
  for (const path of [
    '/',
    '/api/services',
    `/api/services/${service.instanceId}/observability/live`,
  ])
    expect(await served.ask(path, { headers: foreign })).toMatchObject({ status: 403 });
  expect(await served.call(service.instanceId, { path: '/' }, foreign)).toMatchObject({
    status: 403,
  });
  expect(service.heard).toHaveLength(heard);
});

test('what a service shows is passed on with its status', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    observed: ({ url, method }, response) =>
      answerJson(response, url.includes('query') ? 405 : 200, { url, method }),
  });
  const base = `/api/services/${service.instanceId}`;
  for (const path of [
    '/observability/traces?limit=5&component=a%20b',
    '/observability/entities/cart/a%2Fb/history?from=3',
    '/observability/openapi.json',
    '/observability/sessions/7',
    '/observability/dev',
    '/observability/faults',
  ])
    expect(await served.ask(`${base}${path}`)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      json: { url: path, method: 'GET' },
    });
  const command = await served.ask(`${base}/observability/query/cart/a/add`);
  expect(command.status).toBe(405);
  expect((await served.ask(`${base}/observability/service`)).json).toEqual(service.description());
});

test.each([
  '/observability',
  '/observability/',
  '/observability/commands/x',
  '/observability/service2',
  '/observability/..%2fx',
  '/observability/../../carts/1',
  '/Observability/service',
  '/call/x',
  '',
])('a service is asked for nothing else: %s', async (path) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  await served.ask('/api/services');
  const heard = service.heard.length;
  const answer = await served.ask(`/api/services/${service.instanceId}${path}`);
  expect(answer.status).toBe(404);
  expect(service.heard).toHaveLength(heard);
});

test('what a service shows is read, and never sent to', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  for (const method of ['POST', 'PUT', 'DELETE'])
    expect(
      await served.ask(`/api/services/${service.instanceId}/observability/live`, { method }),
    ).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  expect(service.heard).toEqual([]);
});

test('the input of a query may be as long as a service takes it, and no longer', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const path = '/observability/query/cart/1/get?input=';
  const asked = async (length: number) =>
    served.ask(`/api/services/${service.instanceId}${path}${'1'.repeat(length)}`);
  expect((await asked(60_000)).status).toBe(404);
  expect(service.heard.at(-1)).toMatchObject({ url: path + '1'.repeat(60_000) });
  expect((await asked(70_000)).status).toBe(431);
});

test('a service that nobody has heard of is 404', async () => {
  const served = await ConsoleUnderTest.start();
  for (const id of ['0000000000000000', '..', '%2e%2e', 'a b'.replace(' ', '%20'), ''])
    expect(await served.ask(`/api/services/${id}/observability/live`)).toMatchObject({
      status: 404,
    });
});

test('a service is found before anybody has asked for the list', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  const path = `/api/services/${service.instanceId}/observability/service`;
  expect(await served.ask(path)).toMatchObject({ status: 200 });
});

test('a dead service: each request says so', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  await served.ask('/api/services');
  service.kill();
  const base = `/api/services/${service.instanceId}`;
  const read = await served.ask(`${base}/observability/live`);
  expect(read).toMatchObject({ status: 502, json: { status: 502 } });
  expect(read.text).toContain('ECONNREFUSED');
  const called = await served.call(service.instanceId, { path: '/carts/1' });
  expect(called).toMatchObject({ status: 502 });
  expect(called.text).toContain('Nothing was sent');
});

test('a service that does not answer in time is 504', async () => {
  const served = await ConsoleUnderTest.start({ observedDeadlineMs: 50 });
  const service = await StandInService.start({ folder: served.folder, observed: () => {} });
  const answer = await served.ask(`/api/services/${service.instanceId}/observability/live`);
  expect(answer).toMatchObject({ status: 504, json: { status: 504 } });
});

test('an answer is not larger than its bound', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    observed: (_heard, response) => response.end('x'.repeat(9 * 1024 * 1024)),
  });
  const answer = await served.ask(`/api/services/${service.instanceId}/observability/traces`);
  expect(answer).toMatchObject({ status: 502, json: { status: 502 } });
  expect(answer.text).toContain('8388608 bytes');
});

test('connections that cannot be accepted are reported, and others are answered', async () => {
  const served = await ConsoleUnderTest.start();
  const servers = new Set<Server>();
  const keep = (message: unknown) => servers.add((message as { server: Server }).server);
  subscribe('http.server.request.start', keep);
  onTestFinished(() => void unsubscribe('http.server.request.start', keep));
  expect((await served.ask('/')).status).toBe(200);
  const [server] = servers;
  const errors = [new Error('accept ENFILE'), new Error('accept ENFILE')];
  for (const error of errors) server!.emit('error', error);
  expect(served.bugs).toEqual(errors);
  expect((await served.ask('/')).status).toBe(200);
});

test('a console without its page does not start', async () => {
  const pageFolder = temporaryFolder();
  const options = { port: 0, runningFolder: pageFolder, pageFolder, failed: () => {} };
  await expect(startConsole(options)).rejects.toMatchObject({
    code: 'SVC_CONSOLE_UNAVAILABLE',
    message: expect.stringContaining(pageFolder) as string,
  });
});
