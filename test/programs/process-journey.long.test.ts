// The journey of components in a process on one machine, with real commands: an image is pushed, deployed, called by its public name, replaced,
// and removed. The cart of each language passes it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { processesOfRuns } from '../../control-plane/local/run-processes.ts';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { archiveOfPython, writePythonCart } from '../support/hosted-process/python-cart.ts';
import { archiveOfSdk, writeTypeScriptCart } from '../support/hosted-process/typescript-cart.ts';
import { MachinePerson } from '../support/machine-person.ts';
import { OneMachine } from '../support/one-machine.ts';
import { python } from '../support/python.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const WAIT = { timeout: 60_000, interval: 100 };

interface Language {
  readonly language: string;
  /** Writes the image of the cart, with the tag 1. `version`: the one that the process names. */
  readonly write: (folder: string, version: string) => void;
}

const LANGUAGES: readonly Language[] = [
  {
    language: 'TypeScript',
    write: (folder, version) =>
      writeTypeScriptCart(folder, archiveOfSdk(temporaryFolder()), { env: { VERSION: version } }),
  },
  ...(python === undefined
    ? []
    : [
        {
          language: 'Python',
          write: (folder: string, version: string) =>
            writePythonCart(folder, archiveOfPython(temporaryFolder()), version),
        },
      ]),
];

test.skipIf(noSandbox !== undefined).each(LANGUAGES)(
  'a cart in $language is deployed by svc deploy, called, replaced with its journal, and removed',
  async ({ write }) => {
    const machine = await OneMachine.make();
    await machine.upInBackground();
    const ann = await MachinePerson.loggedIn('ann', machine);
    await ann.svc('org create acme');
    await ann.svc('project create shop --organization acme');
    const registry = `registry.svc.localhost:${machine.ports[0]}`;
    const deploy = async (version: string): Promise<string> => {
      write(join(ann.cwd, `cart-${version}`), version);
      const image = `${registry}/shop/cart:${version}`;
      await ann.svc(`image push cart-${version}:1 ${image}`);
      const descriptor = `name: cart\nimage: ${image}\nhosting: process\nprotocol: svc/1\n`;
      writeFileSync(join(ann.cwd, 'cart.yaml'), descriptor);
      return await ann.svc('deploy -f cart.yaml');
    };

    expect(await deploy('1')).toMatch(/cart is ready\.\n$/);
    await ann.svc('service expose cart');
    const item = JSON.stringify({ sku: 'tea', quantity: 2 });
    const add = async () => await machine.send('cart', '/carts/1/items', item);
    await vi.waitUntil(async () => (await machine.send('cart', '/carts/1')).status === 200, WAIT);
    expect(await add()).toMatchObject({ status: 200 });
    const refused = await machine.send('cart', '/carts/1/items', '{"sku":"tea","quantity":-1}');
    expect(refused.status).toBe(400);

    expect(await deploy('2')).toMatch(/generation 2[^]*cart is ready: https:\S+\n$/);
    expect(await add()).toMatchObject({ status: 200 });
    const { body } = await machine.send('cart', '/carts/1');
    expect(JSON.parse(body)).toEqual({
      id: '1',
      items: [{ sku: 'tea', quantity: 4 }],
      checkedOut: false,
    });
    expect(await ann.svc('service logs cart')).toContain('"from":"process"');

    // Another protocol is refused before anything is started.
    const descriptor = `name: cart\nimage: ${registry}/shop/cart:2\nhosting: process\nprotocol: svc/2\n`;
    writeFileSync(join(ann.cwd, 'cart.yaml'), descriptor);
    const other = await ann.run('deploy -f cart.yaml');
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('is svc/2: this installation runs svc/1');

    expect(await ann.svc('service delete cart --yes')).toContain('Its database is kept.');
    await vi.waitUntil(() => processesOfRuns(`${machine.folder}/`).length === 0, WAIT);
  },
  600_000,
);
