// `svc control-plane` as a process: it is ready, stops in order, comes back with everything after it was killed, keeps its folder to
// itself, and its folder is read, copied and restored by the commands of operators.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { controlPlane } from '../../cli/commands/control-plane.ts';
import {
  COMPONENTS,
  ControlPlaneProcess,
  providerSettings,
} from '../support/control-plane-process.ts';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

function start(cwd: string, options: ConstructorParameters<typeof ControlPlaneProcess>[2] = {}) {
  const svc = new ControlPlaneProcess(provider, cwd, options);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

async function organizationsOf(svc: ControlPlaneProcess, subject: string): Promise<unknown> {
  const { body } = await svc.send('GET /auth/whoami', subject);
  return (body as { readonly organizations: unknown }).organizations;
}

test('a deployed one is ready, has metrics, keeps its folder to itself, and stops in order', async () => {
  const cwd = temporaryFolder();
  const svc = start(cwd, { args: ['--deployed'] });
  const url = await svc.listening();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const lines = svc.stderr.trim().split('\n');
  const management = JSON.parse(lines[0]!) as { message: string; port: number };
  expect(management.message).toBe('management listening');
  const ask = async (path: string) => fetch(`http://127.0.0.1:${management.port}${path}`);
  expect(await (await ask('/ready')).json()).toMatchObject({ ready: true });
  expect((await svc.send('POST /organizations/acme', 'ann', { name: 'Acme' })).status).toBe(204);
  expect(await (await ask('/svc/metrics')).text()).toMatch(/^svc_shards_listening 1$/m);

  const second = await start(cwd).ended;
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(second.stderr)).toMatchObject({ level: 'error', code: 'SVC_DATA_IN_USE' });
  expect(await organizationsOf(svc, 'ann')).toHaveLength(1);

  const ended = await svc.end('SIGTERM');
  expect(ended).toMatchObject({ code: 0, stdout: `${url}\n` });
  const log = ended.stderr.trim().split('\n');
  const messages = log.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages[1]).toBe('listening');
  expect(messages.slice(-2)).toEqual(['stopping', 'stopped']);
});

test('pages of the origins that a setting allows may call it, and its metrics have the provider', async () => {
  const page = 'https://console.example.com';
  const svc = start(temporaryFolder(), {
    args: ['--deployed'],
    env: { SVC_CONTROL_PLANE_ALLOWED_ORIGINS: page },
  });
  const url = await svc.listening();
  const preflight = async (origin: string) => {
    const asked = { 'access-control-request-method': 'GET' };
    const { headers } = await fetch(`${url}/auth/whoami`, {
      method: 'OPTIONS',
      headers: { origin, ...asked, 'access-control-request-headers': 'authorization' },
    });
    return headers.get('access-control-allow-origin');
  };
  expect([await preflight(page), await preflight('https://evil.example.com')]).toEqual([
    page,
    null,
  ]);
  await organizationsOf(svc, 'ann');
  const { port } = JSON.parse(svc.stderr.split('\n', 1)[0]!) as { port: number };
  const metrics = await (await fetch(`http://127.0.0.1:${port}/svc/metrics`)).text();
  expect(metrics).toMatch(/^control_plane_provider_readable 1$/m);
});

test.runIf(process.platform === 'linux')(
  'its garbage is collected in small steps, so that it takes little memory',
  async () => {
    const svc = start(temporaryFolder());
    await svc.listening();
    const { pid } = svc.child;
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--max-semi-space-size=4');
  },
);

test('the example of the help starts one as it is written', async () => {
  const [example] = controlPlane.description.examples;
  // The provider of the test stands for the one of the example.
  const [variables, line] = example!
    .replace('https://id.example.org', provider.issuer)
    .split(' \\\n  svc ');
  const env = Object.fromEntries(variables!.split(' ').map((one) => one.split('=')));
  const svc = new SvcProcess([...line!.split(' '), '--port', '0', '--data', 'data'], {
    cwd: temporaryFolder(),
    env,
  });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const auth = await (await fetch(`${await svc.listening()}/auth`)).json();
  expect(auth).toMatchObject({ issuer: provider.issuer, clientId: 'svc-cli' });
});

test('a killed one comes back with all that it answered, and a copy of its folder has the same', async () => {
  const cwd = temporaryFolder();
  const first = start(cwd);
  for (const id of ['acme', 'shop'])
    await first.send(`POST /organizations/${id}`, 'ann', { name: id });
  await first.end('SIGKILL');

  const second = start(cwd, { env: { SVC_RUNNING_DIR: 'running' } });
  const both = [
    { id: 'acme', name: 'acme', role: 'owner' },
    { id: 'shop', name: 'shop', role: 'owner' },
  ];
  expect(await organizationsOf(second, 'ann')).toEqual(both);
  expect((await second.send('POST /organizations/acme', 'ben', { name: 'mine' })).status).toBe(409);

  // The console of this machine finds it.
  const [registered] = readdirSync(join(cwd, 'running'));
  expect(readFileSync(join(cwd, 'running', registered!), 'utf8')).toContain('"control-plane"');

  // The commands of operators, while it runs.
  const journal = await runSvc(['journal', 'data', 'organization', 'acme', '-o', 'json'], { cwd });
  expect(journal).toMatchObject({ code: 0, stderr: '' });
  expect(journal.stdout).toContain('"created"');
  const entity = ['entity', 'data', 'organization', 'acme', '--program', COMPONENTS];
  const shown = await runSvc([...entity, '-o', 'json'], { cwd });
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toContain('"ann"');
  expect(await runSvc(['journal', 'backup', 'data', 'copy'], { cwd })).toMatchObject({ code: 0 });

  await second.send('POST /organizations/late', 'ann', { name: 'after the backup' });
  const restored = start(cwd, { args: ['--data', 'copy'] });
  expect(await organizationsOf(restored, 'ann')).toEqual(both);
  expect((await second.end('SIGTERM')).code).toBe(0);
  expect((await restored.end('SIGTERM')).code).toBe(0);
});

test('a stop waits for requests in flight, and not longer than it is told', async () => {
  const cwd = temporaryFolder();
  const hanging = await IdentityProvider.start();
  onTestFinished(() => hanging.stop());
  hanging.fail('hangs');
  const stopped = async (timeoutMs: string) => {
    const env = { SVC_CONTROL_PLANE_STOP_TIMEOUT_MS: timeoutMs, SVC_AUTH_READ_TIMEOUT_MS: '1000' };
    const svc = new ControlPlaneProcess(hanging, cwd, { env });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    await svc.listening();
    const { discovery } = hanging.reads;
    const answered = svc.send('GET /auth/whoami', 'ann').then(
      ({ status }) => status,
      () => 'cut',
    );
    await expect.poll(() => hanging.reads.discovery).toBeGreaterThan(discovery);
    const { code } = await svc.end('SIGTERM');
    return { code, answered: await answered };
  };
  expect(await stopped('10000')).toEqual({ code: 0, answered: 503 });
  expect(await stopped('50')).toEqual({ code: 0, answered: 'cut' });
});

test('with an invalid setting it does not start, and makes no folder', async () => {
  const cwd = temporaryFolder();
  const env = { ...providerSettings(provider), SVC_ORGANIZATION_CREATION: 'nobody' };
  const text = await runSvc(['control-plane', '--log', 'text'], { cwd, env });
  expect(text).toMatchObject({ code: 1, stdout: '' });
  expect(text.stderr).toMatch(
    /^svc: The setting svc\.organization-creation .*'platform-admin', and found 'nobody'\. \[SVC_SETTING_INVALID\]\n$/,
  );
  const mistaken = await runSvc(['control-plane', '--prot', '1'], { cwd, env });
  expect(mistaken).toMatchObject({ code: 2, stdout: '' });
  expect(existsSync(join(cwd, '.svc'))).toBe(false);
});
