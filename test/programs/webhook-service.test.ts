// `svc webhook-service` as a process: its start, its metrics, its master key, and how it stops.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { REPORT, WebhookProcess, WEBHOOKS } from '../support/webhook-process.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'metrics.md');
const MASTER_KEY = '5e'.repeat(31).concat('07');

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

test('a deployed one is ready, has metrics, keeps its folder to itself, and stops in order', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'key'), MASTER_KEY);
  const env = { SVC_WEBHOOKS_MASTER_KEY_FILE: 'key' };
  const svc = new WebhookProcess(provider, cwd, ['--deployed'], env);
  const url = await svc.listening();
  expect((await svc.send(`GET ${WEBHOOKS}`, 'tenant-admin')).status).toBe(200);
  const { port } = JSON.parse(svc.stderr.split('\n', 1)[0]!) as { port: number };
  const ask = async (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  expect(await (await ask('/ready')).json()).toMatchObject({ ready: true });
  const { status } = await svc.send(
    'PUT /api/platform/v1/tenants/acme/datasets/7',
    'platform',
    REPORT,
  );
  expect(status).toBe(200);
  const metrics = await (await ask('/svc/metrics')).text();
  expect(metrics).toMatch(/^webhooks_attempts_total\{outcome="delivered"\} 0$/m);
  expect(metrics).toMatch(/^webhooks_pending 0$/m);
  expect(metrics).toMatch(/^webhooks_provider_readable 1$/m);
  expect(metrics).toMatch(/^webhooks_segments 1$/m);
  expect(metrics).toMatch(/^webhooks_consumer_lag_records\{consumer="fan-out"\} \d+$/m);
  expect(metrics).toMatch(/^webhooks_consumer_lanes\{state="parked"\} 0$/m);
  expect(metrics).toMatch(/^webhooks_view_lag_records\{view="log"\} \d+$/m);
  const page = readFileSync(PAGE, 'utf8');
  const series = [...metrics.matchAll(/^# TYPE (webhooks_\w+) (\w+)$/gm)];
  expect(series.length).toBeGreaterThan(5);
  for (const [, name, type] of series) expect(page).toContain(`| \`${name}\` | ${type} |`);

  const another = await new WebhookProcess(provider, cwd, ['--deployed'], env).ended;
  expect(another).toMatchObject({ code: 1, stdout: '' });
  expect(another.stderr).toContain('SVC_DATA_IN_USE');

  const ended = await svc.end('SIGTERM');
  expect(ended).toMatchObject({ code: 0, stdout: `${url}\n` });
  const lines = ended.stderr.trim().split('\n');
  const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages.slice(-2)).toEqual(['stopping', 'stopped']);
});

test('a deployed one does not start without a master key, and makes no folder', async () => {
  const cwd = temporaryFolder();
  const { code, stderr } = await new WebhookProcess(provider, cwd, ['--deployed']).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/svc\.webhooks\.master-key-file is missing.*SVC_SETTING_INVALID/);
  expect(readdirSync(cwd)).toEqual([]);
});
