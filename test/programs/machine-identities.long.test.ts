// Services of one machine call one another by their identities, which are renewed while everything runs.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { DOMAIN, IdentifiedMachine, textIn } from '../support/identified-machine.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { listeningAddresses } from '../support/listening-ports.ts';

let provider: IdentityProvider;
let calling: Uint8Array;
let routes: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  [calling, routes] = await Promise.all([compileFixture('calling'), compileFixture('routes')]);
}, 120_000);
afterAll(() => provider.stop());

test('services have the ports of their descriptors, one calls another one by name, and an access rule admits it and refuses the third', async () => {
  const machine = await IdentifiedMachine.start(provider);
  await machine.machine.store('calling', calling);
  await machine.machine.store('routes', routes);
  const [orders, stock, cart] = await Promise.all([
    machine.deploy('orders', 'calling'),
    machine.deploy('stock', 'calling'),
    machine.deploy('cart', 'routes', { port: 9100 }),
  ]);
  for (const [instance, port] of [
    [orders, 9000],
    [stock, 9000],
    [cart, 9100],
  ] as const) {
    const ports = [port, 7626].map((each) => `${instance.spec.address}:${each}`);
    // A single instance has no remoting, and its port is kept free for it.
    expect(instance.spec.ports.remoting).toBe(17_355);
    expect(listeningAddresses(instance.lastRun!.process!.pid).toSorted()).toEqual(ports.toSorted());
  }
  const called = async (caller: InstanceFolder, path: string) => {
    const sent = { service: 'cart', method: 'GET', path, headers: [], body: '', times: 1 };
    const answer = await machine.askAsGateway(caller, '/calls/raw', JSON.stringify(sent));
    const [first] = JSON.parse(answer.body) as readonly { status: number; body: string }[];
    return first!;
  };
  expect(await called(orders, '/requests/caller')).toMatchObject({ body: 'service shop/orders' });
  expect(await called(orders, '/access/inherited')).toMatchObject({ status: 200 });
  expect(await called(stock, '/access/inherited')).toMatchObject({ status: 403 });

  // A replaced instance is found at its new address.
  await machine.deploy('cart', 'routes');
  await expect
    .poll(() => called(orders, '/access/inherited'), { timeout: 20_000 })
    .toMatchObject({ status: 200 });
}, 120_000);

test('no request fails while the authorities of a running installation are replaced', async () => {
  const machine = await IdentifiedMachine.start(provider, {
    SVC_LOCAL_AUTHORITY_SETTLE_MS: '3000',
    SVC_LOCAL_CERTIFICATE_POLL_MS: '200',
  });
  await machine.machine.store('calling', calling);
  await machine.machine.store('routes', routes);
  const [orders, cart] = await Promise.all([
    machine.deploy('orders', 'calling'),
    machine.deploy('cart', 'routes'),
  ]);
  const sent = { service: 'cart', method: 'GET', path: '/requests/caller', headers: [], body: '' };
  const ended = new AbortController();
  const answers: string[] = [];
  const asking = (async () => {
    while (!ended.signal.aborted) {
      const { body } = await machine.askAsGateway(
        orders,
        '/calls/raw',
        JSON.stringify({ ...sent, times: 1 }),
      );
      answers.push((JSON.parse(body) as readonly { readonly body: string }[])[0]!.body);
    }
  })();
  const issuerOf = () => new X509Certificate(textIn(cart.identityFolder, 'tls.crt')).issuer;
  const before = issuerOf();
  await expect.poll(() => answers.length).toBeGreaterThan(10);
  await machine.machine.killAndStart({ SVC_LOCAL_NEW_AUTHORITY: 'true' });
  await expect.poll(issuerOf, { timeout: 30_000 }).not.toBe(before);
  const replaced = answers.length;
  await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThan(replaced + 20);
  ended.abort();
  await asking;
  expect(new Set(answers)).toEqual(new Set(['service shop/orders']));
  // An instance that starts now is of the new authority, and others accept it.
  const stock = await machine.deploy('stock', 'calling');
  const { body } = await machine.askAsGateway(
    stock,
    '/calls/raw',
    JSON.stringify({ ...sent, times: 1 }),
  );
  expect(body).toContain('service shop/stock');
}, 120_000);

/** A real gateway with the certificates of the machine. Resolves with its port. */
async function startGateway(machine: IdentifiedMachine): Promise<number> {
  const certificates = join(machine.folder, 'gateway', 'certificates');
  const gateway = new SvcProcess(
    ['gateway', '--base-domain', `${DOMAIN}:8443`, '--certificates', certificates],
    {
      env: {
        SVC_GATEWAY_HOST: '127.0.0.1',
        SVC_GATEWAY_PORT: '0',
        SVC_GATEWAY_PLAIN_PORT: '0',
        SVC_GATEWAY_ROUTES_SOCKET: join(machine.folder, 'routes.sock'),
        SVC_IDENTITY_FOLDER: machine.gateway,
        SVC_LOG: 'json',
      },
    },
  );
  onTestFinished(async () => void (await gateway.end('SIGKILL')));
  const port = () => /"port":(\d+),"message":"https listening"/.exec(gateway.stderr)?.[1];
  await expect.poll(port, { timeout: 20_000 }).toBeDefined();
  return Number(port());
}

test('certificates are renewed while instance and gateway run, and after the control plane was killed', async () => {
  const machine = await IdentifiedMachine.start(provider, {
    SVC_LOCAL_IDENTITY_LIFETIME_MS: '6000',
    SVC_LOCAL_CERTIFICATE_POLL_MS: '200',
  });
  await machine.machine.store('routes', routes);
  const cart = await machine.deploy('cart', 'routes');
  await machine.machine.svc.send('POST /services/shop/cart/expose', 'ann');
  const port = await startGateway(machine);
  const curl = async () => {
    const host = `cart-shop.${DOMAIN}`;
    const to = ['--connect-to', `${host}:8443:127.0.0.1:${port}`];
    const trust = ['--cacert', join(machine.folder, 'ca.pem')];
    const url = `https://${host}:8443/requests/caller`;
    return (await promisify(execFile)('curl', ['-sS', ...trust, ...to, url])).stdout;
  };
  await expect.poll(curl, { timeout: 20_000 }).toBe('internet');

  const { pid } = cart.lastRun!.process!;
  const leaf = async () => (await machine.askAsGateway(cart, '/requests/caller')).leaf;
  const first = await leaf();
  // For longer than the first certificate lasts, every new connection is accepted on both sides.
  await expect
    .poll(
      async () => {
        expect(await curl()).toBe('internet');
        return (await leaf()).validFromDate.getTime() - first.validFromDate.getTime();
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBeGreaterThan(7000);
  expect(machine.instance('cart').lastRun!.process!.pid).toBe(pid);

  const before = await leaf();
  await machine.machine.killAndStart();
  await expect
    .poll(async () => (await leaf()).fingerprint256, { timeout: 20_000, interval: 200 })
    .not.toBe(before.fingerprint256);
  expect(machine.instance('cart').lastRun!.process!.pid).toBe(pid);
}, 120_000);
