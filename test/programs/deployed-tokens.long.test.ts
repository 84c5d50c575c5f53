// A module with `auth: platform`, run by `svc control-plane`: it takes access tokens of the installation's identity provider.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { isReady, LocalMachine } from '../support/local-machine.ts';

const AUDIENCE = 'https://services.example.com';

let provider: IdentityProvider;
let module: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  module = await compileFixture('bearer');
});
afterAll(() => provider.stop());

test('a service takes tokens for the audience of services, and no others; without auth it is not served', async () => {
  const settings = { SVC_LOCAL_SERVICE_AUDIENCE: AUDIENCE };
  const machine = await new LocalMachine(provider, settings).withProject();
  await machine.store('books', module);
  const { generation } = await machine.apply('books', { auth: 'platform' });
  await machine.until(isReady(generation));
  const me = async (claims?: Readonly<Record<string, unknown>>) => {
    const token = claims && (await provider.issue({ subject: 'ann', claims }));
    return await fetch(`${machine.url}/books/me`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  };
  const known = await me({ aud: AUDIENCE });
  expect(known.status).toBe(200);
  expect(await known.json()).toMatchObject({
    subject: 'ann',
    issuer: provider.issuer,
    tokens: ['x-svc-principal'],
  });
  expect((await me()).status).toBe(401);
  // A token for the control plane is for nobody else.
  expect((await me({})).status).toBe(401);

  await machine.apply('books');
  const failed = await machine.until(({ lifecycle }) => lifecycle === 'failed');
  expect(failed).toMatchObject({ readyInstances: 1 });
  expect(failed.detail).toContain('auth: platform in the descriptor of the service');
  expect((await me({ aud: AUDIENCE })).status).toBe(200);
});
