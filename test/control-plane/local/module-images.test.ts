// The images of services on this machine: which are read, from where, and which are refused at once.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WasmServiceDescriptor } from '@svc/client';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import { ModuleImages } from '../../../control-plane/local/module-images.ts';
import type { ImageWish } from '../../../control-plane/local/local-machine.ts';
import type { RegistrySettings } from '../../../control-plane/local/registry-settings.ts';
import type { ResolvedImage } from '../../../control-plane/local/service-record.ts';
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

/** `known`: what the service has found before. */
function resolve(
  images: ModuleImages,
  image: string,
  protocol = '0.2.0',
  known: Pick<ImageWish, 'digest' | 'former'> = {},
) {
  const descriptor: WasmServiceDescriptor = { name: 'cart', image, hosting: 'wasm', protocol };
  const key = { project: 'shop', service: 'cart' };
  return images.resolve({ key, descriptor, ...known }, new AbortController().signal);
}

async function found(images: ModuleImages, image: string): Promise<ResolvedImage> {
  const result = await resolve(images, image);
  if (result.kind !== 'found') throw new Error(result.reason);
  return result.image;
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
  expect(readFileSync(result.image.moduleFile!).equals(TINY_MODULE)).toBe(true);
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
  ['a tag that is not there', ':5', 'SVC_IMAGE_MISSING', true],
  ['another digest', `@sha256:${'0'.repeat(64)}`, 'SVC_IMAGE_MISSING', true],
])('%s is not looked for again', async (_what, ending, code, isFinal) => {
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

test('of an image whose module is there the tag is asked for, and no blob', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const name = `${registry.host}/shop/cart:4`;
  const former = await found(images, name);
  registry.requests.length = 0;
  expect(await resolve(images, name, '0.2.0', { former })).toEqual({
    kind: 'found',
    image: former,
  });
  expect(registry.requests).toEqual(['GET /v2/shop/cart/manifests/4']);
  expect(await resolve(images, name, '0.9.0', { former })).toMatchObject({ isFinal: true });
});

test('the version of svc in the label is kept, and read again if a record of an earlier version lacks it', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const name = `${registry.host}/shop/cart@${built.root.digest}`;
  const { runtime, ...former } = await found(images, name);
  expect(runtime).toBe('0.1.0');
  expect(await resolve(images, name, '0.2.0', { former })).toMatchObject({
    kind: 'found',
    image: { ...former, runtime: '0.1.0' },
  });
});

test('a tag that names another image by now is read', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const name = `${registry.host}/shop/cart:4`;
  const former = await found(images, name);
  const next = moduleImage({
    module: Buffer.concat([TINY_MODULE, Buffer.from([0, 2, 1, 97])]),
    protocol: '0.2.0',
    runtime: '0.1.0',
  });
  registry.add(next);
  expect(await resolve(images, name, '0.2.0', { former })).toMatchObject({
    kind: 'found',
    image: { digest: next.root.digest },
  });
  expect(await resolve(images, name, '0.2.0', { digest: built.root.digest })).toMatchObject({
    kind: 'found',
    image: { digest: built.root.digest, moduleFile: former.moduleFile },
  });
});

test('for an image that is named by its digest nobody is asked again', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const name = `${registry.host}/shop/cart@${built.root.digest}`;
  const former = await found(images, name);
  registry.requests.length = 0;
  expect((await resolve(images, name, '0.2.0', { former })).kind).toBe('found');
  expect(registry.requests).toEqual([]);
});

test('a module whose file is gone is read again', async () => {
  const registry = await filled();
  const images = imagesOf({ privateHosts: new Set([registry.host]) });
  const name = `${registry.host}/shop/cart@${built.root.digest}`;
  const former = await found(images, name);
  rmSync(former.moduleFile!);
  expect(images.isKept(former)).toBe(false);
  expect((await resolve(images, name, '0.2.0', { former })).kind).toBe('found');
  expect(images.isKept(former)).toBe(true);
});

test('two services that find the same module at the same time have one whole file of it', async () => {
  const registry = await filled();
  registry.add(built, '5');
  const folder = temporaryFolder();
  const images = imagesOf({ privateHosts: new Set([registry.host]) }, folder);
  const results = await Promise.all(
    ['4', '5', '4', '5'].map(
      async (tag) => await found(images, `${registry.host}/shop/cart:${tag}`),
    ),
  );
  const [file] = readdirSync(join(folder, 'modules'));
  expect(readdirSync(join(folder, 'modules'))).toHaveLength(1);
  for (const { moduleFile } of results) expect(moduleFile).toBe(join(folder, 'modules', file!));
  expect(readFileSync(results[0]!.moduleFile!).equals(TINY_MODULE)).toBe(true);
});

test('members learn of a failure, and not where the files of the machine are', async () => {
  const folder = temporaryFolder();
  const registry = await filled();
  const tokenFile = join(folder, 'no-token');
  const credentialsFile = join(folder, 'config.json');
  writeFileSync(credentialsFile, '{"torn');
  writeFileSync(join(folder, 'modules'), 'no folder');
  await writeLayoutFolder(built, '4', join(folder, 'cart'));
  const privateHosts = new Set([registry.host]);
  const image = `${registry.host}/shop/cart:4`;
  const failures = await Promise.all([
    resolve(imagesOf({}, folder), 'oci:images/none'),
    resolve(imagesOf({}, folder), 'oci:images/cart:4'),
    resolve(imagesOf({ platform: { host: registry.host, tokenFile } }, folder), image),
    resolve(imagesOf({ privateHosts, credentialsFile }, folder), image),
    resolve(imagesOf({ privateHosts, authorityFile: tokenFile }, folder), image),
  ]);
  const reasons = failures.map((result) => (result.kind === 'failed' ? result.reason : 'found'));
  expect(reasons).toEqual([
    expect.stringContaining('SVC_IMAGE_MISSING: oci:images/none has no readable file'),
    expect.stringContaining('SVC_IMAGE_UNWRITABLE: Its module cannot be kept'),
    expect.stringContaining(
      'SVC_REGISTRY_CREDENTIALS_INVALID: The file that the setting svc.local.platform-registry-token',
    ),
    expect.stringContaining(
      'SVC_REGISTRY_CREDENTIALS_INVALID: The file of credentials of svc.local.registry-credentials',
    ),
    expect.stringContaining(
      'SVC_REGISTRY_CREDENTIALS_INVALID: The file that the setting svc.local.registry-authority',
    ),
  ]);
  for (const reason of reasons) expect(reason).not.toContain(folder);
});
