// Calls of other services between real processes: on a developer's machine by their registrations, and deployed with mutual TLS.
import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CertificateTexts } from '../../identity/certificates.ts';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import { CART, GATEWAY, textsOf } from '../support/certificates/test-identities.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'calling.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('calling')));

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly denied: string;
}

const sentText = (sent: object) =>
  JSON.stringify({
    service: 'billing',
    method: 'GET',
    path: '/echo',
    headers: [],
    body: '',
    times: 1,
    ...sent,
  });
const errorOf = ({ body }: Answer) => (JSON.parse(body) as { readonly error: string }).error;

/** Has a service on a developer's machine make a request, and returns what it got. */
async function made(url: string, sent: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/calls/raw`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: sentText(sent),
  });
  expect(response.status).toBe(200);
  const [answer] = (await response.json()) as readonly Answer[];
  return answer!;
}

const running = () => {
  const folder = temporaryFolder();
  return async (name: string, dataFolder = temporaryFolder()) => {
    const words = ['run', module, '--name', name, '--data', dataFolder, '--port', '0'];
    const retries = ['--set', 'svc.consumers.attempts-max=1000'];
    const env = { SVC_RUNNING_DIR: folder };
    const svc = new SvcProcess([...words, ...retries], { env });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    return { svc, url: await svc.listening() };
  };
};

describe("on a developer's machine", () => {
  test('services find each other by their registrations, and the trace goes along', async () => {
    const start = running();
    const caller = await start('caller');
    const nobody = await made(caller.url, {});
    expect([nobody.status, errorOf(nobody)]).toEqual([503, 'The service billing cannot be found.']);
    expect(nobody.headers).toContainEqual(['x-svc-answered-by', 'proxy']);

    const billing = await start('billing');
    const trace = 'a'.repeat(32);
    const headers = [
      ['X-Own', 'yes'],
      ['X-Svc-Caller', 'service shop/forged'],
      ['traceparent', 'forged'],
    ];
    const echo = await made(
      caller.url,
      {
        method: 'POST',
        path: '/echo?a=b',
        headers: [...headers, ['content-type', 'text/plain']],
        body: 'hé',
      },
      { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'v=1' },
    );
    const lines = JSON.parse(echo.body) as readonly string[];
    expect(lines.slice(0, 3)).toEqual(['caller: local', 'query: a=b', 'body: hé']);
    expect(lines).toContain('x-own: yes');
    expect(lines).toContain('tracestate: v=1');
    expect(lines.filter((line) => line.startsWith('x-svc') || line.includes('forged'))).toEqual([]);
    const own = lines.find((line) => line.startsWith('traceparent'));
    expect(own).toMatch(new RegExp(`^traceparent: 00-${trace}-[0-9a-f]{16}-01$`));
    expect(own).not.toContain('00f067aa0ba902b7');

    const denied = await made(caller.url, { path: '/a\r\nx: y' });
    expect(denied).toMatchObject({
      status: 0,
      denied: expect.stringContaining('the path') as string,
    });
    const answers = await Promise.all(
      ['/calls/billing/invoices/i7', '/calls/billing/invoices/none'].map(async (path) => {
        const response = await fetch(caller.url + path);
        return [response.status, await response.json()];
      }),
    );
    expect(answers).toEqual([
      [200, { id: 'i7', cents: 990 }],
      [404, { status: 404, error: "service 'billing' answered 404: there is no invoice none" }],
    ]);
    const created = await fetch(`${caller.url}/calls/billing/invoices`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"cents":7}',
    });
    expect(await created.text()).toBe('i7 at /invoices/i7 201');

    // It waits for its first command to be on disk, and for the call; nothing is done twice.
    const ordered = await fetch(`${caller.url}/calls/billing/orders/none_1`, { method: 'POST' });
    expect([ordered.status, await ordered.text()]).toEqual([200, '1']);

    expect((await billing.svc.end('SIGTERM')).code).toBe(0);
    // The caller remembers for half a second where the service was: until then it does not listen.
    const outcome = async () => {
      const gone = await made(caller.url, { method: 'POST' });
      return [gone.status, errorOf(gone)];
    };
    await expect
      .poll(outcome, { timeout: 10_000 })
      .toEqual([503, 'The service billing cannot be found.']);
    expect((await caller.svc.end('SIGTERM')).code).toBe(0);
  });

  test('a consumer calls until the service answers, past a kill, and with its key that is done once', async () => {
    const start = running();
    const data = temporaryFolder();
    const first = await start('caller', data);
    const placed = await fetch(`${first.url}/calls/orders/billing_1`, { method: 'POST' });
    expect(placed.status).toBe(204);
    await first.svc.logged(/A service was not found or not reached/);
    await first.svc.end('SIGKILL');
    const billing = await start('billing');
    const second = await start('caller', data);
    const received = async () => {
      const response = await fetch(`${billing.url}/received/billing_1`);
      return ((await response.json()) as { readonly count: number }).count;
    };
    await expect.poll(received, { timeout: 20_000 }).toBe(1);
    await second.svc.end('SIGKILL');
    const third = await start('caller', data);
    const again = await fetch(`${third.url}/calls/orders/billing_1`, { method: 'POST' });
    expect(again.status).toBe(204);
    await expect.poll(received, { timeout: 20_000 }).toBe(2);
  });
});

const settingsOf = (folder: string) => [
  `svc.identity.folder=${folder}`,
  'svc.identity.trust-domain=td',
  `svc.identity.gateway=${GATEWAY}`,
  'svc.project=shop',
  'svc.http.host=127.0.0.1',
];
const idOf = (service: string) => CART.replace('cart', service);

/** Posts on a new connection of mutual TLS. */
async function post(
  url: string,
  body: string,
  { certificate, key, authorities }: CertificateTexts,
) {
  const agent = new Agent({ maxCachedSessions: 0 });
  onTestFinished(() => agent.destroy());
  const sent = request(url, {
    agent,
    method: 'POST',
    cert: certificate,
    key,
    ca: authorities,
    checkServerIdentity: () => undefined,
    headers: { 'content-type': 'application/json' },
  }).end(body);
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  return { status: response.statusCode, body: (await response.toArray()).join('') };
}

const deploy = async (service: string, ...more: string[]) => {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  mountCertificates(folder, await textsOf(idOf(service)));
  const settings = [...settingsOf(folder), `svc.name=${service}`, ...more];
  const { svc } = await startDeployed(module, temporaryFolder(), settings);
  return { svc, url: await svc.listening() };
};

describe('deployed', () => {
  test('a service calls others with mutual TLS: those that admit it, and nobody else at their address', async () => {
    const billing = await deploy('billing', 'svc.shards=1');
    const { host } = new URL(billing.url);
    const servicesFile = join(temporaryFolder(), 'services.json');
    const services = {
      'shop/billing': [host],
      'shop/ledger': [host],
      'shop/gone': ['127.0.0.1:1'],
    };
    writeFileSync(servicesFile, JSON.stringify({ services }));
    const file = `svc.calls.services-file=${servicesFile}`;
    const caller = await deploy('caller', 'svc.shards=2', file);
    const stock = await deploy('stock', 'svc.shards=1', file);
    const gateway = await textsOf(GATEWAY);
    const sentBy = async ({ url }: { readonly url: string }, sent: object) => {
      const { status, body } = await post(`${url}/calls/raw`, sentText(sent), gateway);
      expect(status).toBe(200);
      return (JSON.parse(body) as readonly [Answer])[0];
    };
    const echo = await sentBy(caller, {});
    const lines = JSON.parse(echo.body) as readonly string[];
    expect(lines[0]).toBe('caller: service shop/caller');
    expect(lines).toContain('host: billing.svc-shop.svc.cluster.local:' + host.split(':')[1]);
    expect(await sentBy(stock, {})).toMatchObject({ status: 403 });
    const impostor = await sentBy(caller, { service: 'ledger' });
    expect([impostor.status, errorOf(impostor)]).toEqual([
      502,
      expect.stringMatching(
        /^The service that answers at the address of shop\/ledger is another one/,
      ),
    ]);
    const gone = await sentBy(caller, { service: 'gone' });
    expect([gone.status, errorOf(gone)]).toEqual([503, 'The service shop/gone is not listening.']);
    const foreign = await sentBy(caller, { service: 'billing.bank' });
    expect([foreign.status, errorOf(foreign)]).toEqual([
      503,
      'The service billing of the project bank cannot be found.',
    ]);
    for (const { svc } of [caller, stock, billing])
      expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  test('a service without an identity calls nobody, and says why', async () => {
    const settings = ['svc.http.host=127.0.0.1', 'svc.shards=1'];
    const { svc } = await startDeployed(module, temporaryFolder(), settings);
    const answer = await made(await svc.listening(), {});
    expect(answer).toMatchObject({
      status: 0,
      denied: expect.stringContaining('deployed without an identity (svc.identity.*)') as string,
    });
  });
});
