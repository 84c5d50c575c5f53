// Programs that embed the runtime as services of one machine: real `svc control-plane` and bubblewrap, and programs that lie.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { archiveOfRuntime, storeProgram } from '../support/embedded-program.ts';
import { HostingMachine, processesOf, socketsIn } from '../support/hosting-machine.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { buildNodeImage } from '../support/node-image.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const FLAGS = { name: 'flags', image: 'oci:images/flags:1', hosting: 'embedded' };
const CHANGE = JSON.stringify({ percentage: 20, reason: 'trial' });

const folder = temporaryFolderOfFile();
let provider: IdentityProvider;
let archive: string;
beforeAll(async () => {
  provider = await IdentityProvider.start();
  if (noSandbox === undefined) archive = archiveOfRuntime(folder);
}, 120_000);
afterAll(() => provider.stop());

async function hosting(): Promise<HostingMachine> {
  const machine = await HostingMachine.start(provider);
  storeProgram(machine.identified.machine, 'flags', archive);
  return machine;
}

describe.skipIf(noSandbox !== undefined)('a program that embeds the runtime', () => {
  test('has its journal, is called with certificates, and hands its data over', async () => {
    const machine = await hosting();
    const { identified } = machine;
    const [first] = await machine.deploy(FLAGS);
    expect(first!.spec.ports).toEqual({ http: 9000, management: 7626, remoting: 17_355 });
    expect(await identified.askAsGateway(first!, '/flags/dark', CHANGE, 'PUT')).toMatchObject({
      status: 200,
    });
    expect(readdirSync(join(identified.folder, 'data', 'shop', 'flags'))).not.toEqual([]);
    expect((await fetch(`http://${first!.spec.address}:7626/ready`)).status).toBe(200);
    const former = processesOf(first!);
    // What keeps the sandbox, pasta, bubblewrap, and the program.
    expect(former).toHaveLength(4);

    const [second] = await machine.deploy({ ...FLAGS, env: { SVC_SHARDS: '2' } });
    expect(await machine.ask(second!, '/flags/dark')).toEqual(JSON.parse(CHANGE));
    await expect.poll(() => existsSync(first!.path), { timeout: 20_000 }).toBe(false);
    await expect.poll(() => former.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(await machine.logs('flags')).toContain('"level":"info"'.replaceAll('"', String.raw`\"`));

    // A kill of everything loses nothing.
    for (const pid of processesOf(second!)) process.kill(pid, 'SIGKILL');
    await machine.until('flags', ({ lifecycle }) => lifecycle !== 'ready');
    await machine.until('flags', ({ lifecycle }) => lifecycle === 'ready');
    const [again] = machine.instances('flags');
    expect(await machine.ask(again!, '/flags/dark')).toEqual(JSON.parse(CHANGE));

    // No module opens what a program has written.
    await identified.machine.store('routes', await compileFixture('routes'));
    const image = 'oci:images/routes:1';
    await machine.apply({ name: 'flags', image, hosting: 'wasm', protocol: '0.2.0' });
    const { detail } = await machine.until('flags', (status) => status.detail !== undefined);
    expect(detail).toMatch(/^its data were written by a program/);

    await identified.machine.svc.send('DELETE /services/shop/flags', 'ann');
    await expect.poll(() => machine.instances('flags').length, { timeout: 20_000 }).toBe(0);
    expect(socketsIn(identified.folder)).toEqual([]);
    expect(readdirSync(join(identified.folder, 'data', 'shop', 'flags'))).not.toEqual([]);
  }, 120_000);

  test('that ends at its start fails with what it has written', async () => {
    const machine = await hosting();
    storeProgram(machine.identified.machine, 'broken', archive, {
      '/app/src/deployed.ts': "throw new Error('the flags are torn');",
    });
    const { generation } = await machine.apply({ ...FLAGS, image: 'oci:images/broken:1' });
    const { detail } = await machine.until(
      'flags',
      (status) => status.generation === generation && status.detail !== undefined,
    );
    expect(detail).toMatch(/has ended/);
    expect(await machine.logs('flags')).toContain('the flags are torn');
  }, 60_000);

  test('that lies about its state deceives nobody but its own project', async () => {
    const machine = await hosting();
    const liar = `
      const { execFileSync } = require('node:child_process');
      const fs = require('node:fs');
      const state = process.env.SVC_STATE_FILE;
      const kinds = [
        () => fs.symlinkSync('/etc/passwd', state),
        () => fs.mkdirSync(state),
        () => fs.writeFileSync(state, 'x'.repeat(5_000_000)),
        () => fs.writeFileSync(state, JSON.stringify({ version: 1, pid: 1, startTime: 1, bootId: 'b', phase: 'ready', updatedAt: 'now' })),
      ];
      let turn = 0;
      setInterval(() => {
        fs.rmSync(state, { recursive: true, force: true });
        kinds[turn++ % kinds.length]();
        try { process.kill(-1, 'SIGKILL'); } catch {}
      }, 20);
      process.on('SIGTERM', () => {});
      // A process that has left its session, and would outlive its parents.
      require('node:child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }).unref();`;
    buildNodeImage(
      join(machine.identified.machine.cwd, 'images', 'liar'),
      { '/app/liar.js': liar },
      { cmd: ['/app/liar.js'], tag: '1' },
    );
    await machine.apply({ ...FLAGS, name: 'liar', image: 'oci:images/liar:1' });
    await expect
      .poll(() => machine.instances('liar')[0]?.lastRun?.process, { timeout: 30_000 })
      .toBeDefined();
    // The control plane goes on, and another service is deployed meanwhile.
    const [flags] = await machine.deploy(FLAGS);
    expect(await machine.ask(flags!, '/flags/dark')).toMatchObject({ percentage: 0 });
    const { readyInstances, detail = '' } = await machine.status('liar');
    expect(readyInstances).toBe(0);
    expect(detail).not.toContain('root:');
    // It does not end when it is asked to, and is killed.
    const [liarInstance] = machine.instances('liar');
    const pids = processesOf(liarInstance!);
    await machine.identified.machine.svc.send('DELETE /services/shop/liar', 'ann');
    await expect.poll(() => existsSync(liarInstance!.path), { timeout: 30_000 }).toBe(false);
    await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  }, 120_000);

  test('is not what the image of a module is', async () => {
    const machine = await hosting();
    await machine.identified.machine.store('routes', await compileFixture('routes'));
    const { generation } = await machine.apply({ ...FLAGS, image: 'oci:images/routes:1' });
    const { readyInstances, detail } = await machine.until(
      'flags',
      (status) => status.generation === generation && status.detail !== undefined,
    );
    // The command of such an image copies its module, and ends.
    expect(detail).toMatch(/^flags-1-[0-9a-f]{8} has ended/);
    expect(readyInstances).toBe(0);
  }, 60_000);

  test('has the addresses of its own project alone', async () => {
    const machine = await hosting();
    const [flags] = await machine.deploy(FLAGS);
    const own = join(machine.identified.folder, 'addresses', 'projects', 'shop', 'services.json');
    expect(JSON.parse(readFileSync(own, 'utf8'))).toEqual({
      services: { 'shop/flags': [`${flags!.spec.address}:9000`] },
      held: [],
    });
  }, 60_000);
});
