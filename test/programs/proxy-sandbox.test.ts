// `svc proxy` that runs the process in bubblewrap: signals reach the process in the sandbox, and nothing outlives the proxy.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { freePorts } from '../support/free-ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { get } from '../support/web-pods/passed-request.ts';
import { GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

const NAMESPACES = ['--unshare-user', '--unshare-pid', '--die-with-parent', '--new-session'];
const SANDBOX = [...NAMESPACES, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
const trial = spawnSync('bwrap', [...SANDBOX, 'true'], { encoding: 'utf8' });
const hasSandbox = trial.status === 0;
if (!hasSandbox)
  process.stderr.write(
    `proxy-sandbox.test.ts is skipped: bubblewrap does not run here (${trial.error?.message ?? trial.stderr.trim()})\n`,
  );

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

/** A server that serves a line, finishes at SIGTERM, and has a child. Its mark finds its processes. */
const SERVER = `
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', process.argv[1]], { stdio: 'ignore' });
const server = createServer((_request, response) => response.end('sandboxed ' + process.pid));
server.listen(process.env.PORT, '127.0.0.1', () => console.log('up'));
process.on('SIGTERM', () => {
  console.log('asked');
  process.exit(Number(process.argv[2]));
});`;

interface SandboxedPod {
  readonly pod: WebPod;
  /** Returns the ids of the processes of the sandbox that run. */
  readonly processes: () => readonly string[];
}

async function startPod(): Promise<SandboxedPod> {
  const folder = temporaryFolder();
  const [port = 0] = await freePorts(1);
  const mark = `mark-${folder.split('-').at(-1)}`;
  const program = [process.execPath, '-e', SERVER, mark, '4'];
  const command = ['bwrap', '--info-fd', '3', '--as-pid-1', ...SANDBOX, '--', ...program];
  const env = { PATH: process.env['PATH'], PORT: String(port) };
  writeFileSync(join(folder, 'process.json'), JSON.stringify({ command, env }));
  const pod = await WebPod.start({
    authority,
    folder,
    settings: { 'svc.proxy.process-file': join(folder, 'process.json') },
    processPort: port,
  });
  onTestFinished(() => pod.end());
  await pod.svc.logged(/"message":"up"/);
  return { pod, processes: () => processesWith(mark) };
}

function processesWith(mark: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

test.runIf(hasSandbox)(
  'SIGTERM reaches the process in the sandbox, and the proxy ends with 0',
  async () => {
    const { pod, processes } = await startPod();
    const client = await pod.connectAs(GATEWAY_ID);
    client.write(get('/'));
    // Process 1 of its namespace.
    expect(await client.take('sandboxed 1')).toContain('200 OK');
    const { code, stderr } = await pod.svc.end('SIGTERM');
    expect(stderr).toMatch(/"message":"asked"/);
    expect(stderr).not.toMatch(/was killed/);
    expect(code).toBe(0);
    await vi.waitFor(() => expect(processes()).toEqual([]));
  },
);

test.runIf(hasSandbox)('nothing outlives a proxy that is killed', async () => {
  const { pod, processes } = await startPod();
  expect(processes().length).toBeGreaterThan(1);
  await pod.svc.end('SIGKILL');
  await vi.waitFor(() => expect(processes()).toEqual([]));
});

test.runIf(hasSandbox)('the signal by which the process has ended is named', async () => {
  const { pod, processes } = await startPod();
  const server = processes().find((id) => {
    const ids = /^NSpid:.*/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[0];
    return ids?.endsWith('\t1') && ids.split('\t').length > 2;
  });
  process.kill(Number(server), 'SIGKILL');
  const { code, stderr } = await pod.svc.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/The process has ended by SIGKILL\. Look at its log/);
});
