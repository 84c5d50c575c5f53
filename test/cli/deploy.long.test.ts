// `svc deploy` of a project, with a real `svc control-plane` that runs the services as processes of this machine.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { addToCounter, LocalMachine } from '../support/local-machine.ts';
import { PlatformUser } from '../support/platform-user.ts';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures');
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

test('a project is deployed, a broken version fails and leaves the present one, and the next one replaces it', async () => {
  const machine = await new LocalMachine(provider).withProject();
  const user = new PlatformUser({ SVC_TOKEN: await provider.issue({ subject: 'ann' }) });
  const url = await machine.svc.listening();
  const images = `images=${join(machine.cwd, 'images')}`;
  await user.svc(['context', 'set', 'test', '--url', url, '--project', 'shop', '--images', images]);
  const asAnn = { SVC_CONTEXT: 'test' };
  cpSync(join(fixtures, 'counter'), join(user.home, 'counter'), { recursive: true });

  const first = await user.svc(['deploy', 'counter'], asAnn);
  expect(first.stderr).toMatch(/counter is ready\.\n$/);
  expect(first).toMatchObject({ code: 0, stdout: '' });
  expect(await addToCounter(machine.url, 3)).toEqual({ value: 3 });

  // Another module cannot read the stored events of this one.
  const service = join(user.home, 'service.yaml');
  writeFileSync(service, 'name: counter\n');
  const unsafe = await user.svc(['deploy', join(fixtures, 'notes'), '-f', service], asAnn);
  expect(unsafe.code).toBe(1);
  expect(unsafe.stderr).toMatch(/Generation 2 of counter failed: .*\[SVC_DEPLOY_FAILED\]\n$/);
  expect(unsafe.stderr).toMatch(
    /The last lines of counter-2-[0-9a-f]+:\n.*\n.*SVC_MANIFEST_UNREADABLE/,
  );
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 4 });

  const entry = join(user.home, 'counter', 'assembly', 'index.ts');
  const source = readFileSync(entry, 'utf8');
  writeFileSync(entry, `${source}\nclass {`);
  const broken = await user.svc(['deploy', 'counter'], asAnn);
  expect(broken.code).toBe(1);
  expect(broken.stderr).toMatch(/\[SVC_BUILD_FAILED\]\n$/);

  writeFileSync(entry, `${source}\n// The same program.\n`);
  const again = await user.svc(['deploy', 'counter'], asAnn);
  expect(again.stderr).toContain('generation 3');
  expect(again.code).toBe(0);
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 5 });
});
