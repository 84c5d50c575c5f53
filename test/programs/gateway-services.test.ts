// The gateway in front of the real programs: a module, a web-hosted service with its proxy, and the control plane.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { writeRouteFile } from '../../routing/route-file.ts';
import type { RoutedService } from '../../routing/route-table.ts';
import { certificateTexts, writeCertificates } from '../support/certificates/certificate-files.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { ControlPlaneProcess } from '../support/control-plane-process.ts';
import { startDeployed } from '../support/deployed-service.ts';
import {
  DOMAIN,
  exposed,
  install,
  type Installation,
  TestGateway,
} from '../support/gateway/test-gateway.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { GATEWAY_ID, idOf, WebPod } from '../support/web-pods/web-pod.ts';

const folder = temporaryFolderOfFile();
let installation: Installation;

beforeAll(async () => {
  installation = await install(folder, GATEWAY_ID);
});

async function startGateway(
  services: readonly RoutedService[],
  settings: Readonly<Record<string, string>> = {},
): Promise<TestGateway> {
  await writeRouteFile(join(folder, 'routes.json'), { version: 1, services });
  const gateway = await TestGateway.start(installation, {
    'svc.identity.gateway': GATEWAY_ID,
    'svc.gateway.routes-socket': '',
    ...settings,
  });
  onTestFinished(() => void gateway.svc.end('SIGKILL'));
  return gateway;
}

/** Starts the service `cart`, and a gateway in front of it. */
async function startModule(
  fixture: string,
  settings: readonly string[] = [],
): Promise<TestGateway> {
  const module = join(folder, `${fixture}.wasm`);
  writeFileSync(module, await compileFixture(fixture));
  const identity = join(temporaryFolder(), 'identity');
  mkdirSync(identity);
  const issued = await installation.identities.issue({ uris: [idOf('cart')] });
  writeCertificates(identity, certificateTexts(issued, installation.identities));
  const { svc } = await startDeployed(module, temporaryFolder(), [
    'svc.name=cart',
    'svc.project=shop',
    `svc.identity.folder=${identity}`,
    'svc.identity.trust-domain=td',
    `svc.identity.gateway=${GATEWAY_ID}`,
    'svc.http.host=127.0.0.1',
    'svc.shards=1',
    ...settings,
  ]);
  const port = Number(new URL(await svc.listening()).port);
  const instance = { name: 'cart-1-a', address: '127.0.0.1', port };
  return startGateway([exposed('cart', [instance], { identity: idOf('cart') })]);
}

test('a module sees the internet as the caller of a request that the gateway passes', async () => {
  const gateway = await startModule('routes');
  const { status, body } = await gateway.get(
    `cart-shop.${DOMAIN}`,
    ['X-Svc-Caller: local'],
    '/requests/caller',
  );
  expect([status, body]).toEqual([200, 'internet']);
});

test('a limit by address counts the client of the gateway, whatever the client says of itself', async () => {
  const gateway = await startModule('limited', [
    'svc.auth.issuer=https://id.test',
    'svc.auth.audience=a',
  ]);
  const statuses: number[] = [];
  for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.3']) {
    const headers = [`X-Forwarded-For: ${address}`];
    const { status } = await gateway.get(`cart-shop.${DOMAIN}`, headers, '/quotes/a/sample');
    statuses.push(status);
  }
  expect(statuses).toEqual([200, 200, 429]);
});

test('the process of a web-hosted service sees the hostname, the client and the internet as its caller', async () => {
  const pod = await WebPod.start({
    authority: installation.identities,
    folder: temporaryFolder(),
    settings: { 'svc.proxy.base-domain': DOMAIN },
  });
  onTestFinished(() => pod.end());
  const instance = { name: 'web-1-a', address: '127.0.0.1', port: pod.servicePort };
  const gateway = await startGateway([exposed('web', [instance], { identity: idOf('web') })]);
  const hostname = `web-shop.${DOMAIN}`;
  const answered = gateway.get(hostname, ['X-Svc-Caller: local', 'X-Forwarded-For: 1.1.1.1']);
  const process = await pod.process.next();
  expect(await process.head()).toEqual([
    'GET / HTTP/1.1',
    `Host: ${hostname}`,
    'X-Forwarded-For: 1.1.1.1, 127.0.0.1',
    'X-Svc-Caller: internet',
    'X-Forwarded-Proto: https',
    `X-Forwarded-Host: ${hostname}`,
    'X-Forwarded-Port: 443',
  ]);
  process.socket.destroy();
  // Once more, because the connection closed before a response.
  (await pod.process.next()).socket.destroy();
  // The answer of the proxy is marked as its own.
  const { status, lines } = await answered;
  expect([status, lines.includes('X-Svc-Answered-By: proxy')]).toEqual([502, true]);
});

test("the control plane is reached under the base domain's api", async () => {
  const provider = await IdentityProvider.start();
  onTestFinished(() => provider.stop());
  const plane = new ControlPlaneProcess(provider, temporaryFolder());
  onTestFinished(() => void plane.end('SIGKILL'));
  const gateway = await startGateway([], { 'svc.gateway.api-url': await plane.listening() });
  const token = await provider.issue({ subject: 'ann' });
  const authorization = `Authorization: Bearer ${token}`;
  const { status, body } = await gateway.get(`api.${DOMAIN}`, [authorization], '/auth/whoami');
  expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ subject: 'ann' })]);
});
