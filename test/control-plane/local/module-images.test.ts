// The images of services on this machine: which are read, from where, and which are refused at once.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WasmServiceDescriptor } from '@svc/client';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import { ModuleImages } from '../../../control-plane/local/module-images.ts';
import type { RegistrySettings } from '../../../control-plane/local/registry-settings.ts';
import { digestOf } from '../../../oci/digest.ts';
import { writeLayoutFolder } from '../../../oci/image-files.ts';
import { moduleImage } from '../../../oci/module-image.ts';
import { FakeRegistry } from '../../oci/support/fake-registry.ts';
import { TINY_MODULE } from '../../oci/support/test-image.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const built = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });
const NOTHING: RegistrySettings = {
  credentialsFile: undefined,
  authorityFile: undefined,
  privateHosts: new Set(),
  platform: undefined,
};

function imagesOf(registries: Partial<RegistrySettings>, folder = temporaryFolder()): ModuleImages {
  return new ModuleImages({
    folder: join(folder, 'modules'),
    imageFolders: new Map([['images', folder]]),
    registries: { ...NOTHING, ...registries },
    section: { ...LOCAL_DEFAULTS, registryAnswerTimeoutMs: 1000, registryTimeoutMs: 5000 },
  });
}

function resolve(images: ModuleImages, image: string, protocol = '0.2.0') {
  const descriptor: WasmServiceDescriptor = { name: 'cart', image, hosting: 'wasm', protocol };
  const key = { project: 'shop', service: 'cart' };
  return images.resolve({ key, descriptor }, new AbortController().signal);
}

async function filled(): Promise<FakeRegistry> {
  const registry = await FakeRegistry.start();
  registry.add(built);
  return registry;
}

test('an image of a registry is read, its tag resolved once, and its module kept', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const result = await resolve(images, `${registry.host}/shop/cart:4`);
  if (result.kind !== 'found') throw new Error(result.reason);
  expect(result.image.digest).toBe(built.root.digest);
  expect(readFileSync(result.image.moduleFile).equals(TINY_MODULE)).toBe(true);
  expect(registry.requests.filter((line) => line.endsWith('/manifests/4'))).toHaveLength(1);
});

test('a registry of this machine is not asked unless the operator allows it', async () => {
  const registry = await filled();
  expect(await resolve(imagesOf({}), `${registry.host}/shop/cart:4`)).toEqual({
    kind: 'failed',
    isFinal: true,
    reason: expect.stringContaining('SVC_REGISTRY_ADDRESS_REFUSED') as string,
  });
  expect(registry.requests).toEqual([]);
});

test("the installation's registry is asked with its token, for images of the service's project only", async () => {
  const registry = await filled();
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, 'secret\n');
  const images = imagesOf({ platform: { host: registry.host, tokenFile } });
  expect((await resolve(images, `${registry.host}/shop/cart:4`)).kind).toBe('found');
  expect(new Set(registry.authorizations.slice(1))).toEqual(new Set(['Bearer secret']));
  registry.requests.length = 0;
  for (const repository of ['other/cart', 'shop-2/cart', 'shop'])
    expect(await resolve(images, `${registry.host}/${repository}:4`)).toMatchObject({
      isFinal: true,
      reason: expect.stringContaining('SVC_REGISTRY_REFUSED') as string,
    });
  expect(registry.requests).toEqual([]);
});

test('credentials of the operator go to their registry', async () => {
  const registry = await filled();
  registry.intercept = ({ headers }, response) => {
    if (headers.authorization !== undefined) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="a"' }).end();
    return true;
  };
  const credentialsFile = join(temporaryFolder(), 'config.json');
  const auth = Buffer.from('ann:secret').toString('base64');
  writeFileSync(credentialsFile, JSON.stringify({ auths: { [registry.host]: { auth } } }));
  const images = imagesOf({ privateHosts: new Set([registry.host]), credentialsFile });
  expect((await resolve(images, `${registry.host}/shop/cart:4`)).kind).toBe('found');
  expect(registry.authorizations).toContain(`Basic ${auth}`);
});

test.each([
  ['a tag that is not there', ':5', 'SVC_IMAGE_MISSING', false],
  ['another digest', `@sha256:${'0'.repeat(64)}`, 'SVC_IMAGE_MISSING', false],
])('%s is looked for again', async (_what, ending, code, isFinal) => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  expect(await resolve(images, `${registry.host}/shop/cart${ending}`)).toMatchObject({
    isFinal,
    reason: expect.stringContaining(code) as string,
  });
});

test('a layout is read by tag and by digest, and one of another folder is not', async () => {
  const folder = temporaryFolder();
  await writeLayoutFolder(built, '4', join(folder, 'cart'));
  const images = imagesOf({}, folder);
  for (const ending of ['', ':4', `@${built.root.digest}`])
    expect(await resolve(images, `oci:images/cart${ending}`)).toMatchObject({
      kind: 'found',
      image: { digest: built.root.digest },
    });
  expect((await resolve(images, `oci:images/cart@${digestOf(TINY_MODULE)}`)).kind).toBe('failed');
  expect((await resolve(images, 'oci:etc/cart')).kind).toBe('failed');
});

test('a module of another protocol is not kept', async () => {
  const folder = temporaryFolder();
  await writeLayoutFolder(built, '4', join(folder, 'cart'));
  expect(await resolve(imagesOf({}, folder), 'oci:images/cart', '0.9.0')).toMatchObject({
    kind: 'failed',
    isFinal: true,
  });
  expect(existsSync(join(folder, 'modules'))).toBe(false);
});
