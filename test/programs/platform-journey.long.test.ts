// The journey of a service on one machine, with real commands: from svc up to svc down, over versions, people and an administrator.
// Each step asserts what its user sees.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { processesOfRuns } from '../../control-plane/local/run-processes.ts';
import { CartVersions } from '../support/cart-versions.ts';
import { MachinePerson } from '../support/machine-person.ts';
import { OneMachine, runs } from '../support/one-machine.ts';
import {
  type Cart,
  cartIsDeletedAndBack,
  cartIsDeployed,
  cartIsDeployedAgain,
  cartIsPausedAndResumed,
  cartIsShared,
  cartIsSuspended,
  projectIsCreated,
} from '../suites/platform-steps.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('The journey is not tested: there is no curl');

/** Status and body of a request to the cart at its public URL, as curl shows them. */
function curl({ authority, ports: [port] }: OneMachine, path: string, body?: object): string {
  const sent =
    body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
  const url = `https://cart-shop.svc.localhost:${port}${path}`;
  const words = ['-sS', '--cacert', authority, '-w', ' %{http_code}', ...sent, url];
  const { stdout, stderr } = spawnSync('curl', words, { encoding: 'utf8', timeout: 20_000 });
  return stdout + stderr;
}

const until = (machine: OneMachine, path: string, answer: RegExp) =>
  vi.waitFor(() => expect(curl(machine, path)).toMatch(answer), WAIT);

/** The cart, as requests to its public URL show it. */
function cartOf(machine: OneMachine): Cart {
  const answers = {
    serves: / 200$/,
    'is paused': /The service is paused\..* 503$/,
    'is suspended': /The service is suspended\..* 503$/,
    'is unknown': /No service is exposed.* 404$/,
  };
  return {
    deploy: 'deploy cart',
    url: `https://cart-shop.svc.localhost:${machine.ports[0]}`,
    until: (answer) => until(machine, '/carts/1', answers[answer]),
  };
}

/** Sockets and other files of what runs only, below a folder. */
function runtimeFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isSocket() || /\.(sock|pid|new|tmp)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

test.skipIf(!hasCurl)(
  'a service lives on one machine: deployed, changed, refused, paused, shared, disabled, deleted, and there again with its data',
  async () => {
    const machine = await OneMachine.make();
    const administrator = machine;
    await machine.upInBackground();
    const ann = await MachinePerson.loggedIn('ann', machine);
    const versions = new CartVersions(join(ann.cwd, 'cart'));
    const cart = cartOf(machine);

    // From nothing to the first answer.
    await projectIsCreated(ann);
    await cartIsDeployed(ann, cart);
    expect(curl(machine, '/carts/1')).toBe('{"id":"1","items":[],"checkedOut":false} 200');
    const items = '"items":[{"sku":"tea","quantity":2}]';
    expect(curl(machine, '/carts/1/items', { sku: 'tea', quantity: 2 })).toContain(items);

    // A new version answers in another way, with the same data.
    versions.countItems();
    await cartIsDeployedAgain(ann, cart, 2);
    const second = `{"id":"1",${items},"count":1,"checkedOut":false} 200`;
    expect(curl(machine, '/carts/1')).toBe(second);

    // An image that is refused, and a version that misses what callers use: the second version serves on.
    const registry = `registry.svc.localhost:${machine.ports[0]}`;
    versions.describe(
      `name: cart\nimage: ${registry}/depot/cart:1\nhosting: wasm\nprotocol: 0.2.0\n`,
    );
    const refused = await ann.run('deploy cart');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /Generation 3 of cart failed: .*SVC_REGISTRY_REFUSED.*\[SVC_DEPLOY_FAILED\]\n$/,
    );
    expect(curl(machine, '/carts/1')).toBe(second);
    versions.dropRemoval();
    versions.describe('name: cart\n');
    const unsafe = await ann.run('deploy cart');
    expect(unsafe).toMatchObject({ code: 1, stdout: '' });
    expect(unsafe.stderr).toMatch(/Generation 4 of cart failed: .*SVC_UPGRADE_UNSAFE/);
    expect(await ann.svc('service get cart')).toMatch(
      /^state +failed\ndetail +.*what its data folder holds: route-removed /m,
    );
    expect(curl(machine, '/carts/1')).toBe(second);
    versions.describe('name: cart\nallow: [route-removed]\n');
    await cartIsDeployedAgain(ann, cart, 5);
    expect(curl(machine, '/carts/1')).toBe(second);

    // Paused and resumed, shared with a second person, suspended, deleted, and applied again: its data is there.
    await cartIsPausedAndResumed(ann, cart, 5);
    await cartIsShared(ann, await MachinePerson.loggedIn('bob', machine), 5);
    await cartIsSuspended(administrator, ann, cart, 6);
    await cartIsDeletedAndBack(ann, cart, 6);
    expect(curl(machine, '/carts/1')).toBe(second);

    // Nothing is left of what ran.
    const { owner, programs } = machine.owner();
    const instances = InstanceFolder.readAll(join(machine.folder, 'machine', 'instances'));
    expect(instances).toHaveLength(1);
    expect(await machine.svc('down')).toContain('Stopped, with 1 instance of services.');
    expect([owner, ...Object.values(programs)].filter(runs)).toEqual([]);
    expect(processesOfRuns(`${machine.folder}/`)).toEqual([]);
    expect(runtimeFiles(machine.folder)).toEqual([]);
    expect(curl(machine, '/carts/1')).toContain('curl: (7) ');
  },
  480_000,
);
