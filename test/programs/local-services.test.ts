// `svc control-plane` runs services as processes of this machine, which go on while it is killed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { addToCounter as add, isReady, LocalMachine } from '../support/local-machine.ts';

let provider: IdentityProvider;
let module: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  module = await compileFixture('counter');
});
afterAll(() => provider.stop());

test('a service is run from an image, at an address with the ports of the contract, and goes on while the control plane is killed', async () => {
  const machine = await new LocalMachine(provider).withProject();
  await machine.store('counter', module);
  await machine.apply();
  await machine.until(isReady(1));
  expect(await add(machine.url, 3)).toEqual({ value: 3 });
  const { address, name } = machine.instances()[0]!.spec;
  expect((await fetch(`http://${address}:7626/ready`)).status).toBe(200);

  await machine.killAndStart();
  expect(await add(machine.url, 1)).toEqual({ value: 4 });
  await machine.until(isReady(1));
  expect(machine.instances().map(({ spec }) => spec.name)).toEqual([name]);

  // The next generation has the data of this one, at another address.
  const { generation } = await machine.apply();
  await machine.until(isReady(generation));
  await machine.untilOneInstance();
  expect(machine.instances()[0]!.spec.address).not.toBe(address);
  expect(await add(machine.url, 1)).toEqual({ value: 5 });
});
