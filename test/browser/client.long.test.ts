// The client of the control plane on a page: its sources, without types, in a real browser, against a real HTTP server.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { launchBrowser, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The client is not tried in a browser: ${noBrowser}.\n`);

vi.setConfig({ testTimeout: 60_000 });

const folder = join(import.meta.dirname, '../../client');

/** Calls of the client on the page: a write that is sent twice, an invalid one, a refusal, and a redirect. */
const CALLS = `import('/client/index.ts').then(async ({ createClient }) => {
  const client = createClient({ baseUrl: location.origin + '/api', token: 't', retries: { pauseMs: 1 } });
  const failed = (call) => call.then(() => 'done', (error) => error.name + ': ' + (error.reason ?? error.kind ?? error.message));
  return [
    await failed(client.removeMember({ organizationId: 'acme', subject: 'auth0|a/b' })),
    await failed(client.applyService({ projectId: 'shop', name: 'cart', body: { name: 'cart' } })),
    await failed(client.getProject({ projectId: 'shop' })),
    await failed(client.whoami()),
  ];
})`;

/** Serves the page, the sources of the client, and the answers of a control plane. */
function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  calls: string[],
): void {
  if (!url.startsWith('/api/')) {
    const isSource = url.startsWith('/client/');
    response.setHeader('Content-Type', isSource ? 'text/javascript' : 'text/html');
    response.end(
      isSource
        ? stripTypeScriptTypes(readFileSync(join(folder, url.slice('/client/'.length)), 'utf8'))
        : '<!doctype html><html lang="en"><title>Client</title>',
    );
    return;
  }
  calls.push(`${method} ${url}`);
  if (method === 'DELETE' && calls.length === 1) response.destroy();
  else if (method === 'DELETE') response.writeHead(204).end();
  else if (url === '/api/auth/whoami') response.writeHead(307, { Location: '/elsewhere' }).end();
  else response.writeHead(404).end('{"status":404,"error":"there is no such project"}');
}

describe.skipIf(noBrowser !== undefined)('the client on a page', () => {
  test('sends again, refuses, and reads refusals as in Node', async () => {
    const calls: string[] = [];
    const server = createServer((request, response) => answer(request, response, calls));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const browser = await launchBrowser();
    onTestFinished(async () => browser.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = await browser.newPage();
    await page.goto(url);
    expect(await page.evaluate(CALLS)).toEqual([
      'done',
      'InvalidRequestError: applyService was not sent:\nimage: is missing',
      'ApiError: there is no such project',
      'NoAnswerError: foreign',
    ]);
    expect(calls).toEqual([
      'DELETE /api/organizations/acme/members/auth0%7Ca%2Fb',
      'DELETE /api/organizations/acme/members/auth0%7Ca%2Fb',
      'GET /api/projects/shop',
      'GET /api/auth/whoami',
    ]);
  });
});
