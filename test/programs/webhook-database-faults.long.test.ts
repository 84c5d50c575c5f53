// `svc webhook-service` on a database that goes away, and one that was stopped for longer than its leases while another one took over.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { REPORT, WebhookProcess, webhookReceiver, WEBHOOKS } from '../support/webhook-process.ts';
import { storedIn } from '../webhooks/storage/storage-under-test.ts';

const MASTER_KEY = '5e'.repeat(31).concat('07');
const SOON = { timeout: 30_000, interval: 200 };
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

/** Starts a server that the test may end, and returns what starts services on a database of it. */
async function ownServer() {
  const server = await PostgresServer.start('18');
  onTestFinished(() => server.stop());
  const { urlFile } = storedIn(await server.freshDatabase()).database!;
  const start = () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'key'), MASTER_KEY);
    return new WebhookProcess(provider, cwd, ['--deployed'], {
      SVC_WEBHOOKS_MASTER_KEY_FILE: 'key',
      SVC_DATABASE_URL_FILE: urlFile!,
    });
  };
  return { server, start };
}

const report = async (svc: WebhookProcess, dataset: string): Promise<number> => {
  const line = `PUT /api/platform/v1/tenants/acme/datasets/${dataset}`;
  return (await svc.send(line, 'platform', REPORT)).status;
};

test('a service whose database is away refuses with 503, is not ready, and continues when it is back', async () => {
  const { server, start } = await ownServer();
  const svc = start();
  await svc.listening();
  const line = svc.stderr.split('\n').find((each) => each.includes('management listening'))!;
  const { port } = JSON.parse(line) as { port: number };
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/ready`)).status === 200;
  const { url, received } = await webhookReceiver();
  const { status } = await svc.send(`POST ${WEBHOOKS}`, 'tenant-admin', { url });
  expect(status).toBe(201);
  expect(await report(svc, 'before')).toBe(200);
  const outcomes = async () => (await svc.log()).map(({ outcome }) => outcome);
  // An attempt whose end is not stored is made again.
  await expect.poll(outcomes, SOON).toEqual(['delivered']);
  expect(await isReady()).toBe(true);

  await server.kill();
  // One whose connection was lost while it was stored may have been stored.
  expect([503, 504]).toContain(await report(svc, 'meanwhile-1'));
  expect(await report(svc, 'meanwhile-2')).toBe(503);
  expect((await svc.send(`POST ${WEBHOOKS}`, 'tenant-admin', { url })).status).toBe(503);
  await expect.poll(isReady, SOON).toBe(false);

  await server.restart();
  await expect.poll(() => report(svc, 'meanwhile-2'), SOON).toBe(200);
  expect(await report(svc, 'meanwhile-1')).toBe(200);
  await expect.poll(isReady, SOON).toBe(true);
  await expect.poll(outcomes, SOON).toEqual(['delivered', 'delivered', 'delivered']);
  expect(received).toHaveLength(3);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 180_000);

test('a service that was stopped for longer than its leases stores nothing, and ends, once another one has the database', async () => {
  const { start } = await ownServer();
  const first = start();
  await first.listening();
  expect(await report(first, 'd1')).toBe(200);
  first.child.kill('SIGSTOP');
  const second = start();
  await second.listening();
  expect(await report(second, 'd2')).toBe(200);
  first.child.kill('SIGCONT');
  const refused = await report(first, 'd3').catch(() => 'no answer');
  expect(['no answer', 503]).toContain(refused);
  expect(await first.ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another runtime has taken over') as string,
  });
  expect(await report(second, 'd3')).toBe(200);
}, 180_000);
