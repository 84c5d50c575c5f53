// `svc proxy` as a process: what it needs to start, when it is ready, how it stops.
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../support/certificates/certificate-files.ts';
import { type Ended, runSvc } from '../support/host-process.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { dialTcp, GATEWAY_ID, idOf, PodProcess, WebPod } from '../support/web-pods/web-pod.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET / HTTP/1.1\r\nHost: shop.example.com\r\n\r\n';
/** The settings that a proxy needs beside its certificates. */
const NAMED = {
  SVC_NAME: 'web',
  SVC_PROJECT: 'shop',
  SVC_IDENTITY_TRUST_DOMAIN: 'td',
  SVC_IDENTITY_GATEWAY: GATEWAY_ID,
};
let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

async function startPod(settings: Readonly<Record<string, string>> = {}): Promise<WebPod> {
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), settings });
  onTestFinished(() => pod.end());
  return pod;
}

/** Runs a proxy with the certificates of a folder, until it ends by itself. */
async function runWith(folder: string): Promise<Ended> {
  return runSvc(['proxy', '--log', 'text', '--port', '0'], {
    env: { ...NAMED, SVC_IDENTITY_FOLDER: folder },
  });
}

async function statusOf(peer: RawPeer): Promise<string> {
  const { lines } = await peer.message();
  return lines[0]!;
}

async function readiness(pod: WebPod): Promise<string> {
  const prober = await pod.connectToReadiness();
  prober.write('GET /ready HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n');
  return prober.rest();
}

test('a request goes to the process and its response to the client', async () => {
  const pod = await startPod();
  const client = await pod.connectAs(GATEWAY_ID);
  client.write(GET);
  const process = await pod.process.next();
  expect(await process.head()).toEqual([
    'GET / HTTP/1.1',
    'Host: shop.example.com',
    'X-Svc-Caller: internet',
  ]);
  process.write(OK);
  expect(await client.message()).toEqual({
    lines: ['HTTP/1.1 200 OK', 'Content-Length: 2'],
    body: 'ok',
  });
});

describe('without usable certificates', () => {
  test('it does not start, and says which file is missing and what to do', async () => {
    const { code, stdout, stderr } = await runWith(join(temporaryFolder(), 'none'));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^svc: .*tls\.crt.* Mount a folder with tls\.crt.*\[SVC_CERTIFICATE_MISSING\]\n$/,
    );
  });

  test('it does not start with the certificate of another service', async () => {
    const folder = temporaryFolder();
    const issued = await authority.issue({ uris: [idOf('orders')] });
    writeCertificates(folder, certificateTexts(issued, authority));
    const { code, stderr } = await runWith(folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/names .*sa\/orders, and has to name .*\[SVC_CERTIFICATE_UNUSABLE\]/);
  });
});

test('P29: calls are taken on 127.0.0.1 alone', async () => {
  const pod = await startPod({ 'svc.proxy.host': '0.0.0.0' });
  expect(listeningAddresses(pod.svc.child.pid!).toSorted()).toEqual(
    [
      `0.0.0.0:${pod.servicePort}`,
      `0.0.0.0:${pod.readinessPort}`,
      `127.0.0.1:${pod.callingPort}`,
    ].toSorted(),
  );
});

test('P29: a call to another address of the machine is not connected', async () => {
  const pod = await startPod({ 'svc.proxy.host': '0.0.0.0' });
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const host of new Set(['::1', '127.0.0.2', ...own.map(({ address }) => address)])) {
    if (host === '127.0.0.1') continue;
    await expect(dialTcp(pod.callingPort, host)).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL/);
  }
  // The address of a connection is what decides, as the service port shows.
  await dialTcp(pod.servicePort, '127.0.0.2');
});

describe('P35: the readiness port', () => {
  test('follows whether the process listens, and asks it for nothing', async () => {
    const pod = await startPod();
    expect(await readiness(pod)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{"ready":true\}$/);
    const probed = await pod.process.next();
    expect(await probed.rest()).toBe('');
    const { port } = pod.process;
    pod.process.close();
    expect(await readiness(pod)).toMatch(
      /^HTTP\/1\.1 503 [^]*X-Svc-Answered-By: proxy\r\n[^]*\{"error":"The process is not listening\."\}$/,
    );
    const again = await PodProcess.open(port);
    onTestFinished(() => again.close());
    expect(await readiness(pod)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('has nothing else', async () => {
    const pod = await startPod();
    const prober = await pod.connectToReadiness();
    for (const request of ['GET /', 'POST /ready', 'GET /ready/x']) {
      prober.write(`${request} HTTP/1.1\r\nHost: pod\r\n\r\n`);
      expect(await proxyAnswer(prober)).toBe('404 This port only answers GET /ready.');
    }
    prober.write('HEAD /ready?x HTTP/1.1\r\nHost: pod\r\n\r\n');
    expect((await prober.head())[0]).toBe('HTTP/1.1 200 OK');
    prober.write('GET /ready HTTP/1.1\nHost: pod\n\n');
    expect(await proxyAnswer(prober)).toMatch(/^400 /);
  });

  test('leaves no connection behind', async () => {
    const pod = await startPod();
    const prober = await pod.connectToReadiness();
    for (let probe = 0; probe < 500; probe++) {
      prober.write('GET /ready HTTP/1.1\r\nHost: pod\r\n\r\n');
      expect(await statusOf(prober)).toBe('HTTP/1.1 200 OK');
      await (await pod.process.next()).rest();
    }
    expect(pod.process.accepted).toBe(500);
  });
});

describe('P34: SIGTERM', () => {
  test('lets requests in flight and those of open connections finish, and takes no new connection', async () => {
    const pod = await startPod();
    const busy = await pod.connectAs(GATEWAY_ID);
    const idle = await pod.connectAs(GATEWAY_ID);
    idle.write(GET);
    const first = await pod.process.next();
    await first.head();
    first.write(OK);
    expect((await idle.message()).lines).not.toContain('Connection: close');
    busy.write('GET /busy HTTP/1.1\r\nHost: x\r\n\r\n');
    // The connection to the process that has become idle.
    expect((await first.head())[0]).toBe('GET /busy HTTP/1.1');

    const ended = pod.svc.end('SIGTERM');
    await pod.svc.logged(/The proxy stops/);
    expect(await readiness(pod)).toMatch(/^HTTP\/1\.1 503 [^]*The proxy is stopping/);
    await expect(pod.connectAs(GATEWAY_ID)).rejects.toThrow(/ECONNREFUSED/);
    idle.write('GET /late HTTP/1.1\r\nHost: x\r\n\r\n');
    const second = await pod.process.next();
    await second.head();
    second.write(OK);
    const late = await idle.message();
    expect(late.lines).toEqual(['HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close']);
    expect(await idle.rest()).toBe('');
    first.write(OK);
    expect((await busy.message()).lines).toContain('Connection: close');
    expect((await ended).code).toBe(0);
  });

  test('closes a connection that stays idle, and lets the process call until the last request is answered', async () => {
    const pod = await startPod();
    const idle = await pod.connectAs(GATEWAY_ID);
    const busy = await pod.connectAs(GATEWAY_ID);
    busy.write(GET);
    const process = await pod.process.next();
    await process.head();
    const ended = pod.svc.end('SIGTERM');
    await pod.svc.logged(/The proxy stops/);
    expect(await idle.rest()).toBe('');
    const call = await pod.connectToCall();
    call.write('GET /nobody/ HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await proxyAnswer(call)).toBe('503 The service nobody cannot be found.');
    process.write(OK);
    expect((await busy.message()).body).toBe('ok');
    expect((await ended).code).toBe(0);
  });

  test('cuts after the time what is not finished, and ends with 0', async () => {
    const pod = await startPod({ 'svc.proxy.stop-timeout-ms': '300' });
    const events = await pod.connectAs(GATEWAY_ID);
    events.write(GET);
    const process = await pod.process.next();
    await process.head();
    process.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n');
    await events.take('event\r\n');
    const { code, stderr } = await pod.svc.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toMatch(/"requests":1,"message":"Requests were cut by the stop"/);
    // No end of the chunked body.
    expect(await events.rest()).toBe('');
  });

  test('ends at once when it comes a second time, later than it would if it were passed on', async () => {
    const pod = await startPod();
    const client = await pod.connectAs(GATEWAY_ID);
    client.write(GET);
    await (await pod.process.next()).head();
    pod.svc.child.kill('SIGTERM');
    await pod.svc.logged(/The proxy stops/);
    const again = setInterval(() => pod.svc.child.kill('SIGTERM'), 50);
    onTestFinished(() => clearInterval(again));
    expect((await pod.svc.ended).signal).toBe('SIGTERM');
    expect(client.received).toBe('');
  });
});
