// docs/how-to/api-clients.md: its program in Python deploys a service with a machine of a real identity provider, to the real
// `svc control-plane` and to a control plane whose orchestrator runs what it is given.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SYSTEM_CLOCK } from '../../kit/clock.ts';
import { httpUrl } from '../../kit/listen.ts';
import { ApiUnderTest } from '../control-plane/endpoints/api-under-test.ts';
import { ControlPlaneProcess } from '../support/control-plane-process.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import {
  GOOD_IMAGE,
  MISSING_IMAGE,
  ScriptedOrchestrator,
} from '../support/scripted-orchestrator/scripted-orchestrator.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PAGE = 'docs/how-to/api-clients.md';
const program = join(temporaryFolderOfFile(), 'deploy.py');
writeFileSync(program, snippetsOf(PAGE, 'python')[0]!.code);
const commands = snippetsOf(PAGE, 'sh').map(({ code }) => code);

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.log(`${PAGE}: not tested: there is no python3`);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `deploy.py` as the machine of the provider. */
async function deploy(api: string, provider: IdentityProvider, args: string): Promise<Ended> {
  const [[id, { secret }]] = [...provider.machines] as [[string, { readonly secret: string }]];
  const child = spawn('python3', [program, ...args.split(' ')], {
    env: { ...process.env, API: api, CLIENT_ID: id, CLIENT_SECRET: secret },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}

/** Passes requests on, and resets the connection of the first one that matches, when it was answered. */
async function unreliable(
  target: string,
  matches: (method: string) => boolean,
): Promise<{ readonly url: string; readonly lost: string[] }> {
  const lost: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const upstream = httpRequest(new URL(path!, target), { method: method!, headers });
    upstream.on('response', (response) => {
      if (lost.length === 0 && matches(method!)) {
        lost.push(`${method} ${path} ${response.statusCode}`);
        response.resume().on('end', () => incoming.socket.destroy());
      } else {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.pipe(outgoing);
      }
    });
    incoming.pipe(upstream);
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: httpUrl({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }),
    lost,
  };
}

describe.skipIf(!hasPython)('the program in Python', () => {
  test('applies a service at svc control-plane, which says that nothing runs it', async () => {
    const provider = await IdentityProvider.start();
    onTestFinished(() => provider.stop());
    const svc = new ControlPlaneProcess(provider, temporaryFolder());
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const api = await svc.listening();

    const args = 'acme shop cart registry.example.com/cart:4';
    const stranger = await deploy(api, provider, args);
    expect(stranger).toMatchObject({ code: 1, stdout: '' });
    expect(stranger.stderr).toMatch(/^404: /);

    await svc.send('POST /organizations/acme', 'ann', { name: 'Acme' });
    const ADMIN = await provider.issue({ subject: 'root', roles: ['platform-admin'] });
    const repair = commands.find((code) => code.includes('/repair'))!;
    const added = spawn('bash', ['-euc', repair.replace('curl -s', 'curl -sf')], {
      env: { ...process.env, API: api, ADMIN },
      stdio: 'ignore',
    });
    expect(await once(added, 'close')).toEqual([0, null]);

    const first = await deploy(api, provider, `${args} 0`);
    expect(first).toEqual({
      code: 1,
      stdout:
        'cart, generation 1: pending\nno orchestrator is configured in this installation, so nothing runs\n',
      stderr: '',
    });
    const second = await deploy(api, provider, `${args} 0`);
    expect(second.stdout).toMatch(/^cart, generation 2: pending/);
    const { body } = await svc.send('GET /services/shop/cart/history', 'ann');
    expect(body).toMatchObject([
      { kind: 'applied', generation: 2, actor: { subject: 'ci' } },
      { kind: 'applied', generation: 1, actor: { subject: 'ci' } },
    ]);

    const bad = await deploy(api, provider, 'acme shop Cart registry.example.com/cart:4');
    expect(bad).toMatchObject({ code: 1, stdout: '' });
    expect(bad.stderr).toMatch(/^400: .*name: /);
  });

  test('waits until the service is ready, and says why one has failed', async () => {
    const orchestrator = new ScriptedOrchestrator(SYSTEM_CLOCK);
    orchestrator.giveUpMs = 100;
    await using api = await ApiUnderTest.start({}, undefined, orchestrator);
    await api.done('POST /organizations/acme', { as: 'ci', json: { name: 'Acme' } });
    const { url } = api.control;
    expect(await deploy(url, api.provider, `acme shop cart ${GOOD_IMAGE} 60`)).toEqual({
      code: 0,
      stdout: 'cart, generation 1: ready\n',
      stderr: '',
    });
    const failed = await deploy(url, api.provider, `acme shop cart ${MISSING_IMAGE} 60`);
    expect(failed).toMatchObject({ code: 1, stderr: '' });
    expect(failed.stdout).toMatch(/^cart, generation 2: failed\n.*pull/);
  });

  test('makes each change once, also when the answer is lost', async () => {
    await using api = await ApiUnderTest.start();
    await api.done('POST /organizations/acme', { as: 'ci', json: { name: 'Acme' } });
    for (const [at, method] of ['POST', 'PUT'].entries()) {
      const { url, lost } = await unreliable(api.control.url, (sent) => sent === method);
      const { code, stdout } = await deploy(
        url,
        api.provider,
        `acme shop-${at} cart a.example/b:1 0`,
      );
      expect(lost).toEqual([expect.stringMatching(`^${method} .* 20[04]$`)]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: 'cart, generation 1: pending\n' });
      expect(await api.done(`GET /services/shop-${at}/cart/history`, { as: 'ci' })).toHaveLength(1);
    }
  });
});
