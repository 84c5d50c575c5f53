// Many clients of the real proxy at once, and one after the other: their memory is bounded, and nothing of them is left.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { dial } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { residentBytes } from '../support/web-pods/resident-memory.ts';
import { GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

const MIB = 1024 * 1024;
const CLIENTS = 10_000;
const TEST_MS = 400_000;
/** Files that a process may have open; NaN: any number. */
const filesMax = Number(execFileSync('/bin/sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }));
const hasTooFewFiles = filesMax < CLIENTS + 500;
if (hasTooFewFiles)
  process.stderr.write(
    `${CLIENTS} clients are not tested: a process may open ${filesMax} files.\n`,
  );

async function startPod(settings: Readonly<Record<string, string>>): Promise<WebPod> {
  const server = createServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const authority = await CertificateAuthority.create('ca');
  const processPort = (server.address() as AddressInfo).port;
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), processPort, settings });
  onTestFinished(async () => {
    await pod.end();
    server.closeAllConnections();
    server.close();
  });
  return pod;
}

function openFiles(pod: WebPod): number {
  return readdirSync(`/proc/${pod.svc.child.pid!}/fd`).length;
}

/** Opens connections in a process of their own that sends `text` on each. Resolves once all are open. */
async function openClients(port: number, text: string): Promise<() => Promise<number>> {
  const child = fork(
    new URL('../support/web-pods/many-clients.ts', import.meta.url),
    [`${port}`, `${CLIENTS}`, text],
    { execArgv: [] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ opened }] = (await once(child, 'message')) as [{ opened: number }];
  expect(opened).toBe(CLIENTS);
  return async () => {
    child.send('count');
    const [{ open }] = (await once(child, 'message')) as [{ open: number }];
    return open;
  };
}

async function get(pod: WebPod): Promise<void> {
  const client = await pod.connectAs(GATEWAY_ID);
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect((await client.head())[0]).toBe('HTTP/1.1 200 OK');
  client.socket.destroy();
}

test.skipIf(hasTooFewFiles)(
  'P36: 10,000 handshakes that are never finished take little memory, others are served, and all are cut',
  async () => {
    const pod = await startPod({
      'svc.proxy.connections-max': `${CLIENTS + 100}`,
      'svc.proxy.handshake-timeout-ms': '20000',
    });
    await get(pod);
    const { pid } = pod.svc.child;
    const [rssBytes, files] = [residentBytes(pid!), openFiles(pod)];
    const open = await openClients(pod.servicePort, '');
    await get(pod);
    const growth = residentBytes(pid!) - rssBytes;
    process.stderr.write(
      `${CLIENTS} handshakes: ${Math.round(growth / CLIENTS / 1024)} KiB each\n`,
    );
    expect(growth).toBeLessThan(CLIENTS * 48 * 1024);
    await expect.poll(open, { timeout: 200_000, interval: 500 }).toBe(0);
    await expect.poll(() => openFiles(pod)).toBeLessThanOrEqual(files + 5);
    await get(pod);
  },
  TEST_MS,
);

test.skipIf(hasTooFewFiles)(
  'the bytes of 10,000 heads that are never finished have a bound together, and others are served',
  async () => {
    const pod = await startPod({
      'svc.proxy.connections-max': `${CLIENTS + 100}`,
      'svc.proxy.head-timeout-ms': '20000',
    });
    await get(pod);
    const { pid } = pod.svc.child;
    const rssBytes = residentBytes(pid!);
    // The calling port has no handshakes, and the same limits.
    const open = await openClients(pod.callingPort, `GET / HTTP/1.1\r\nA: ${'x'.repeat(60_000)}`);
    await get(pod);
    const growth = residentBytes(pid!) - rssBytes;
    process.stderr.write(`${CLIENTS} heads: ${Math.round(growth / MIB)} MiB\n`);
    expect(growth).toBeLessThan(300 * MIB);
    await expect.poll(open, { timeout: 200_000, interval: 500 }).toBe(0);
  },
  TEST_MS,
);

test('P35: 10,000 probes of the readiness port leave nothing behind', async () => {
  const pod = await startPod({});
  const probe = async (): Promise<void> => {
    const prober = await dial(pod.readinessPort);
    prober.write('GET /ready HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n');
    expect((await prober.head())[0]).toBe('HTTP/1.1 200 OK');
    prober.socket.destroy();
  };
  const probes = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 20)
      await Promise.all(Array.from({ length: 20 }, probe));
  };
  // Memory grows with the work of a process that has just started.
  await probes(10_000);
  const { pid } = pod.svc.child;
  const [rssBytes, files] = [residentBytes(pid!), openFiles(pod)];
  await probes(10_000);
  await expect.poll(() => openFiles(pod)).toBeLessThanOrEqual(files + 5);
  expect(residentBytes(pid!) - rssBytes).toBeLessThan(32 * MIB);
});
