// How the gateway starts and ends: by the routes on disk, with sockets that were given to it, and with requests in flight.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { BoundSocket } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { writeRouteFile } from '../../routing/route-file.ts';
import {
  DOMAIN,
  exposed,
  gatewayWords,
  install,
  type Installation,
  startInstance,
  startRouteServer,
  TestGateway,
} from '../support/gateway/test-gateway.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { dialTcp, dialTls } from '../support/web-pods/web-pod.ts';

const CART = `cart-shop.${DOMAIN}`;
const GET = `GET / HTTP/1.1\r\nHost: ${CART}\r\n\r\n`;
const cli = join(import.meta.dirname, '..', '..', 'cli', 'bin', 'svc.js');
const folder = temporaryFolderOfFile();
let installation: Installation;
/** Answers requests to the instance that is on disk. */
let answer: (response: ServerResponse) => void = (response) => response.end('disk');

beforeAll(async () => {
  installation = await install(folder);
  const { server, ...instance } = await startInstance(installation, 'cart', (_request, response) =>
    answer(response),
  );
  await writeRouteFile(join(folder, 'routes.json'), {
    version: 3,
    services: [exposed('cart', [instance])],
  });
  return () => {
    server.closeAllConnections();
    server.close();
  };
});

async function startGateway(settings: Readonly<Record<string, string>> = {}): Promise<TestGateway> {
  const gateway = await TestGateway.start(installation, settings);
  onTestFinished(() => void gateway.svc.end('SIGKILL'));
  return gateway;
}

test('it serves by the routes on disk without an orchestrator, and follows one that comes', async () => {
  const gateway = await startGateway();
  expect((await gateway.get(CART)).body).toBe('disk');
  const routes = await startRouteServer(installation);
  await vi.waitUntil(() => routes.routers === 1, 10_000);
  await routes.publish([]);
  expect((await gateway.get(CART)).status).toBe(404);
  await routes.close();
  await gateway.svc.logged(/The orchestrator is gone/);
  expect((await gateway.get(CART)).status).toBe(404);
});

test('without routes on disk and without an orchestrator it asks clients to come again', async () => {
  const gateway = await startGateway({ 'svc.gateway.routes-file': join(folder, 'none.json') });
  const { status, lines } = await gateway.get(CART);
  expect(status).toBe(503);
  expect(lines).toContain('Retry-After: 1');
});

test('SIGTERM lets the request in flight finish, takes no further connection, and ends with 0', async () => {
  const gateway = await startGateway();
  const inFlight = Promise.withResolvers<ServerResponse>();
  answer = (response) => {
    response.write('first ');
    inFlight.resolve(response);
  };
  const request = gateway.get(CART);
  const response = await inFlight.promise;
  const ended = gateway.svc.end('SIGTERM');
  await gateway.svc.logged(/The gateway stops/);
  await vi.waitFor(() => expect(dialTcp(gateway.port)).rejects.toThrow(/ECONNREFUSED/));
  response.end('last');
  answer = (one) => one.end('disk');
  expect((await request).status).toBe(200);
  expect((await ended).code).toBe(0);
});

test('a request that does not finish is cut when the time for that is over', async () => {
  const gateway = await startGateway({ 'svc.gateway.stop-timeout-ms': '50' });
  const inFlight = Promise.withResolvers<void>();
  answer = () => inFlight.resolve();
  const client = await gateway.connect(CART);
  client.write(GET);
  await inFlight.promise;
  answer = (response) => response.end('disk');
  const { code, stderr } = await gateway.svc.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toContain('Requests were cut by the stop');
  expect(await client.rest()).toBe('');
});

/** A module that makes the process take its Node for an older one, which starts the one that is installed. */
const OLDER_NODE =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.0.0"}})';

/** A gateway that was started with a socket. */
interface GivenSocket {
  /** Resolves once the log has the text. */
  readonly logged: (text: string) => Promise<void>;
  /** Ends the process that was started with SIGKILL; resolves once no process of the gateway is left. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM to the process that was started, or to all of its processes. */
  readonly signal: (to: 'first' | 'all') => void;
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM; resolves with the exit code. */
  readonly end: () => Promise<number | null>;
}

/** Starts a gateway as systemd does: with a socket that stays when the process has ended. */
function startGiven(
  fd: number,
  nodeOptions: readonly string[] = [],
  npmEvent?: string,
): GivenSocket {
  const command = [process.execPath, ...nodeOptions, cli, 'gateway'];
  const words = [...command, ...gatewayWords(installation)];
  const child = spawn(
    '/bin/sh',
    ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=https exec "$@"', 'sh', ...words],
    // A group of its own.
    {
      stdio: ['ignore', 'ignore', 'pipe', fd],
      detached: true,
      env: { ...process.env, npm_lifecycle_event: npmEvent },
    },
  );
  onTestFinished(() => {
    if (!child.stderr!.closed) process.kill(-child.pid!, 'SIGKILL');
  });
  let log = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  // Each process of the gateway has the other end of the pipe.
  const allEnded = once(child.stderr!, 'close');
  return {
    ended,
    async kill() {
      child.kill('SIGKILL');
      await allEnded;
    },
    signal: (to) => void process.kill(to === 'all' ? -child.pid! : child.pid!, 'SIGTERM'),
    logged: (text) => vi.waitUntil(() => log.includes(text), 10_000).then(() => undefined),
    async end() {
      child.kill('SIGTERM');
      return await ended;
    },
  };
}

test('with a socket that was given, a restart loses nothing: silent and waiting connections are served', async () => {
  // The test stands for the supervisor: it holds the socket, and accepts nothing.
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => socket.close());
  const { port } = socket.address();
  const options = { ca: installation.names.certificate, servername: CART };
  const first = startGiven(socket.fd());
  await first.logged('https listening');
  const silent = await dialTls(port, options);
  const ended = first.end();
  await first.logged('The gateway stops');
  const waiting = dialTls(port, options);
  silent.write(GET);
  const { lines, body } = await silent.message();
  expect([lines[0], lines.includes('Connection: close'), body]).toEqual([
    'HTTP/1.1 200 OK',
    true,
    'disk',
  ]);
  silent.socket.end();
  expect(await ended).toBe(0);
  const second = startGiven(socket.fd());
  const client = await waiting;
  client.write(GET);
  expect((await client.message()).body).toBe('disk');
  client.socket.destroy();
  expect(await second.end()).toBe(0);
});

test('SIGTERM to all processes of a gateway with a given socket, as systemd sends it, is one stop', async () => {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => socket.close());
  const inFlight = Promise.withResolvers<ServerResponse>();
  answer = (response) => inFlight.resolve(response);
  onTestFinished(() => void (answer = (response) => response.end('disk')));
  const gateway = startGiven(socket.fd());
  await gateway.logged('https listening');
  const ca = installation.names.certificate;
  const client = await dialTls(socket.address().port, { ca, servername: CART });
  client.write(GET);
  const response = await inFlight.promise;
  gateway.signal('all');
  // The process that was started passes both on. Those of a second are one stop, so the test may not wait in between.
  gateway.signal('first');
  await gateway.logged('The gateway stops');
  response.end('finished');
  expect((await client.message()).body).toBe('finished');
  client.socket.end();
  expect(await gateway.ended).toBe(0);
});

test('a socket that was given to an older Node is passed on to the one that runs the gateway', async () => {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => socket.close());
  const gateway = startGiven(socket.fd(), ['--import', OLDER_NODE]);
  await gateway.logged('https listening');
  const ca = installation.names.certificate;
  const client = await dialTls(socket.address().port, { ca, servername: CART });
  client.write(GET);
  expect((await client.message()).body).toBe('disk');
  client.socket.destroy();
  expect(await gateway.end()).toBe(0);
});

test('below npm, a gateway with a given socket serves on after it has looked at its parent', async () => {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => socket.close());
  const gateway = startGiven(socket.fd(), [], 'start');
  await gateway.logged('https listening');
  const options = { ca: installation.names.certificate, servername: CART };
  const asked = async () => {
    const client = await dialTls(socket.address().port, options);
    client.write(GET);
    const { body } = await client.message();
    client.socket.destroy();
    return body;
  };
  // Each process looks every 200 ms.
  for (const endMs = performance.now() + 1_000; performance.now() < endMs;)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await Promise.race([asked(), gateway.ended])).toBe('disk');
  expect(await gateway.end()).toBe(0);
});

test('a gateway with a given socket stops once the process that was started is killed', async () => {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => socket.close());
  const gateway = startGiven(socket.fd());
  await gateway.logged('https listening');
  const killed = gateway.kill();
  await gateway.logged('The gateway stops');
  await expect(killed).resolves.toBeUndefined();
});

test('a folder without a usable certificate, and settings that are missing, stop the start', async () => {
  const empty = join(folder, 'identity');
  const { code, stderr } = await runSvc([
    'gateway',
    ...gatewayWords(installation, { 'svc.gateway.certificates': empty }),
  ]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('SVC_CERTIFICATE_MISSING')]);
  rmSync(join(folder, 'routes.sock'), { force: true });
  for (const missing of [
    'svc.gateway.base-domain',
    'svc.identity.folder',
    'svc.gateway.certificates',
  ]) {
    const ended = await runSvc(['gateway', ...gatewayWords(installation, { [missing]: '' })]);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(missing)]);
  }
});
