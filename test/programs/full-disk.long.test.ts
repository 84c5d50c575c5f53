// Images on a disk that is really full: what the registry, the machine and the command line say, what they leave, and that they work
// again once there is room.
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { LOCAL_DEFAULTS } from '../../control-plane/local/local-section.ts';
import { ModuleImages } from '../../control-plane/local/module-images.ts';
import { digestOf } from '../../oci/digest.ts';
import { writeLayoutFolder } from '../../oci/image-files.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { RegistryUnderTest, refusalOf } from '../registry/registry-under-test.ts';
import { TINY_MODULE } from '../oci/support/test-image.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KIB = 1024;
const MODULE = Buffer.concat([TINY_MODULE, randomBytes(300 * KIB)]);
const problem = whyNoSmallDisk();
if (problem !== undefined) console.log(problem);
beforeEach((context) => context.skip(problem !== undefined, problem));

test('the machine of a control plane keeps no half of a module, says why, and finds the image once there is room', async () => {
  const disk = new SmallDisk(128 * KIB);
  const folder = temporaryFolder();
  const image = moduleImage({ module: MODULE, protocol: '0.2.0', runtime: '0.1.0' });
  await writeLayoutFolder(image, '4', join(folder, 'cart'));
  const images = new ModuleImages({
    folder: join(disk.folder, 'modules'),
    imageFolders: new Map([['images', folder]]),
    registries: {
      credentialsFile: undefined,
      authorityFile: undefined,
      privateHosts: new Set(),
      platform: undefined,
    },
    section: LOCAL_DEFAULTS,
  });
  const wish = {
    key: { project: 'shop', service: 'cart' },
    descriptor: { name: 'cart', image: 'oci:images/cart:4', hosting: 'wasm', protocol: '0.2.0' },
  } as const;
  const never = new AbortController().signal;
  expect(await images.resolve(wish, never)).toEqual({
    kind: 'failed',
    isFinal: false,
    reason: expect.stringMatching(/SVC_IMAGE_UNWRITABLE: .*\(ENOSPC\)/) as string,
  });
  expect(readdirSync(join(disk.folder, 'modules'))).toEqual([]);
  disk.resize(4096 * KIB);
  expect((await images.resolve(wish, never)).kind).toBe('found');
});

test('the registry answers 507, gives the bytes of the upload back, and takes the same upload once there is room', async () => {
  const disk = new SmallDisk(1024 * KIB);
  const body = randomBytes(16 * 1024 * KIB);
  const registry = await RegistryUnderTest.start({}, undefined, join(disk.folder, 'registry'));
  const path = `shop/cart/blobs/uploads/?digest=${digestOf(body)}`;
  const full = await registry.send('POST', path, { body });
  expect(await refusalOf(full)).toEqual({ status: 507, code: 'UNAVAILABLE' });
  disk.resize(64 * 1024 * KIB);
  expect((await registry.send('POST', path, { body })).status).toBe(201);
  registry.nowMs += 2 * 3_600_000;
  await registry.store.sweep();
  expect((await registry.store.project('shop')).usage.bytes).toBe(body.length);
});

test('svc image build leaves no half of an image, and says why', async () => {
  const disk = new SmallDisk(16 * KIB);
  const module = join(temporaryFolder(), 'counter.wasm');
  writeFileSync(module, await compileFixture('counter'));
  for (const target of ['image.tar', 'layout']) {
    const { code, stderr } = await runCommand([
      'image',
      'build',
      module,
      '-o',
      join(disk.folder, target),
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/ENOSPC.*\[SVC_IMAGE_UNWRITABLE\]\n$/);
    expect(readdirSync(disk.folder)).toEqual([]);
  }
});
