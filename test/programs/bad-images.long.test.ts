// A service of one machine to which a bad image is applied, from a layout or from a bad registry: each kind is named in the status, and the
// present instance serves on.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { signalRun } from '../../control-plane/local/instance-process.ts';
import { digestOf } from '../../oci/digest.ts';
import { tarArchive } from '../../oci/tar-writer.ts';
import { FakeRegistry } from '../oci/support/fake-registry.ts';
import {
  file,
  gzipLayer,
  plainLayer,
  tarLayer,
  type TestImage,
  type TestLayer,
  writeLayout,
} from '../oci/support/test-image.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { addToCounter, isReady, LocalMachine, type ShownStatus } from '../support/local-machine.ts';

const MIB = 1024 * 1024;
let module: Uint8Array;
beforeAll(async () => {
  module = await compileFixture('counter');
});

const hasFailed =
  (generation: number) =>
  (status: ShownStatus): boolean =>
    status.generation === generation && status.lifecycle === 'failed';

/** A machine that serves the counter. */
async function serving(env: Readonly<Record<string, string>> = {}): Promise<LocalMachine> {
  const provider = await IdentityProvider.start();
  onTestFinished(() => provider.stop());
  const machine = await new LocalMachine(provider, env).withProject();
  await machine.store('counter', module);
  await machine.apply();
  await machine.until(isReady(1));
  return machine;
}

async function apply(machine: LocalMachine, image: string): Promise<void> {
  const descriptor = { name: 'counter', image, hosting: 'wasm', protocol: '0.2.0' };
  const { status } = await machine.svc.send('PUT /services/shop/counter', 'ann', descriptor);
  expect(status).toBe(200);
}

test('an image that is damaged or no image of a module fails its generation, and the present instance serves on', async () => {
  const machine = await serving();
  const [before] = machine.instances();
  const good = plainLayer(tarArchive([file('module.wasm', module)]));
  const cut = {
    ...good,
    packed: good.packed.subarray(0, 700),
    unpacked: good.packed.subarray(0, 700),
  };
  const link = Buffer.from(tarArchive([file('a.wasm')]));
  link.fill('2', 156, 157);
  const bad: readonly [string, string, readonly TestLayer[], TestImage?][] = [
    ['two', 'SVC_IMAGE_NOT_A_MODULE', [tarLayer(file('a.wasm', module), file('b.wasm', module))]],
    ['none', 'SVC_IMAGE_NOT_A_MODULE', [tarLayer(file('readme'))]],
    ['climbs', 'SVC_IMAGE_LAYER_UNSAFE', [tarLayer(file('../module.wasm', module))]],
    ['link', 'SVC_IMAGE_LAYER_', [plainLayer(link)]],
    ['cut', 'SVC_IMAGE_LAYER_DAMAGED', [cut]],
    ['bomb', 'SVC_IMAGE_TOO_LARGE', [gzipLayer(tarArchive([file('a', Buffer.alloc(257 * MIB))]))]],
    [
      'large',
      'SVC_IMAGE_TOO_LARGE',
      [gzipLayer(tarArchive([file('a.wasm', Buffer.alloc(65 * MIB))]))],
    ],
    ['digest', 'SVC_IMAGE_DIGEST_MISMATCH', [good], { diffIds: [digestOf(Buffer.of(1))] }],
    [
      'size',
      'SVC_IMAGE_DIGEST_MISMATCH',
      [good],
      { layerDescriptor: (one) => ({ ...one, size: 9 }) },
    ],
    ['type', 'SVC_IMAGE_INVALID', [{ ...good, mediaType: 'application/zip' }]],
  ];
  let generation = 1;
  for (const [name, code, layers, image] of bad) {
    writeLayout(join(machine.cwd, 'images', name), layers, image);
    generation += 1;
    await apply(machine, `oci:images/${name}`);
    const failed = await machine.until(hasFailed(generation));
    expect(failed).toMatchObject({
      readyInstances: 1,
      detail: expect.stringContaining(code) as string,
    });
    expect(failed.detail).not.toContain(machine.cwd);
    expect(await addToCounter(machine.url, 1)).toEqual({ value: generation - 1 });
  }
  expect(machine.instances().map(({ spec }) => spec.name)).toEqual([before!.spec.name]);
  await machine.apply();
  await machine.until(isReady(generation + 1));
  await machine.untilOneInstance();
  expect(await addToCounter(machine.url, 1)).toEqual({ value: generation });
}, 120_000);

test('an image that a newer svc has built fails its generation, and one that runs is not started again once an older svc is installed', async () => {
  const machine = await serving();
  await machine.store('newer', module, '0.999.0');
  await apply(machine, 'oci:images/newer');
  expect(await machine.until(hasFailed(2))).toMatchObject({
    readyInstances: 1,
    detail: expect.stringMatching(
      /^image: was built by svc 0\.999\.0: .* which is older/,
    ) as string,
  });
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 1 });
  await machine.apply();
  await machine.until(isReady(3));
  await machine.untilOneInstance();
  // The files are those of a service whose image only a newer svc would have started.
  const [instance] = machine.instances();
  const files = [
    join(machine.cwd, 'machine', 'services', 'shop', 'counter.json'),
    join(instance!.path, 'spec.json'),
  ];
  const before = files.map((path) => readFileSync(path, 'utf8'));
  await machine.svc.end('SIGKILL');
  for (const [index, path] of files.entries())
    writeFileSync(path, before[index]!.replace(/untime":"0\.1\.0"/, 'untime":"0.999.0"'));
  signalRun(instance!, 'SIGKILL');
  await machine.killAndStart();
  const refused = await machine.until(hasFailed(3));
  expect(refused).toMatchObject({ generation: 3, readyInstances: 0 });
  expect(refused.detail).toMatch(/^image: was built by svc 0\.999\.0: /);
  expect(machine.instances().map(({ lastRun }) => lastRun!.restarts)).toEqual([0]);
  await machine.svc.end('SIGKILL');
  const restored = readFileSync(files[0]!, 'utf8').replace('"0.999.0"', '"0.1.0"');
  writeFileSync(files[0]!, restored);
  writeFileSync(files[1]!, before[1]!);
  await machine.killAndStart();
  await machine.until(isReady(3));
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 2 });
}, 120_000);

test('a registry that hangs, redirects to a private address, answers HTML or 429, or takes no token is named, and the present instance serves on', async () => {
  const registry = await FakeRegistry.start();
  const machine = await serving({
    SVC_LOCAL_PRIVATE_REGISTRIES: registry.host,
    SVC_LOCAL_REGISTRY_ANSWER_TIMEOUT_MS: '500',
    SVC_LOCAL_REGISTRY_TIMEOUT_MS: '2000',
  });
  const challenge = { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` };
  const bad: readonly [string, string, FakeRegistry['intercept'], lifecycle: string][] = [
    ['hangs', 'SVC_REGISTRY_UNAVAILABLE', () => true, 'deploying'],
    [
      'private',
      'SVC_REGISTRY_ADDRESS_REFUSED',
      (_request, response) =>
        response.writeHead(302, { location: 'https://10.0.0.1/a' }).end() !== undefined,
      'failed',
    ],
    [
      'html',
      'SVC_REGISTRY_ANSWER_INVALID',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>') !== undefined,
      'failed',
    ],
    [
      'busy',
      'SVC_REGISTRY_UNAVAILABLE',
      (_request, response) =>
        response.writeHead(429, { 'retry-after': '3600' }).end() !== undefined,
      'deploying',
    ],
    [
      'token',
      'SVC_REGISTRY_REFUSED',
      ({ url }, response) =>
        (url!.startsWith('/token')
          ? response.end('{"token":"another"}')
          : response.writeHead(401, challenge).end()) !== undefined,
      'failed',
    ],
  ];
  let generation = 1;
  for (const [name, code, intercept, lifecycle] of bad) {
    registry.intercept = intercept;
    generation += 1;
    await apply(machine, `${registry.host}/shop/counter:${name}`);
    const seen = await machine.until(
      (status) => status.detail?.includes(`:${name}: ${code}`) ?? false,
    );
    expect(seen).toMatchObject({ generation, lifecycle, readyInstances: 1 });
    expect(await addToCounter(machine.url, 1)).toEqual({ value: generation - 1 });
  }
}, 120_000);
