// `svc webhook-service` as a process that delivers: it comes back with everything after it was killed, keeps its secrets to itself, and ends
// no attempt when it is stopped.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyWebhook, type Subscription } from '@svc/client';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  DATASET,
  REPORT,
  WebhookProcess,
  webhookReceiver,
  WEBHOOKS,
  type Received,
} from '../support/webhook-process.ts';

const MASTER_KEY = '5e'.repeat(31).concat('07');

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

/** Returns the bytes of every file below a folder. */
function bytesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

test('it delivers a signed event, and comes back with subscriptions and log after it was killed', async () => {
  const cwd = temporaryFolder();
  const hook = await webhookReceiver();
  const first = new WebhookProcess(provider, cwd);
  const created = await first.send(`POST ${WEBHOOKS}`, 'tenant-admin', { url: hook.url });
  expect(created.status).toBe(201);
  const { secret, ...shown } = created.body as Subscription & { readonly secret: string };
  const reported = await first.send(`PUT ${DATASET}`, 'platform', REPORT);
  expect(reported).toMatchObject({ status: 200, body: { eventId: expect.any(String) as string } });
  await expect.poll(() => hook.received.length, { timeout: 5_000 }).toBe(1);
  const [{ headers, body }] = hook.received as [Received];
  expect(await verifyWebhook({ headers, body, secrets: [secret] })).toEqual({ kind: 'verified' });
  await expect.poll(async () => (await first.log())[0]?.outcome).toBe('delivered');
  const log = await first.log();
  await first.end('SIGKILL');

  const second = new WebhookProcess(provider, cwd);
  expect(await second.send(`GET ${WEBHOOKS}`, 'tenant-admin')).toEqual({
    status: 200,
    body: [shown],
  });
  expect(await second.log()).toEqual(log);
  const { code, stderr } = await second.end('SIGTERM');
  expect(code).toBe(0);
  const kept = bytesBelow(join(cwd, 'data')) + first.stderr + stderr;
  expect(kept).toContain('SOLVING_COMPLETED');
  expect(kept).not.toContain(secret);
});

test('a stop awaits the attempt that is under way, and begins no other', async () => {
  const hook = await webhookReceiver(() => new Promise(() => {}));
  const cwd = temporaryFolder();
  const svc = new WebhookProcess(provider, cwd);
  await svc.send(`POST ${WEBHOOKS}`, 'tenant-admin', { url: hook.url });
  await svc.send(`PUT ${DATASET}`, 'platform', REPORT);
  await expect.poll(() => hook.received.length, { timeout: 5_000 }).toBe(1);
  expect((await svc.end('SIGTERM')).code).toBe(0);
  const again = new WebhookProcess(provider, cwd);
  const [entry] = await again.log();
  expect(entry).toMatchObject({
    outcome: 'pending',
    attempts: [{ run: 1, number: 1, status: null, error: 'timeout' }],
  });
});

test('it does not start with another master key than its folder was first used with', async () => {
  const cwd = temporaryFolder();
  const env = { SVC_WEBHOOKS_MASTER_KEY_FILE: 'key' };
  writeFileSync(join(cwd, 'key'), MASTER_KEY);
  const first = new WebhookProcess(provider, cwd, [], env);
  await first.listening();
  expect((await first.end('SIGTERM')).code).toBe(0);
  writeFileSync(join(cwd, 'key'), MASTER_KEY.replace('07', '08'));
  const wrong = await new WebhookProcess(provider, cwd, [], env).ended;
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toContain('SVC_MASTER_KEY_WRONG');
  expect(wrong.stderr).not.toContain('5e5e');
});
