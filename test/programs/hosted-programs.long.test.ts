// Web servers as services of one machine: real `svc control-plane`, `svc proxy`, bubblewrap and pasta, and the caller's certificate.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { storeServer } from '../support/hosted-program.ts';
import { HostingMachine, processesOf, socketsIn } from '../support/hosting-machine.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';

const WEB = { name: 'web', image: 'oci:images/web:1', hosting: 'process', protocol: 'http/1.1' };

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

async function hosting(env: Readonly<Record<string, string>> = {}): Promise<HostingMachine> {
  const machine = await HostingMachine.start(provider, env);
  storeServer(machine.identified.machine, 'web');
  return machine;
}

describe.skipIf(noSandbox !== undefined)('a web-hosted service', () => {
  test('serves from its sandbox, with its variables and nothing of the machine', async () => {
    const machine = await hosting();
    const env = { GREETING: 'a b', SHADOWED: 'descriptor', LD_LIBRARY_PATH: '/nowhere' };
    const [web] = await machine.deploy({ ...WEB, env });
    const seen = (await machine.ask(web!, '/seen')) as Record<string, unknown>;
    expect(seen).toMatchObject({ pid: 1, uid: 1000, host: web!.spec.name });
    expect(seen['env']).toMatchObject({
      ...env,
      FROM_IMAGE: 'image',
      PORT: '8080',
      SVC_SERVICES_URL: 'http://127.0.0.1:7630',
    });
    expect(Object.keys(seen['env'] as object).filter((name) => /SVC_|LISTEN/.test(name))).toEqual([
      'SVC_SERVICES_URL',
    ]);
    expect(seen['headers']).toMatchObject({ 'x-svc-caller': 'internet' });
    for (const path of [web!.path, join(machine.identified.folder, 'authorities'), '/root'])
      expect(await machine.ask(web!, `/file?${path}`)).toBe('ENOENT');
    // The control plane's own port, and the process's port from outside.
    const { port } = new URL(await machine.identified.machine.svc.listening());
    expect(await machine.ask(web!, `/connect?127.0.0.1:${port}`)).toBe('ECONNREFUSED');
    for (const host of ['127.0.0.1', web!.spec.address])
      await expect(fetch(`http://${host}:8080/seen`)).rejects.toThrow(/fetch failed/);
    expect((await fetch(`http://${web!.spec.address}:7627/ready`)).status).toBe(200);
  }, 60_000);

  test('shows what its process writes, and is started again when that ends', async () => {
    const machine = await hosting();
    const [web] = await machine.deploy(WEB);
    await machine.identified.askAsGateway(web!, '/die').catch(() => {});
    await machine.until('web', ({ lifecycle }) => lifecycle !== 'ready');
    await machine.until('web', ({ lifecycle }) => lifecycle === 'ready');
    expect(await machine.ask(web!, '/')).toEqual({ version: '1' });
    expect(await machine.logs('web')).toContain('listening');
    expect(await machine.logs('web', '?previous=true')).toMatch(/SVC_PROCESS_ENDED|exit code 3/);
  }, 60_000);

  test('has two instances, and is replaced without a moment in which none is ready', async () => {
    const machine = await hosting();
    const before = await machine.deploy({ ...WEB, instances: 2 });
    const former = before.flatMap(processesOf);
    expect(new Set(before.map(({ spec }) => spec.address)).size).toBe(2);
    const { generation } = await machine.apply({ ...WEB, instances: 2, env: { VERSION: '2' } });
    let leastReady = 2;
    await machine.until('web', (status) => {
      leastReady = Math.min(leastReady, status.readyInstances);
      return status.generation === generation && status.lifecycle === 'ready';
    });
    expect(leastReady).toBe(2);
    await expect.poll(() => machine.instances('web').length, { timeout: 20_000 }).toBe(2);
    for (const one of machine.instances('web'))
      expect(await machine.ask(one, '/')).toEqual({ version: '2' });
    await expect.poll(() => former.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  }, 90_000);

  test('says that its process does not listen, and the former instance serves on', async () => {
    const machine = await hosting();
    const [web] = await machine.deploy(WEB);
    await machine.identified.machine.killAndStart({ SVC_LOCAL_PROGRESS_TIMEOUT_MS: '15000' });
    const { generation } = await machine.apply({ ...WEB, env: { MUTE: 'yes' } });
    const { detail } = await machine.until(
      'web',
      (status) => status.generation === generation && status.lifecycle === 'failed',
    );
    expect(detail).toBe(
      'the process is not listening on port 8080: the rollout has not got on for 15 s',
    );
    expect(await machine.ask(web!, '/')).toEqual({ version: '1' });
  }, 90_000);

  test('calls services and is called by them, by certificate', async () => {
    const machine = await hosting();
    await machine.identified.machine.store('routes', await compileFixture('routes'));
    const module = await machine.identified.deploy('routes', 'routes');
    storeServer(machine.identified.machine, 'other');
    const [web] = await machine.deploy({ ...WEB, callers: ['other'] });
    const [other] = await machine.deploy({
      ...WEB,
      name: 'other',
      image: 'oci:images/other:1',
      mounts: [{ path: '/mounted', service: 'web' }],
    });
    // A web-hosted service calls a module, and another web-hosted one, which admits it.
    expect(await machine.ask(web!, '/call/routes/requests/caller')).toEqual({
      status: 200,
      body: 'service shop/web',
    });
    const called = (await machine.ask(other!, '/call/web/seen')) as { readonly body: string };
    expect(JSON.parse(called.body)).toMatchObject({
      headers: { 'x-svc-caller': 'service shop/other' },
    });
    // One that is not admitted.
    expect(await machine.ask(web!, '/call/other/seen')).toMatchObject({ status: 403 });
    // Under a mount.
    expect(await machine.ask(other!, '/mounted/seen')).toMatchObject({
      headers: { 'x-svc-caller': 'internet' },
    });
    expect(await machine.ask(web!, '/call/missing/x')).toMatchObject({ status: 503 });
    expect(module.spec.ports).toEqual({ http: 9000, management: 7626, remoting: 17_355 });
    expect(web!.spec.ports).toEqual({ http: 9000, management: 7627 });
  }, 90_000);

  test('continues while no control plane runs, and leaves nothing when it is deleted', async () => {
    const machine = await hosting();
    const [web] = await machine.deploy(WEB);
    const pids = processesOf(web!);
    // The proxy, pasta, what keeps the sandbox, bubblewrap, and the server.
    expect(pids).toHaveLength(5);
    await machine.identified.machine.killAndStart();
    await machine.until('web', ({ lifecycle }) => lifecycle === 'ready');
    expect(processesOf(web!)).toEqual(pids);
    const { svc } = machine.identified.machine;
    await svc.send('DELETE /services/shop/web', 'ann');
    await expect.poll(() => existsSync(web!.path), { timeout: 20_000 }).toBe(false);
    await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    const { folder } = machine.identified;
    expect(socketsIn(folder)).toEqual([]);
    await expect.poll(() => readdirSync(join(folder, 'images')), { timeout: 20_000 }).toEqual([]);
  }, 60_000);

  test('is killed with all its processes when its proxy is', async () => {
    const machine = await hosting();
    const [web] = await machine.deploy(WEB);
    const before = processesOf(web!);
    process.kill(web!.lastRun!.process!.pid, 'SIGKILL');
    await expect
      .poll(() => before.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 20_000 })
      .toEqual([]);
    await machine.until('web', ({ lifecycle }) => lifecycle === 'ready');
    expect(await machine.ask(web!, '/')).toEqual({ version: '1' });
  }, 60_000);

  test('finishes a request that is in flight when it is paused', async () => {
    const machine = await hosting();
    const [web] = await machine.deploy(WEB);
    const slow = machine.ask(web!, '/slow?1000');
    await pause(200);
    await machine.identified.machine.svc.send('POST /services/shop/web/pause', 'ann');
    expect(await slow).toBe('slow');
    await machine.until('web', ({ readyInstances }) => readyInstances === 0);
  }, 60_000);
});
