// An instance of one machine proves who it is by a certificate that the control plane issues, and knows its callers by theirs.
import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { DOMAIN, IdentifiedMachine, textIn } from '../support/identified-machine.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';

let provider: IdentityProvider;
let routes: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  routes = await compileFixture('routes');
}, 120_000);
afterAll(() => provider.stop());

test('an instance admits the gateway as the internet, and nobody without a certificate', async () => {
  const machine = await IdentifiedMachine.start(provider);
  await machine.machine.store('routes', routes);
  const cart = await machine.deploy('cart', 'routes');
  expect(await machine.askAsGateway(cart, '/requests/caller')).toMatchObject({
    status: 200,
    body: 'internet',
  });
  const trusted = textIn(machine.gateway, 'ca.crt');
  await expect(machine.ask(cart, '/requests/caller', { as: undefined, trusted })).rejects.toThrow(
    /.+/,
  );
  // The authority for hostnames issues no identities.
  await expect(
    machine.ask(cart, '/requests/caller', {
      as: machine.gateway,
      trusted: textIn(machine.folder, 'ca.pem'),
    }),
  ).rejects.toThrow(/certificate/);
  // Readiness is asked without a certificate, as ever.
  expect((await fetch(`http://${cart.spec.address}:7626/ready`)).status).toBe(200);

  // An instance has its own certificate and that of the authority, and nothing of the authority's key.
  const { identityFolder, path } = cart;
  expect(readdirSync(identityFolder).filter((name) => !name.startsWith('..'))).toEqual([
    'ca.crt',
    'tls.crt',
    'tls.key',
  ]);
  expect(new X509Certificate(textIn(identityFolder, 'tls.crt')).subjectAltName).toBe(
    `URI:spiffe://${DOMAIN}/ns/svc-shop/sa/cart`,
  );
  expect(statSync(join(identityFolder, 'tls.key')).mode & 0o777).toBe(0o600);
  await machine.machine.svc.send('DELETE /services/shop/cart', 'ann');
  await expect.poll(() => existsSync(path), { timeout: 20_000 }).toBe(false);
}, 60_000);
