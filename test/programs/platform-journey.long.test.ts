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

const WAIT = { timeout: 30_000, interval: 50 };
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('The journey is not tested: there is no curl');

/** Status and body of a request to the cart at its public URL, as curl shows them. */
function curl({ folder, ports: [port] }: OneMachine, path: string, body?: object): string {
  const ca = join(folder, 'machine', 'ca.pem');
  const sent =
    body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
  const url = `https://cart-shop.svc.localhost:${port}${path}`;
  const words = ['-sS', '--cacert', ca, '-w', ' %{http_code}', ...sent, url];
  const { stdout, stderr } = spawnSync('curl', words, { encoding: 'utf8', timeout: 20_000 });
  return stdout + stderr;
}

const until = (machine: OneMachine, path: string, answer: RegExp) =>
  vi.waitFor(() => expect(curl(machine, path)).toMatch(answer), WAIT);

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
    const cart = new CartVersions(join(ann.cwd, 'cart'));

    // From nothing to the first answer.
    expect(await ann.svc('whoami')).toContain('ann');
    expect(await ann.svc('org create acme')).toContain('Created the organization acme.');
    expect(await ann.svc('project create shop --organization acme')).toContain('shop');
    expect(await ann.svc('deploy cart')).toMatch(/cart is ready\.\n$/);
    expect(curl(machine, '/carts/1')).toMatch(/No service is exposed.* 404$/);
    expect(await ann.svc('service expose cart')).toContain('cart-shop.svc.localhost');
    await until(machine, '/carts/1', /^\{"id":"1","items":\[\],"checkedOut":false\} 200$/);
    const items = '"items":[{"sku":"tea","quantity":2}]';
    expect(curl(machine, '/carts/1/items', { sku: 'tea', quantity: 2 })).toContain(items);

    // A new version answers in another way, with the same data.
    cart.countItems();
    expect(await ann.svc('deploy cart')).toMatch(/generation 2[^]*cart is ready: https:\S+\n$/);
    const second = `{"id":"1",${items},"count":1,"checkedOut":false} 200`;
    expect(curl(machine, '/carts/1')).toBe(second);

    // An image that is refused, and a version that misses what callers use: the second version serves on.
    const registry = `registry.svc.localhost:${machine.ports[0]}`;
    cart.describe(`name: cart\nimage: ${registry}/depot/cart:1\nhosting: wasm\nprotocol: 0.2.0\n`);
    const refused = await ann.run('deploy cart');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /Generation 3 of cart failed: .*SVC_REGISTRY_REFUSED.*\[SVC_DEPLOY_FAILED\]\n$/,
    );
    expect(curl(machine, '/carts/1')).toBe(second);
    cart.dropRemoval();
    cart.describe('name: cart\n');
    const unsafe = await ann.run('deploy cart');
    expect(unsafe).toMatchObject({ code: 1, stdout: '' });
    expect(unsafe.stderr).toMatch(/Generation 4 of cart failed: .*SVC_UPGRADE_UNSAFE/);
    expect(await ann.svc('service get cart')).toMatch(
      /^state +failed\ndetail +.*what its data folder holds: route-removed /m,
    );
    expect(curl(machine, '/carts/1')).toBe(second);
    cart.describe('name: cart\nallow: [route-removed]\n');
    expect(await ann.svc('deploy cart')).toMatch(/generation 5[^]*cart is ready: https:\S+\n$/);
    expect(curl(machine, '/carts/1')).toBe(second);

    // Paused and resumed.
    expect(await ann.svc('service pause cart')).toMatch(/^state +paused$/m);
    await until(machine, '/carts/1', /The service is paused\..* 503$/);
    await ann.svc('service resume cart');
    await until(machine, '/carts/1', /"count":1.* 200$/);

    // A second person sees nothing, is invited, works, and sees nothing again.
    const bob = await MachinePerson.loggedIn('bob', machine);
    const stranger = await bob.run('service get cart');
    const nothing = await bob.run('service get no-service --project no-project');
    expect([stranger.code, nothing.code]).toEqual([1, 1]);
    expect(stranger.stderr.replaceAll(/cart|shop/g, '_')).toBe(
      nothing.stderr.replaceAll(/no-service|no-project/g, '_'),
    );
    expect(await ann.svc('org invite acme bob@example.com')).toContain('bob@example.com');
    expect(await bob.svc('project list')).toMatch(/^shop /m);
    expect(await bob.svc('service logs cart --tail 5')).not.toBe('');
    expect(await bob.svc('service restart cart')).toMatch(/generation +6/);
    expect(await ann.svc('service history cart')).toMatch(/restarted +6 +bob/);
    expect((await bob.run('org invite acme cyd@example.com')).stderr).toMatch(/owner/);
    await ann.svc('org remove acme bob');
    expect(await bob.run('service get cart')).toEqual(stranger);
    expect(await bob.svc('project list')).not.toContain('shop');

    // Disabled by an administrator, who is no member: it is suspended, and its members change nothing.
    await administrator.svc('org disable acme');
    await until(machine, '/carts/1', /The service is suspended\..* 503$/);
    expect(await ann.run('service pause cart')).toMatchObject({ code: 1 });
    await administrator.svc('org enable acme');
    await until(machine, '/carts/1', /"count":1.* 200$/);

    // Deleted, and applied again: its data is there.
    expect((await ann.run('service delete cart')).code).toBe(2);
    expect(await ann.svc('service delete cart --yes')).toContain('Its database is kept.');
    await until(machine, '/carts/1', / 404$/);
    expect(await ann.svc('deploy cart')).toMatch(/cart is ready\.\n$/);
    await ann.svc('service expose cart');
    await until(machine, '/carts/1', new RegExp('"count":1.* 200$'));

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
