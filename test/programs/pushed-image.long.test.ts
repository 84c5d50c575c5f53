// An image is pushed with the login of a person to the registry of an installation that svc up runs, and is deployed from there: through
// the gateway, its certificates and the control plane's judgement.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { OneMachine } from '../support/one-machine.ts';

const WAIT = { timeout: 60_000, interval: 50 };

test('a pushed image is deployed, and one of another project is not', async () => {
  const module = await compileFixture('counter');
  const machine = await OneMachine.make();
  await machine.upInBackground();
  writeFileSync(join(machine.cwd, 'counter.wasm'), module);
  await machine.svc('org create acme');
  for (const project of ['shop', 'depot'])
    await machine.svc(`project create ${project} --organization acme`);
  await machine.svc('image build counter.wasm -o counter.tar');
  const registry = `registry.svc.localhost:${machine.ports[0]}`;
  const name = await machine.svc(`image push counter.tar ${registry}/shop/counter:1`);
  expect(name).toMatch(new RegExp(`^${registry}/shop/counter@sha256:[0-9a-f]{64}$`, 'm'));
  const describe = (image: string) =>
    writeFileSync(
      join(machine.cwd, 'service.yaml'),
      `name: counter\nimage: ${image}\nhosting: wasm\nprotocol: 0.2.0\n`,
    );
  describe(`${registry}/shop/counter:1`);
  await machine.svc('service apply -f service.yaml --project shop');
  await machine.svc('service expose counter --project shop');
  await vi.waitUntil(
    async () => (await machine.send('counter', '/counters/a')).status === 200,
    WAIT,
  );
  await machine.svc('service apply -f service.yaml --project depot');
  const status = async () => await machine.svc('service get counter --project depot');
  await vi.waitUntil(async () => (await status()).includes('SVC_REGISTRY_REFUSED'), WAIT);
  const foreign = await machine.run(`image push counter.tar ${registry}/bank/counter:1`);
  expect(foreign.code).toBe(1);
  expect(foreign.stderr).toContain('NAME_UNKNOWN');
}, 240_000);
