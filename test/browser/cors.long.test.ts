// Pages of other origins in a real browser with a real service: the requests that their scripts may send, and the
// responses that they may read.
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { launchBrowser, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`CORS is not tried in a browser: ${noBrowser}.\n`);

const folder = temporaryFolderOfFile();
const SOURCES = join(import.meta.dirname, '../../fixtures/notes');
const JSON_TYPE = { 'content-type': 'application/json' };
/** The error that a script sees for a request that the browser blocked. */
const KEPT = { failed: 'TypeError' };

let browser: Browser;
/** Serves an empty page at as many origins as this machine has names. */
let pages: Server;
let shop: Page;
let stranger: Page;
const services: SvcProcess[] = [];

/** Many times the duration of a build, in milliseconds. */
const WAIT_MS = 50_000;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

function originOf(host: string): string {
  return `http://${host}:${(pages.address() as AddressInfo).port}`;
}

async function open(origin: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin);
  return page;
}

/** Returns the address of a service that this command line runs. */
async function start(name: string, ...words: readonly string[]): Promise<string> {
  const options = ['--port', '0', '--name', name];
  const env = { SVC_RUNNING_DIR: join(folder, 'running') };
  const service = new SvcProcess([...words, ...options], { env });
  services.push(service);
  return service.listening();
}

/** Starts a service of the fixture. */
async function serve(name: string, ...settings: readonly string[]): Promise<string> {
  const module = join(folder, `${name}.wasm`);
  writeFileSync(module, await compileFixture('notes'));
  const words = ['run', module, '--data', join(folder, name), '--cors', originOf('localhost')];
  return start(name, ...words, ...settings);
}

/** Starts `svc dev` on a copy of the fixture's sources. */
async function develop(name: string): Promise<string> {
  cpSync(SOURCES, join(folder, name), { recursive: true });
  return start(name, 'dev', join(folder, name), '--cors', originOf('localhost'));
}

interface Seen {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns what a script of the page sees of a request. */
async function send(
  page: Page,
  url: string,
  init: Readonly<Record<string, unknown>> = {},
): Promise<Seen | typeof KEPT> {
  const script = `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (answer) => ({ status: answer.status, body: await answer.text(), headers: Object.fromEntries(answer.headers) }),
    (error) => ({ failed: error.name }))`;
  return page.evaluate<Seen | typeof KEPT>(script);
}

const put = (text: string) => ({
  method: 'PUT',
  headers: JSON_TYPE,
  body: JSON.stringify({ text }),
});

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  pages = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>page</title>'),
  );
  await new Promise<void>((resolve) => {
    pages.listen(0, '127.0.0.1', resolve);
  });
  browser = await launchBrowser();
  [shop, stranger] = await Promise.all([
    open(originOf('localhost')),
    open(originOf('stranger.localhost')),
  ]);
});

afterAll(async () => {
  for (const { child } of services) child.kill('SIGTERM');
  await Promise.all([browser?.close(), ...services.map(({ ended }) => ended)]);
  pages?.close();
});

describe.skipIf(noBrowser !== undefined).each([
  ['svc run', () => serve('notes')],
  ['svc dev', () => develop('written')],
])('a page of another origin than a service of %s', (_how, begin) => {
  let url: string;
  beforeAll(async () => {
    url = await begin();
  });

  test('that is allowed reads what a simple request is answered', async () => {
    const seen = await send(shop, `${url}/notes/a`);
    expect(seen).toMatchObject({ status: 200, body: '{"text":"a no cookie"}' });
    // The page cannot read a header that the operator does not expose.
    expect(seen).not.toHaveProperty('headers.etag');
  });

  test('that is allowed sends JSON and keys of idempotency, after a preflight', async () => {
    const init = put('hello');
    const keyed = { ...init, headers: { ...JSON_TYPE, 'idempotency-key': 'k1' } };
    expect(await send(shop, `${url}/notes/a`, keyed)).toMatchObject({
      status: 200,
      body: '{"text":"hello"}',
    });
  });

  test('that is allowed reads the bodies of refusals and failures', async () => {
    const refused = await send(shop, `${url}/notes/a`, put(''));
    expect(refused).toMatchObject({
      status: 422,
      body: '{"status":422,"error":"A note has a text."}',
    });
    const malformed = { method: 'PUT', headers: JSON_TYPE, body: '{' };
    expect(await send(shop, `${url}/notes/a`, malformed)).toMatchObject({ status: 400 });
    const plain = { method: 'PUT', body: 'x' };
    expect(await send(shop, `${url}/notes/a`, plain)).toMatchObject({ status: 415 });
    const fault = await send(shop, `${url}/notes/a/fault`, { method: 'POST' });
    expect(fault).toMatchObject({ status: 500, body: expect.stringContaining('"errorId":"') });
  });

  test('that is allowed sends no other header, and no cookie that it could read with', async () => {
    const headers = { 'x-tenant': '1' };
    expect(await send(shop, `${url}/notes/a`, { headers })).toEqual(KEPT);
    expect(await send(shop, `${url}/notes/a`, { credentials: 'include' })).toEqual(KEPT);
  });

  test('that is not allowed reads nothing, though the module says that every page may', async () => {
    // The request reaches the service, but the page cannot read the answer.
    expect(await send(stranger, `${url}/notes/a`, { mode: 'no-cors' })).toMatchObject({
      status: 0,
      body: '',
    });
    expect(await send(stranger, `${url}/notes/a`)).toEqual(KEPT);
    expect(await send(stranger, `${url}/notes/a`, { credentials: 'include' })).toEqual(KEPT);
    expect(await send(stranger, `${url}/notes/a`, put('x'))).toEqual(KEPT);
  });

  test('reaches no route of the own machine, and none that is not meant for pages', async () => {
    // The browser is on this machine, so the rule alone would admit the request.
    const removed = await fetch(`${url}/notes/a`, { method: 'DELETE' });
    expect(removed.status).toBe(200);
    expect(await send(shop, `${url}/notes/a`, { method: 'DELETE' })).toEqual(KEPT);
    expect(await send(shop, `${url}/drafts/a`)).toEqual(KEPT);
    // The module allows another origin than the operator does.
    expect(await send(shop, `${url}/drafts/a`, put('x'))).toEqual(KEPT);
  });
});

describe.skipIf(noBrowser !== undefined)('a page of another origin', () => {
  test('reads with cookies and sees further headers where the operator says so', async () => {
    const own = await serve(
      'credentialed',
      '--set=svc.http.cors.credentials=true',
      '--set=svc.http.cors.headers=x-tenant',
      '--set=svc.http.cors.exposed-headers=etag',
    );
    // Without TLS a browser sends cookies only to its own site; ports do not matter for the site.
    const near = own.replace('127.0.0.1', 'localhost');
    const init = { credentials: 'include', headers: { 'x-tenant': '1' } };
    const cookie = { name: 'session', value: 's1', domain: 'localhost', path: '/' };
    await shop.context().addCookies([cookie]);
    expect(await send(shop, `${near}/notes/a`, init)).toMatchObject({
      status: 200,
      body: '{"text":"a session=s1"}',
      headers: { etag: '"1"' },
    });
    expect(await send(stranger, `${own}/notes/a`, { credentials: 'include' })).toEqual(KEPT);
  });

  test('reads nothing at all of a service whose operator allows no origin', async () => {
    const closed = await serve('closed', '--cors', 'none');
    expect(await send(shop, `${closed}/notes/a`)).toEqual(KEPT);
    expect(await send(shop, `${closed}/notes/a`, put('x'))).toEqual(KEPT);
  });

  test('reads what the module that is worked on allows, as soon as it is served', async () => {
    const url = await develop('edited');
    const entry = join(folder, 'edited', 'assembly', 'index.ts');
    const source = readFileSync(entry, 'utf8');
    const headers = { origin: originOf('localhost'), connection: 'close' };
    // The port is closed while the modules change.
    const allowed = () =>
      fetch(`${url}/notes/a`, { headers }).then(
        (answer) => answer.headers.get('access-control-allow-origin'),
        () => 'no answer',
      );
    expect(await send(shop, `${url}/notes/a`)).toMatchObject({ status: 200 });
    writeFileSync(entry, source.replace('@cors\nexport', 'export'));
    await expect.poll(allowed, { timeout: WAIT_MS }).toBeNull();
    expect(await send(shop, `${url}/notes/a`)).toEqual(KEPT);
    writeFileSync(entry, source);
    await expect.poll(allowed, { timeout: WAIT_MS }).toBe(originOf('localhost'));
    expect(await send(shop, `${url}/notes/a`)).toMatchObject({ status: 200 });
  });
});
