// The authority of a context: an installation with a certificate that this machine does not trust, over TLS.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { platformFetch } from '../../../cli/platform/platform-fetch.ts';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { runCommand, type CommandEnded } from '../../support/command-line.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const home = temporaryFolderOfFile();
let api: ApiUnderTest;
let authority: CertificateAuthority;
let other: CertificateAuthority;

beforeAll(async () => {
  api = await ApiUnderTest.start();
  api.knows({ subject: 'ann', name: 'Ann' });
  authority = await CertificateAuthority.create('installation');
  other = await CertificateAuthority.create('other');
  writeFileSync(join(home, 'ca.pem'), authority.certificate);
  writeFileSync(join(home, 'other.pem'), other.certificate);
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'])
    vi.stubEnv(name, join(home, name));
  vi.stubEnv('SVC_TOKEN', await api.token('ann'));
  vi.stubEnv('SVC_CONTEXT', 'test');
});
afterEach(() => vi.unstubAllEnvs());

/** Serves the control plane over TLS at `api.svc.localhost`, until the test ends. Resolves with the port. */
async function served(issuer: CertificateAuthority, dnsNames: readonly string[]): Promise<number> {
  const { certificate, key } = await issuer.issue({ dnsNames });
  const server: Server = createServer({ cert: certificate, key }, (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const outgoing = request(new URL(url, api.control.url), { method, headers, agent: false });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function whoami(port: number, ...authorityOption: readonly string[]): Promise<CommandEnded> {
  const url = `https://api.svc.localhost:${port}`;
  const set = ['context', 'set', 'test', '--url', url, ...authorityOption];
  const { stderr } = await runCommand(set);
  expect(stderr).toContain("Set the context 'test'");
  return await runCommand(['whoami']);
}

test('an installation whose authority the context names is trusted', async () => {
  const port = await served(authority, ['api.svc.localhost']);
  const before = await whoami(port);
  expect(before.code).toBe(1);
  expect(before.stderr).toMatch(/certificate|CERT|SELF_SIGNED|UNABLE_TO/);
  expect(before.stderr).toMatch(/\[SVC_API_UNAVAILABLE\]\n$/);
  const ended = await whoami(port, '--authority', join(home, 'ca.pem'));
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/^name +Ann$/m);
  // A URL of the environment has the authority of the context with the same URL.
  vi.stubEnv('SVC_CONTEXT', undefined);
  vi.stubEnv('SVC_URL', `https://api.svc.localhost:${port}`);
  expect((await runCommand(['whoami'])).code).toBe(0);
});

test.each([
  ['of another authority', () => served(other, ['api.svc.localhost'])],
  ['for another name', () => served(authority, ['login.svc.localhost'])],
])('a certificate %s is refused, and nothing is sent', async (_what, serve) => {
  const ended = await whoami(await serve(), '--authority', join(home, 'ca.pem'));
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/\[SVC_API_UNAVAILABLE\]\n$/);
});

test('the authority counts for the names of the base domain alone', async () => {
  const names = ['login.svc.localhost', 'svc.example.localhost', 'localhost'];
  const port = await served(authority, names);
  const fetch = platformFetch({
    platformUrl: `https://api.svc.localhost:${port}`,
    authority: authority.certificate,
  });
  const statusOf = async (host: string) => (await fetch(`https://${host}:${port}/auth`, {})).status;
  expect(await statusOf('login.svc.localhost')).toBe(200);
  for (const host of ['svc.example.localhost', 'localhost'])
    await expect(statusOf(host)).rejects.toThrow(/certificate/);
});
