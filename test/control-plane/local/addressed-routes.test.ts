// The file in which services of a machine find one another has those that are ready, from the start of the control plane on.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { AddressedRoutes } from '../../../control-plane/local/addressed-routes.ts';
import { NobodyRoutes } from '../../../control-plane/local/request-routes.ts';
import { projectServicesFolder } from '../../../control-plane/local/services-files.ts';
import { FileFinder } from '../../../forward/file-finder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CART = { project: 'shop', service: 'cart' };
const ORDERS = { project: 'shop', service: 'orders' };
const at = (...addresses: readonly string[]) => ({
  state: 'serving' as const,
  hostnames: [],
  instances: addresses.map((address) => ({ name: `i-${address}`, address, port: 9000 })),
});

const contentOf = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

function opened(
  folder: string,
  known: readonly string[] = [],
): { routes: AddressedRoutes; logged: string[] } {
  const logged: string[] = [];
  const log = ({ message }: { readonly message: string }) => void logged.push(message);
  const routes = new AddressedRoutes({
    routes: new NobodyRoutes(),
    folder,
    known: new Set(known),
    log,
  });
  return { routes, logged };
}

test('a service is found at its instances, as long as it has some', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'services.json');
  const { routes } = opened(folder);
  routes.route(CART, at('127.83.0.1', '127.83.0.2'));
  await turn();
  const finder = new FileFinder({
    file,
    project: 'shop',
    lookEveryMs: 10,
    now: () => performance.now(),
    onProblem: (reason) => expect.unreachable(reason),
  });
  onTestFinished(() => finder.close());
  expect(await finder.find(CART)).toMatchObject({
    kind: 'found',
    addresses: [
      { host: '127.83.0.1', port: 9000 },
      { host: '127.83.0.2', port: 9000 },
    ],
  });
  routes.route(CART, at());
  await expect
    .poll(() => finder.find(CART), { timeout: 10_000 })
    .not.toMatchObject({ kind: 'found' });
  routes.route(CART, at('127.83.0.3'));
  await expect.poll(() => finder.find(CART), { timeout: 10_000 }).toMatchObject({ kind: 'found' });
  routes.withdraw(CART);
  await expect
    .poll(() => finder.find(CART), { timeout: 10_000 })
    .not.toMatchObject({ kind: 'found' });
});

test('a start of the control plane makes no service disappear but those that are not looked after any more, and ends no hold', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'services.json');
  const { routes } = opened(folder);
  for (const key of [CART, ORDERS]) {
    routes.route(key, at('127.83.0.1'));
    routes.hold(key, () => {});
  }
  await turn();
  const { routes: next } = opened(folder, ['shop/cart']);
  const services = { 'shop/cart': ['127.83.0.1:9000'] };
  expect(contentOf(file)).toEqual({ services, held: ['shop/cart'] });
  // What the first look finds: somebody serves again.
  next.route(CART, at('127.83.0.1'));
  await turn();
  expect(contentOf(file)).toEqual({ services, held: [] });
});

test('a service is held in the file as long as it is for those who route, and never without instances in between', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'services.json');
  const { routes } = opened(folder);
  routes.route(CART, at('127.83.0.1'));
  const acknowledged: unknown[] = [];
  routes.hold(CART, () => acknowledged.push(contentOf(file)));
  expect(routes.holdOf(CART)).toBe('asked');
  expect(acknowledged).toEqual([]);
  await turn();
  const services = { 'shop/cart': ['127.83.0.1:9000'] };
  expect(acknowledged).toEqual([{ services, held: ['shop/cart'] }]);
  expect(routes.holdOf(CART)).toBe('acknowledged');
  routes.route(CART, at());
  await turn();
  expect(contentOf(file)).toEqual({ services: {}, held: ['shop/cart'] });
  routes.route(CART, at('127.83.0.1'));
  expect(contentOf(file)).toEqual({ services: {}, held: ['shop/cart'] });
  routes.release(CART);
  await turn();
  expect(contentOf(file)).toEqual({ services, held: [] });
});

test.each(['{"services": {"shop/ca', '[]', '{"services": {"shop/cart": [1]}}', 'null'])(
  'a file with %s counts as empty',
  (content) => {
    const folder = temporaryFolder();
    const file = join(folder, 'services.json');
    writeFileSync(file, content);
    opened(folder, ['shop/cart']);
    expect(contentOf(file)).toEqual({ services: {}, held: [] });
  },
);

test('a file that cannot be written is written at the next look', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'services.json');
  const { routes, logged } = opened(folder);
  rmSync(file);
  mkdirSync(join(file, 'in-its-place'), { recursive: true });
  routes.route(CART, at('127.83.0.1'));
  await turn();
  expect(logged).toEqual(['The addresses of services cannot be written']);
  rmSync(file, { recursive: true });
  routes.route(CART, at('127.83.0.1'));
  await turn();
  expect(readFileSync(file, 'utf8')).toContain('127.83.0.1:9000');
});

test('the file is written after the turn in which routes have changed, and not for routes that are as before', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'services.json');
  const { routes } = opened(folder);
  routes.route(CART, at('127.83.0.1'));
  expect(readFileSync(file, 'utf8')).not.toContain('127.83.0.1');
  await turn();
  expect(readFileSync(file, 'utf8')).toContain('127.83.0.1');
  rmSync(file);
  routes.route(CART, at('127.83.0.1'));
  routes.withdraw(ORDERS);
  await turn();
  expect(existsSync(file)).toBe(false);
});

test('the file of a project says nothing of other projects', async () => {
  const folder = temporaryFolder();
  const { routes } = opened(folder);
  routes.route(CART, at('127.83.0.1'));
  routes.route({ project: 'shop-2', service: 'cart' }, at('127.83.0.2'));
  await turn();
  const file = join(projectServicesFolder(folder, 'shop'), 'services.json');
  expect(contentOf(file)).toEqual({ services: { 'shop/cart': ['127.83.0.1:9000'] }, held: [] });
  routes.withdraw(CART);
  await turn();
  expect(contentOf(file)).toEqual({ services: {}, held: [] });
});
