// Processes with components as services of one machine: real `svc control-plane`, runtimes beside the processes, bubblewrap and pasta.
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { HostingMachine, processesOf, socketsIn } from '../support/hosting-machine.ts';
import { archiveOfSdk, writeTypeScriptCart } from '../support/hosted-process/typescript-cart.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const CART = { name: 'cart', image: 'oci:images/cart:1', hosting: 'process', protocol: 'svc/1' };
const ITEM = JSON.stringify({ sku: 'tea', quantity: 2 });

const folder = temporaryFolderOfFile();
let provider: IdentityProvider;
let archive: string;
beforeAll(async () => {
  provider = await IdentityProvider.start();
  if (noSandbox === undefined) archive = archiveOfSdk(folder);
}, 120_000);
afterAll(() => provider.stop());

async function hosting(env: Readonly<Record<string, string>> = {}): Promise<HostingMachine> {
  const machine = await HostingMachine.start(provider, env);
  store(machine, 'cart');
  return machine;
}

function store(machine: HostingMachine, layout: string, change?: (source: string) => string): void {
  writeTypeScriptCart(join(machine.identified.machine.cwd, 'images', layout), archive, { change });
}

const added = (machine: HostingMachine, cart: InstanceFolder) =>
  machine.identified.askAsGateway(cart, '/carts/c1/items', ITEM);
const quantity = async (machine: HostingMachine, cart: InstanceFolder) => {
  const { items } = (await machine.ask(cart, '/carts/c1')) as {
    readonly items: readonly { readonly quantity: number }[];
  };
  return items.map((item) => item.quantity);
};
const runningOf = (pids: readonly number[]) => pids.filter((pid) => existsSync(`/proc/${pid}`));

describe.skipIf(noSandbox !== undefined)('a process with components', () => {
  test('serves from its sandbox, and reaches nothing of its runtime', async () => {
    const machine = await hosting();
    const { identified } = machine;
    const env = { GREETING: 'a b', SVC_LOG_LINES_PER_SECOND: '50', SVC_DATA: '/mine' };
    const [cart] = await machine.deploy({ ...CART, env });
    expect(cart!.spec.ports).toEqual({ http: 9000, management: 7626, remoting: 17_355 });
    expect(await added(machine, cart!)).toMatchObject({ status: 200 });

    const seen = (await machine.ask(cart!, '/probes/seen')) as {
      readonly env: Readonly<Record<string, string>>;
      readonly processes: readonly string[];
      readonly descriptors: readonly string[];
    };
    expect(seen.env).toMatchObject({ ...env, FROM_IMAGE: 'image', SVC_PROCESS_PORT: '9010' });
    expect(
      Object.keys(seen.env)
        .filter((name) => /^SVC_|^LISTEN/.test(name))
        .toSorted(),
    ).toEqual(['SVC_DATA', 'SVC_LOG_LINES_PER_SECOND', 'SVC_PROCESS_PORT']);
    expect(seen).toMatchObject({ pid: 1 });
    // It sees no process but its own.
    expect(seen.processes).toEqual(['1']);
    // It has no file and no socket of the runtime: what is not of Node itself is a connection of its own port.
    expect(seen.descriptors.filter((one) => one.includes(identified.folder))).toEqual([]);
    const data = join(identified.folder, 'data', 'shop', 'cart');
    expect(readdirSync(data)).not.toEqual([]);
    for (const path of [data, cart!.path, cart!.identityFolder, cart!.stateFile, '/data', '/root'])
      expect(await machine.ask(cart!, `/probes/file?path=${path}`)).toBe('ENOENT');
    // The runtime's environment, which names its files.
    expect(await machine.ask(cart!, '/probes/file?path=/proc/1/environ')).not.toContain('IDENTITY');
    const { port } = new URL(await identified.machine.svc.listening());
    const connected = async (host: string, number: string | number) =>
      await machine.ask(cart!, `/probes/connect?host=${host}&port=${number}`);
    expect(await connected('127.0.0.1', port)).toBe('ECONNREFUSED');
    expect(await connected('127.0.0.1', 9010)).toBe('connected');

    // Nobody outside reaches the port of the process, and the ports of the runtime are those of the instance.
    for (const host of ['127.0.0.1', cart!.spec.address])
      await expect(fetch(`http://${host}:9010/`)).rejects.toThrow(/fetch failed/);
    const ready = await fetch(`http://${cart!.spec.address}:7626/ready`);
    expect(await ready.json()).toMatchObject({
      ready: true,
      parts: expect.arrayContaining([expect.objectContaining({ part: 'process', ready: true })]),
    });
    // Nor does another service, from its own network.
    const [other] = await machine.deploy({ ...CART, name: 'other' });
    for (const host of ['127.0.0.1', cart!.spec.address])
      for (const number of host === '127.0.0.1' ? [7626] : [9010, 9000, 7626])
        expect(await machine.ask(other!, `/probes/connect?host=${host}&port=${number}`)).toBe(
          'ECONNREFUSED',
        );
  }, 240_000);

  test('is started again when it ends, and the runtime goes on', async () => {
    const machine = await hosting();
    const [cart] = await machine.deploy(CART);
    await added(machine, cart!);
    const runtime = cart!.lastRun!.process!.pid;
    const died = await machine.identified.askAsGateway(cart!, '/probes/die');
    expect(died.status).toBe(503);
    expect(died.body).toContain('SVC_PROCESS_UNAVAILABLE');
    await expect
      .poll(async () => (await added(machine, cart!)).status, { timeout: 30_000 })
      .toBe(200);
    expect(await quantity(machine, cart!)).toEqual([4]);
    const [again] = machine.instances('cart');
    expect(again!.lastRun).toMatchObject({ restarts: 0, process: { pid: runtime } });
    const logs = await machine.logs('cart');
    expect(logs).toContain('the process has ended with exit code 3; it is started again');
    // The text of the log is a text in the answer.
    expect(logs).toContain(JSON.stringify('"from":"process"').slice(1, -1));
    const begun = JSON.stringify('"message":"the cart begins"').slice(1, -1);
    expect(logs.split(begun)).toHaveLength(3);
  }, 240_000);

  test('fails with its last words when it ends at its start, and the former one serves on', async () => {
    const machine = await hosting();
    const [cart] = await machine.deploy(CART);
    await added(machine, cart!);
    const { generation } = await machine.apply({ ...CART, env: { FAILS: 'the cart is torn' } });
    const { detail } = await machine.until(
      'cart',
      (status) => status.generation === generation && status.detail?.includes('ended') === true,
    );
    expect(detail).toMatch(
      /^cart-2-\w+ has ended: SVC_PROCESS_ENDED: The process has ended with exit code 1\. .* Error: the cart is torn$/,
    );
    expect(await quantity(machine, cart!)).toEqual([2]);
  }, 240_000);

  test('fails with the last line of the log when it does not listen', async () => {
    const machine = await hosting();
    const [cart] = await machine.deploy(CART);
    const { generation } = await machine.apply({ ...CART, env: { MUTE: 'yes' } });
    const waits =
      / has not started; its last line: (waiting for the process at 127|the cart begins)/;
    await machine.until(
      'cart',
      (status) => status.generation === generation && waits.test(status.detail ?? ''),
    );
    // The rollout has begun long ago for the next one.
    await machine.identified.machine.killAndStart({ SVC_LOCAL_PROGRESS_TIMEOUT_MS: '2000' });
    const { detail } = await machine.until(
      'cart',
      (status) => status.generation === generation && status.lifecycle === 'failed',
    );
    expect(detail).toMatch(/^the rollout has not got on for 2 s: cart-2-\w+ /);
    expect(detail).toMatch(waits);
    expect(await quantity(machine, cart!)).toEqual([]);
  }, 240_000);

  test('is replaced with its journal, and not by one that does not read its events', async () => {
    const machine = await hosting();
    const [first] = await machine.deploy(CART);
    await added(machine, first!);
    const former = processesOf(first!);
    // The runtime, pasta, what keeps the sandbox, bubblewrap, and the process.
    expect(former).toHaveLength(5);
    const [second] = await machine.deploy({ ...CART, env: { VERSION: '2' } });
    expect(await quantity(machine, second!)).toEqual([2]);
    await expect.poll(() => existsSync(first!.path), { timeout: 20_000 }).toBe(false);
    await expect.poll(() => runningOf(former)).toEqual([]);

    store(machine, 'foreign', (source) => source.replaceAll("'cart-event'", "'other-event'"));
    const { generation } = await machine.apply({ ...CART, image: 'oci:images/foreign:1' });
    const { detail } = await machine.until(
      'cart',
      (status) => status.generation === generation && status.lifecycle === 'failed',
    );
    expect(detail).toMatch(/SVC_(MANIFEST_UNREADABLE|UPGRADE_UNSAFE): .*cart-event/);
    expect(await added(machine, second!)).toMatchObject({ status: 200 });
    expect(await quantity(machine, second!)).toEqual([4]);
  }, 240_000);

  test('finishes what is in flight when it is paused, and ends last', async () => {
    const machine = await hosting();
    const [cart] = await machine.deploy(CART);
    const pids = processesOf(cart!);
    // They are removed with the instance.
    const outputs = cart!.outputFiles('last').filter((path) => existsSync(path));
    const logFiles = outputs.map((path) => openSync(path, 'r'));
    const slow = machine.ask(cart!, '/probes/slow');
    await pause(300);
    await machine.identified.machine.svc.send('POST /services/shop/cart/pause', 'ann');
    expect(await slow).toBe('slow');
    await machine.until('cart', ({ readyInstances }) => readyInstances === 0);
    await expect.poll(() => runningOf(pids), { timeout: 20_000 }).toEqual([]);
    expect(socketsIn(machine.identified.folder)).toEqual([]);
    // The program listens for no signal: the SDK ends it.
    const logs = logFiles.map((file) => readFileSync(file, 'utf8')).join('');
    logFiles.map((file) => closeSync(file));
    expect(logs).toContain('the cart begins');
    expect(logs).not.toContain('did not end in time');
  }, 240_000);

  test('is killed with its runtime, and both are started again', async () => {
    const machine = await hosting();
    const [cart] = await machine.deploy(CART);
    await added(machine, cart!);
    const before = processesOf(cart!);
    process.kill(cart!.lastRun!.process!.pid, 'SIGKILL');
    await expect.poll(() => runningOf(before), { timeout: 20_000 }).toEqual([]);
    await machine.until('cart', ({ lifecycle }) => lifecycle === 'ready');
    const [again] = machine.instances('cart');
    expect(await quantity(machine, again!)).toEqual([2]);
  }, 240_000);
});
