// A deployed instance as a real process: which servers it has, and that it can be looked at from its first moment to its
// last, whatever its module does.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { managementOf, startDeployed, untilStatus } from '../support/deployed-service.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { stuckRequest } from '../support/stuck-request.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const counter = join(folder, 'counter.wasm');
const faulty = join(folder, 'faulty.wasm');
const isLinux = process.platform === 'linux';
if (!isLinux) console.log('not tested: which ports a process listens on (only Linux tells)');

beforeAll(async () => {
  writeFileSync(counter, await compileFixture('counter'));
  writeFileSync(faulty, await compileFixture('faulty'));
});

const portOf = (url: string) => Number(new URL(url).port);

interface Report {
  readonly ready: boolean;
  readonly parts: readonly { readonly part: string; readonly ready: boolean }[];
}

const unready = async (answer: Response) =>
  ((await answer.json()) as Report).parts.filter(({ ready }) => !ready).map(({ part }) => part);

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('GET /ready is 200 once the instance is a member, the module admitted, the journal open and every shard listens', async () => {
  const { svc, management } = await startDeployed(counter, join(folder, 'ready'));
  expect((await fetch(`${management}/alive`)).status).toBe(200);
  const url = await svc.listening();
  const ready = await untilStatus(`${management}/ready`, 200);
  expect(await ready.json()).toEqual({
    ready: true,
    parts: [
      'cluster',
      'module',
      'journal',
      'shards',
      'start',
      'stopping',
      'views',
      'configuration',
      'http',
    ].map((part) => ({
      part,
      ready: true,
      ...((part === 'views' || part === 'configuration') && { required: false }),
    })),
  });
  // It can be routed to; what its routes answer is another matter.
  expect((await fetch(`${url}/none`)).status).toBe(404);
  expect((await fetch(`${management}/ready`)).status).toBe(200);

  const version = await (await fetch(`${management}/svc/version`)).json();
  expect(`${(version as { version: string }).version}\n`).toBe((await runSvc(['version'])).stdout);
  expect(await (await fetch(`${management}/cluster/members`)).json()).toMatchObject({
    members: [{ node: expect.stringMatching(/^svc:\/\/counter@.+:17355$/), status: 'Up' }],
    unreachable: [],
  });
  expect((await svc.end('SIGTERM')).code).toBe(0);
});

test('a module that is not there: it can be looked at until it ends', async () => {
  const svc = new SvcProcess(['run', '--deployed', join(folder, 'none.wasm'), '--port', '0']);
  await managementOf(svc);
  const { code, stderr } = await svc.ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('SVC_MODULE_UNREADABLE')]);
});

describe('ports', () => {
  test.skipIf(!isLinux)(
    'a deployed instance listens for http and for management, and on nothing else',
    async () => {
      const registered = join(folder, 'registered');
      mkdirSync(registered);
      const env = { SVC_RUNNING_DIR: registered };
      const { svc, management } = await startDeployed(counter, join(folder, 'ports'), [], env);
      const http = portOf(await svc.listening());
      await untilStatus(`${management}/ready`, 200);
      // Any address may ask, and neither remoting (17355) nor an observability endpoint is there.
      expect([...new Set(listeningAddresses(svc.child.pid!))].toSorted()).toEqual(
        [`0.0.0.0:${http}`, `0.0.0.0:${portOf(management)}`].toSorted(),
      );
      expect(readdirSync(registered)).toEqual([]);
    },
  );

  test.skipIf(!isLinux)(
    'with http false no HTTP server exists, and the instance is ready without one',
    async () => {
      const settings = ['svc.http.enabled=false'];
      const { svc, management } = await startDeployed(counter, join(folder, 'no-http'), settings);
      await untilStatus(`${management}/ready`, 200);
      expect(listeningAddresses(svc.child.pid!)).toEqual([`0.0.0.0:${portOf(management)}`]);
      expect(await svc.end('SIGTERM')).toMatchObject({ code: 0, stdout: '' });
    },
  );

  test.skipIf(!isLinux)('a local run serves no management server', async () => {
    const svc = new SvcProcess(['run', counter, '--port', '0', '--data', join(folder, 'local')]);
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const http = `127.0.0.1:${portOf(await svc.listening())}`;
    const others = listeningAddresses(svc.child.pid!).filter((address) => address !== http);
    // What else there may be can be reached from this machine alone.
    expect(others.filter((address) => !address.startsWith('127.0.0.1:'))).toEqual([]);
    expect(svc.stderr).not.toContain('management');
    for (const address of others) expect((await fetch(`http://${address}/ready`)).status).toBe(404);
  });

  test('the management port is 7626 when nothing else is said', async () => {
    const words = ['run', '--deployed', counter, '--port', '0', '--data', join(folder, 'default')];
    const svc = new SvcProcess(words, { env: { SVC_MANAGEMENT_PORT: undefined } });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    // Another instance may have it on this machine.
    await Promise.race([svc.logged(/"host":"0\.0\.0\.0","port":7626,/), svc.ended]);
    expect(svc.stderr).toMatch(
      /"port":7626,"message":"management listening"|Port 7626 of 0\.0\.0\.0/,
    );
  });

  test('the http port is 9000 when nothing else is said', async () => {
    const words = ['run', '--deployed', counter, '--data', join(folder, 'default-http')];
    const svc = new SvcProcess(words);
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const management = await managementOf(svc);
    expect(portOf(management)).not.toBe(9000);
    // Another instance may have it on this machine.
    await Promise.race([svc.listening(), svc.ended]);
    expect(svc.stdout + svc.stderr).toMatch(/^http:\/\/0\.0\.0\.0:9000\n|Port 9000 /);
  });

  test('SVC_DEPLOYED does what --deployed does', async () => {
    const words = ['run', counter, '--port', '0', '--data', join(folder, 'by-variable')];
    const svc = new SvcProcess(words, { env: { SVC_DEPLOYED: 'true' } });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const management = await managementOf(svc);
    expect(await svc.listening()).toMatch(/^http:\/\/0\.0\.0\.0:/);
    expect((await fetch(`${management}/alive`)).status).toBe(200);
  });

  test('a management port that is taken: the start fails, and says which setting', async () => {
    const port = await takenPort();
    const data = join(folder, 'taken');
    const { code, stderr } = await runSvc(
      ['run', '--deployed', counter, '--port', '0', '--data', data],
      { env: { SVC_MANAGEMENT_PORT: String(port) } },
    );
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'error',
      message: expect.stringMatching(`^Port ${port} of 0.0.0.0.* svc.management.port`) as string,
      code: 'SVC_PORT_IN_USE',
    });
    expect(existsSync(data)).toBe(false);
  });
});

test('it answers while a guest burns CPU in every shard', async () => {
  const settings = ['svc.shards=2', 'svc.wasm.handler-fuel=2000000000'];
  const { svc, management } = await startDeployed(faulty, join(folder, 'burns'), settings);
  const url = await svc.listening();
  await untilStatus(`${management}/ready`, 200);
  const spins: Promise<unknown>[] = [];
  for (;;) {
    // Which shard has a connection is chance. The process is ended before most of them have burnt what they may.
    for (let each = 0; each < 8; each++) spins.push(fetch(`${url}/faulty/spin`).catch(() => {}));
    let answered = 0;
    const probes = Array.from({ length: 8 }, async () => {
      await fetch(`${url}/faulty/requests`, { headers: { connection: 'close' } }).catch(() => {});
      answered++;
    });
    for (let round = 0; round < 20; round++)
      for (const path of ['/ready', '/alive', '/svc/metrics', '/cluster/members'])
        expect((await fetch(management + path)).status).toBe(200);
    if (answered === 0) break;
    await Promise.all(probes);
  }
  await svc.end('SIGKILL');
  await Promise.all(spins);
});

test('GET /ready names a shard that is being started again', async () => {
  const { svc, management } = await startDeployed(faulty, join(folder, 'again'), [
    'svc.shards=2',
    'svc.wasm.handler-fuel=2000000000',
    'svc.supervisor.heartbeat-ms=20',
    'svc.supervisor.hang-after-ms=200',
    'svc.supervisor.restart-pause-ms=500',
  ]);
  const url = await svc.listening();
  await untilStatus(`${management}/ready`, 200);
  const seen = new AbortController();
  const spinning = (async () => {
    // It may be there again before this program has looked: then it ends once more.
    while (!seen.signal.aborted) await fetch(`${url}/faulty/spin`).catch(() => {});
  })();
  expect(await unready(await untilStatus(`${management}/ready`, 503))).toEqual(['shards']);
  seen.abort();
  await spinning;
  await untilStatus(`${management}/ready`, 200);
  await svc.logged(/the service is served again/);
});

test('from a stop on GET /ready is 503 and names it, and GET /alive is 200 until the process ends', async () => {
  const { svc, management } = await startDeployed(counter, join(folder, 'stops'));
  const url = await svc.listening();
  await untilStatus(`${management}/ready`, 200);
  const release = await stuckRequest(`${url}/counters/a`);
  svc.child.kill('SIGTERM');
  const answer = await untilStatus(`${management}/ready`, 503);
  expect(await unready(answer)).toEqual(['cluster', 'stopping']);
  expect((await fetch(`${management}/alive`)).status).toBe(200);
  await release();
  expect(await svc.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('"stopped"') });
});
