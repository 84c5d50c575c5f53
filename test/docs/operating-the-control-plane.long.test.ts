// docs/how-to/operating-the-control-plane.md: its commands are run in their order, by a shell, on a control plane of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { COMPONENTS, providerSettings } from '../support/control-plane-process.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { OWN_PLACES, SvcProcess } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PAGE = 'docs/how-to/operating-the-control-plane.md';
const SVC = join(import.meta.dirname, '../../cli/bin/svc.js');
/** The commands of the page, in a folder of the test. */
const folder = temporaryFolderOfFile();
const blocks = snippetsOf(PAGE, 'sh').map(({ code }) => code.replaceAll('/var/', `${folder}/`));
const START = 'npx svc control-plane';

function block(words: string): string {
  const [found, ...others] = blocks.filter((code) => code.includes(words));
  if (found === undefined || others.length > 0) throw new Error(`not one block has ${words}`);
  return found;
}

/** Runs commands as a person would, and returns what they print. Fails if one of them fails. */
async function shell(code: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const script = `npx() { shift; "${process.execPath}" "${SVC}" "$@"; }\n${code}`;
  const child = spawn('bash', ['-euc', script], {
    cwd: folder,
    env: { ...process.env, ...OWN_PLACES, COMPONENTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode ?? once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(`${code} ends with ${child.exitCode}: ${stderr}`);
  return stdout;
}

/** Starts what the block starts, on a free port, with an identity provider of the test. */
async function started(code: string, provider: IdentityProvider) {
  const printed = await shell(code.replace(START, "printf '%s\\n' control-plane"));
  const given = printed.trim().split('\n');
  const svc = new SvcProcess([...given, '--port', '0', '--host', '127.0.0.1'], {
    cwd: folder,
    env: providerSettings(provider),
  });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const API = await svc.listening();
  const send = async (line: string, token: string, json?: object) => {
    const [method, path] = line.split(' ') as [string, string];
    const response = await fetch(`${API}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const body = await response.text();
    expect(response.status, `${line}: ${body}`).toBeLessThan(300);
    return body;
  };
  return { svc, API, send };
}

async function newProvider(): Promise<IdentityProvider> {
  const provider = await IdentityProvider.start();
  onTestFinished(() => provider.stop());
  return provider;
}

test('every block is run', () => {
  expect(blocks.length).toBeGreaterThan(8);
});

test('with the files of a certificate the API is served with TLS', async () => {
  const provider = await newProvider();
  const authority = await CertificateAuthority.create('ca');
  const { certificate, key } = await authority.issue({ dnsNames: ['localhost'] });
  writeFileSync(join(folder, 'tls.crt'), certificate);
  writeFileSync(join(folder, 'tls.key'), key);
  const code = block('tls-certificate')
    .replaceAll('/etc/svc', folder)
    .replace('lib/svc', 'lib/tls');
  const { API } = await started(code, provider);
  const request = get(`${API}/auth`, { ca: authority.certificate, servername: 'localhost' });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(JSON.parse(await text(response))).toMatchObject({ issuer: provider.issuer });
});

test('the folder is looked into, copied, checked for an upgrade, and restored', async () => {
  const provider = await newProvider();
  const ann = await provider.issue({ subject: 'ann', email: 'ann@example.com', verified: true });
  const first = await started(block('SVC_CONTROL_PLANE_BASE_DOMAIN'), provider);
  expect(await shell(block('$API/auth'), { API: first.API })).toContain(provider.issuer);
  await first.send('POST /organizations/acme', ann, { name: 'Acme' });
  await first.send('POST /projects/shop', ann, { organizationId: 'acme', name: 'Shop' });
  const descriptor = { name: 'cart', image: 'registry.example/cart:1' };
  const applied = await first.send('PUT /services/shop/cart', ann, descriptor);
  expect(JSON.parse(applied)).toMatchObject({
    lifecycle: 'pending',
    confirmed: false,
    detail: 'no orchestrator is configured in this installation, so nothing runs',
  });
  const shown = await shell(block('svc entity'));
  expect(shown).toContain('acme');
  expect(shown).toContain('registry.example/cart:1');
  expect(shown).toContain('"role": "owner"');
  expect(shown).toContain('every fold depends on the events alone');
  expect(await shell(block('journal backup'))).toContain('all as it was written');
  expect(await shell(block('upgrade-check'))).toContain('safe');
  await first.send('DELETE /services/shop/cart', ann);
  await first.svc.end('SIGTERM');

  const [copy, start] = block('svc-restored').trim().split('\n') as [string, string];
  await shell(copy);
  const restored = await started(start, provider);
  const service = await restored.send('GET /services/shop/cart', ann);
  expect(JSON.parse(service)).toMatchObject({ generation: 1 });
});

test('with another identity provider, an administrator brings the members back', async () => {
  const former = await newProvider();
  const owner = await former.issue({ subject: 'ann', email: 'ann@example.com', verified: true });
  const bob = { email: 'bob@example.com', verified: true };
  const start = block('SVC_CONTROL_PLANE_BASE_DOMAIN').replaceAll('lib/svc', 'lib/lost');
  const before = await started(start, former);
  await before.send('POST /organizations/acme', owner, { name: 'Acme' });
  await before.send('POST /organizations/acme/members', owner, { email: bob.email });
  const claimed = await former.issue({ subject: 'bob', ...bob });
  expect(await before.send('GET /auth/whoami', claimed)).toContain('"role":"member"');
  await before.svc.end('SIGTERM');

  const provider = await newProvider();
  const ADMIN = await provider.issue({ subject: 'root', roles: ['platform-admin'] });
  const OWNER = await provider.issue({ subject: 'ann-2' });
  const { API, send } = await started(start, provider);
  await shell(block('/repair'), { API, ADMIN, SUBJECT: 'ann-2' });
  await shell(block('$FORMER'), { API, OWNER, FORMER: 'bob' });
  const next = await provider.issue({ subject: 'bob-2', ...bob });
  expect(JSON.parse(await send('GET /auth/whoami', next))).toMatchObject({
    organizations: [{ id: 'acme', role: 'member' }],
  });
  const members = JSON.parse(await send('GET /organizations/acme/members', OWNER)) as {
    members: { subject: string }[];
  };
  expect(members.members.map(({ subject }) => subject).toSorted()).toEqual([
    'ann',
    'ann-2',
    'bob-2',
  ]);
});
