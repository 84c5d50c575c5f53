// `svc webhook-service` with everything that it stores in PostgreSQL: it comes back with all that it answered after it was killed, with another
// folder, and is the only one that uses its database.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  DATASET,
  REPORT,
  WebhookProcess,
  webhookReceiver,
  WEBHOOKS,
} from '../support/webhook-process.ts';
import { emptyDatabase, storedIn } from '../webhooks/storage/storage-under-test.ts';

const MASTER_KEY = '5e'.repeat(31).concat('07');
const SOON = { timeout: 20_000 };
let provider: IdentityProvider;

beforeAll(async () => {
  [provider] = await Promise.all([IdentityProvider.start(), PostgresServer.shared('18')]);
});
afterAll(() => provider.stop());

/** Starts a process with an empty folder, in which it is to store nothing. */
function start(urlFile: string, key = MASTER_KEY): { svc: WebhookProcess; cwd: string } {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'key'), key);
  const svc = new WebhookProcess(provider, cwd, ['--log', 'json'], {
    SVC_WEBHOOKS_MASTER_KEY_FILE: 'key',
    SVC_DATABASE_URL_FILE: urlFile,
  });
  return { svc, cwd };
}

test('it has what it answered after it was killed, and a second one is refused', async () => {
  const database = await emptyDatabase();
  const { urlFile } = storedIn(database).database!;
  const { svc: first, cwd } = start(urlFile!);
  await first.listening();
  const receiver = await webhookReceiver();
  const created = await first.send(`POST ${WEBHOOKS}`, 'tenant-admin', { url: receiver.url });
  expect(created.status).toBe(201);
  expect((await first.send(`PUT ${DATASET}`, 'platform', REPORT)).status).toBe(200);
  await expect.poll(() => receiver.received.length, SOON).toBe(1);

  const second = await start(urlFile!).svc.ended;
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toContain('SVC_DATA_IN_USE');
  expect((await first.send(`GET ${WEBHOOKS}`, 'tenant-admin')).status).toBe(200);
  await first.end('SIGKILL');
  expect(readdirSync(cwd)).toEqual(['key']);

  const { svc: next } = start(urlFile!);
  // It takes the place of the one that was killed once the leases of that one have ended.
  await next.listening();
  const listed = await next.send(`GET ${WEBHOOKS}`, 'tenant-admin');
  expect(listed.body).toMatchObject([{ url: receiver.url }]);
  await expect
    .poll(() => next.log(), SOON)
    .toMatchObject([{ outcome: 'delivered', datasetId: 'd1' }]);
  // The same report causes nothing new, the next one does, and its delivery is signed as before.
  expect((await next.send(`PUT ${DATASET}`, 'platform', REPORT)).status).toBe(200);
  const failed = { ...REPORT, seq: 2, status: 'SOLVING_FAILED' };
  expect((await next.send(`PUT ${DATASET}`, 'platform', failed)).status).toBe(200);
  await expect.poll(() => receiver.received.length, SOON).toBe(2);
  const word = `url-file:${urlFile}`;
  const subscriptions = await runSvc(['journal', word]);
  expect(subscriptions).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tenant /m) });
  const [segment] = await database.sql(
    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'svc\\_segment\\_%'",
  );
  const deliveries = await runSvc(['journal', 'verify', `${word}#${segment!['nspname']}`]);
  expect(deliveries).toMatchObject({ code: 0 });
  const components = await runSvc(['journal', `${word}#${segment!['nspname']}`]);
  expect(components.stdout).toMatch(/^dataset /m);
  const ended = await next.end('SIGTERM');
  expect(ended.code).toBe(0);
  expect(first.stderr + second.stderr + ended.stderr).not.toContain(database.url);
  expect(JSON.stringify(await database.sql('SELECT * FROM svc_webhooks.value'))).not.toContain(
    MASTER_KEY,
  );
}, 120_000);

test('another master key than the first one is refused', async () => {
  const { urlFile } = storedIn(await emptyDatabase()).database!;
  const { svc } = start(urlFile!);
  await svc.listening();
  await svc.end('SIGTERM');
  const refused = await start(urlFile!, '07'.concat('5e'.repeat(31))).svc.ended;
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('SVC_MASTER_KEY_WRONG');
});
