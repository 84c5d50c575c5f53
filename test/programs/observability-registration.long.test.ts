// How a local run is found by a console, and what it opens: its registration file, and the one loopback endpoint. A
// deployed instance has neither.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { managementOf } from '../support/deployed-service.ts';
import { SvcProcess } from '../support/host-process.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { filesIn, observedProcess, until } from '../support/observed-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const modules = temporaryFolderOfFile();
const module = join(modules, 'shopping-cart.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('shopping-cart')));

const isLinux = process.platform === 'linux';

describe('a registration file', () => {
  test('has exactly the fields that the contract names, and only its user may read it', async () => {
    const cart = await observedProcess(temporaryFolder(), [module, '--name', 'carts']);
    const { pid } = cart.svc.child;
    const file = join(cart.folder, `${pid}.json`);
    const registration = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    expect(registration).toEqual({
      name: 'carts',
      instanceId: expect.stringMatching(/^[0-9a-f]{16}$/),
      pid,
      observabilityAddress: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(filesIn(cart.folder)).toEqual([`${pid}.json`]);
    expect([statSync(file).mode & 0o777, statSync(cart.folder).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    const { body } = await cart.get('service', 'ServiceDescription');
    expect(body).toMatchObject({
      name: 'carts',
      pid,
      instanceId: registration['instanceId'],
      startedAt: registration['startedAt'],
    });
  });

  // A terminal that is closed sends SIGHUP.
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'is gone after %s, and so is what says whose the journal is',
    async (signal) => {
      const folder = temporaryFolder();
      const cart = await observedProcess(folder, [module, '--data', 'data']);
      expect(filesIn(join(folder, 'data'))).toContain('owner.json');
      expect((await cart.svc.end(signal)).code).toBe(0);
      expect(filesIn(cart.folder)).toEqual([]);
      expect(filesIn(join(folder, 'data'))).not.toContain('owner.json');
    },
  );

  test('left by a killed process is removed by the next service', async () => {
    const folder = temporaryFolder();
    const killed = await observedProcess(folder, [module, '--data', 'one']);
    await killed.svc.end('SIGKILL');
    const left = `${killed.svc.child.pid}.json`;
    expect(filesIn(killed.folder)).toEqual([left]);
    const cart = await observedProcess(folder, [module, '--data', 'two']);
    expect(filesIn(cart.folder)).toEqual([`${cart.svc.child.pid}.json`]);
    await cart.svc.end('SIGINT');
    expect(filesIn(cart.folder)).toEqual([]);
  });

  test('that cannot be written is a warning, and the service is served', async () => {
    const folder = temporaryFolder();
    // A file in the folder's place: of its rights, a privileged user would not hear.
    writeFileSync(join(folder, 'running'), '');
    const svc = new SvcProcess(['run', module, '--port', '0', '--log', 'json'], {
      cwd: folder,
      env: { SVC_RUNNING_DIR: join(folder, 'running') },
    });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const url = await svc.listening();
    await svc.logged(/"level":"warn".*the service cannot be registered/);
    expect((await fetch(`${url}/carts/c1`)).status).toBe(200);
    expect((await svc.end('SIGINT')).code).toBe(0);
  });

  test('lies below .svc/running in the home folder, unless a setting moves it', async () => {
    const folder = temporaryFolder();
    const home = join(folder, 'home');
    mkdirSync(home);
    const svc = new SvcProcess(['run', module, '--port', '0', '--log', 'json'], {
      cwd: folder,
      env: { HOME: home, USERPROFILE: home, SVC_RUNNING_DIR: undefined },
    });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    await svc.listening();
    const running = join(home, '.svc', 'running');
    await until('its file', () => filesIn(running).includes(`${svc.child.pid}.json`));
    await svc.end('SIGINT');
    expect(filesIn(running)).toEqual([]);
  });
});

test('an endpoint that cannot listen is a warning, and the service is served, unregistered', async () => {
  const folder = temporaryFolder();
  const preload = join(folder, 'deaf.mjs');
  // Shards listen in threads of their own.
  writeFileSync(
    preload,
    `import { Server } from 'node:net';
import { isMainThread } from 'node:worker_threads';
if (isMainThread)
  Server.prototype.listen = function () {
    setImmediate(() => this.emit('error', new Error('no socket is left')));
    return this;
  };
`,
  );
  const running = join(folder, 'running');
  const svc = new SvcProcess(['run', module, '--port', '0', '--log', 'json'], {
    cwd: folder,
    env: { SVC_RUNNING_DIR: running, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` },
  });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const url = await svc.listening();
  await svc.logged(
    /"level":"warn".*no socket is left.*the observability endpoint cannot be opened/,
  );
  expect((await fetch(`${url}/carts/c1`)).status).toBe(200);
  expect((await svc.end('SIGINT')).code).toBe(0);
  expect(filesIn(running)).toEqual([]);
});

describe.runIf(isLinux)('what a process listens on', () => {
  test('in a local run is its HTTP server and one endpoint, both on loopback', async () => {
    const cart = await observedProcess(temporaryFolder(), [module]);
    const expected = [cart.url, cart.address].map((url) => new URL(url).host);
    const addresses = listeningAddresses(cart.svc.child.pid!);
    expect(addresses.toSorted()).toEqual(expected.toSorted());
    expect(addresses.filter((address) => !address.startsWith('127.0.0.1:'))).toEqual([]);
  });

  test('when deployed has no observability endpoint, and no file is written', async () => {
    const folder = temporaryFolder();
    const running = join(folder, 'running');
    const args = ['run', module, '--deployed', '--port', '0', '--data', join(folder, 'data')];
    const svc = new SvcProcess(args, {
      cwd: folder,
      env: { SVC_RUNNING_DIR: running, SVC_MANAGEMENT_PORT: '0' },
    });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const { port } = new URL(await svc.listening());
    const { port: management } = new URL(await managementOf(svc));
    // Of each shard there is a socket of the same address.
    const ports = listeningAddresses(svc.child.pid!).map((address) => address.split(':').at(-1));
    expect(new Set(ports)).toEqual(new Set([port, management]));
    for (const open of [port, management])
      expect((await fetch(`http://127.0.0.1:${open}/observability/service`)).status).toBe(404);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(filesIn(running)).toEqual([]);
  });
});
