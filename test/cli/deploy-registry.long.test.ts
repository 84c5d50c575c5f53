// `svc deploy` through the registry of an installation: `svc registry` and `svc control-plane` as processes, at the names of one base
// domain.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { FaultyFront } from '../support/faulty-front.ts';
import { SvcProcess } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { addToCounter, isReady, LocalMachine } from '../support/local-machine.ts';
import { PlatformUser } from '../support/platform-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('an image is pushed with the token of a member, and the machine pulls it from the registry', async () => {
  const provider = await IdentityProvider.start();
  const folder = temporaryFolder();
  const tokenFile = join(folder, 'pull-token');
  // The names of the installation share the port of the front, as they share that of a gateway.
  const front = await FaultyFront.open('http://127.0.0.1:1');
  const { port } = new URL(front.url);
  const registry = new SvcProcess(
    ['registry', '--control-plane', front.url, '--port', '0', '--data', 'images'],
    { cwd: folder, env: { SVC_REGISTRY_PULL_TOKEN_FILE: tokenFile } },
  );
  onTestFinished(async () => {
    await registry.end('SIGKILL');
    await front[Symbol.asyncDispose]();
    await provider.stop();
  });
  front.registry = await registry.listening();
  const machine = new LocalMachine(provider, {
    SVC_LOCAL_PLATFORM_REGISTRY: `registry.svc.localhost:${port}`,
    SVC_LOCAL_PLATFORM_REGISTRY_TOKEN: tokenFile,
  });
  front.target = await machine.svc.listening();
  const asked: string[] = [];
  front.fate = (line) => {
    if (line.includes(' /v2/')) asked.push(line);
    return 'pass';
  };
  await machine.withProject();

  const user = new PlatformUser({
    SVC_URL: `http://api.svc.localhost:${port}`,
    SVC_TOKEN: await provider.issue({ subject: 'ann' }),
    SVC_PROJECT: 'shop',
  });
  const module = join(user.home, 'counter.wasm');
  writeFileSync(module, await compileFixture('counter'));
  const first = await user.svc(['deploy', module]);
  expect(first.stderr).toMatch(
    /^Stored the image registry\.svc\.localhost:\d+\/shop\/counter:[0-9a-f]{16}\.\n/,
  );
  expect(first.stderr).toMatch(/counter is ready\.\n$/);
  expect(first.code).toBe(0);
  expect(await addToCounter(machine.url, 3)).toEqual({ value: 3 });

  // A further apply asks for the tag, and has the module already.
  expect(asked.filter((line) => /^GET \S+\/blobs\//.test(line))).not.toEqual([]);
  asked.length = 0;
  const again = await user.svc(['deploy', module]);
  expect(again.stderr).toMatch(/^Found the image [^]*generation 2: ready/);
  await machine.untilOneInstance();
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 4 });
  expect(asked.some((line) => /^GET \S+\/manifests\/[0-9a-f]{16}$/.test(line))).toBe(true);
  expect(asked.filter((line) => line.includes('/blobs/'))).toEqual([]);

  // A registry that is away does not hinder a restart, also of a control plane that was started again.
  expect((await registry.end('SIGTERM')).code).toBe(0);
  asked.length = 0;
  for (const generation of [3, 4]) {
    expect((await user.svc(['service', 'restart', 'counter'])).code).toBe(0);
    await machine.until(isReady(generation));
    await machine.untilOneInstance();
    expect(await addToCounter(machine.url, 1)).toEqual({ value: generation + 2 });
    if (generation === 3) {
      await machine.killAndStart();
      front.target = await machine.svc.listening();
    }
  }
  expect(asked).toEqual([]);

  const stranger = { SVC_TOKEN: await provider.issue({ subject: 'ben' }) };
  const refused = await user.svc(['deploy', module], stranger);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/answered 404: .*\[SVC_API_REFUSED\]\n$/);
});
