// The unpacked images of services on this machine: which are read, shared, kept and removed.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServiceDescriptor } from '@svc/client';
import {
  ImageRoots,
  type RootImage,
  type RootImageWish,
  sweepImageRoots,
} from '../../../control-plane/local/image-roots.ts';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import { type Digest, digestOf } from '../../../oci/digest.ts';
import type { BuiltImage } from '../../../oci/module-image.ts';
import { CONFIG_TYPE, LAYER_TYPE, MANIFEST_TYPE } from '../../../oci/media-types.ts';
import { tarArchive } from '../../../oci/tar-writer.ts';
import { FakeRegistry } from '../../oci/support/fake-registry.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function imageWith(text: string, run: object = { Cmd: ['/serve'] }): BuiltImage {
  const blobs = new Map<Digest, Uint8Array>();
  const add = (mediaType: string, bytes: Uint8Array) => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const addJson = (mediaType: string, value: unknown) =>
    add(mediaType, Buffer.from(JSON.stringify(value)));
  const layer = add(
    LAYER_TYPE,
    tarArchive([{ path: 'serve', content: Buffer.from(text), mode: 0o755, owner: 0 }]),
  );
  const config = addJson(CONFIG_TYPE, {
    config: run,
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const root = addJson(MANIFEST_TYPE, {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config,
    layers: [layer],
  });
  return { root, blobs };
}

const built = imageWith('one');

async function filled(image = built): Promise<FakeRegistry> {
  const registry = await FakeRegistry.start();
  registry.add(image);
  return registry;
}

function rootsOf(
  registry: FakeRegistry,
  folder: string,
  imagesBytesMax = 1_000_000,
  projectImagesBytesMax = 1_000_000,
): ImageRoots {
  return new ImageRoots({
    folder,
    imageFolders: new Map(),
    registries: {
      credentialsFile: undefined,
      authorityFile: undefined,
      privateHosts: new Set([registry.host]),
      platform: undefined,
    },
    section: {
      ...LOCAL_DEFAULTS,
      registryAnswerTimeoutMs: 1000,
      registryTimeoutMs: 5000,
      imagesBytesMax,
      projectImagesBytesMax,
    },
  });
}

function resolve(
  roots: ImageRoots,
  image: string,
  known: Pick<RootImageWish, 'digest' | 'former'> = {},
  signal = new AbortController().signal,
) {
  const descriptor: ServiceDescriptor = {
    name: 'cart',
    image,
    hosting: 'process',
    protocol: 'http/1.1',
  };
  return roots.resolve({ key: { project: 'shop', service: 'cart' }, descriptor, ...known }, signal);
}

async function found(roots: ImageRoots, image: string): Promise<RootImage> {
  const result = await resolve(roots, image);
  if (result.kind !== 'found') throw new Error(result.reason);
  return result.image;
}

function blobsAsked({ requests }: FakeRegistry): number {
  return requests.filter((line) => line.includes('/blobs/')).length;
}

test('an image is unpacked under its project and digest, and its tag is resolved once', async () => {
  const registry = await filled();
  const folder = join(temporaryFolder(), 'images');
  const name = `${registry.host}/shop/cart:4`;
  const { digest, imageFolder } = await found(rootsOf(registry, folder), name);
  expect(digest).toBe(built.root.digest);
  expect(imageFolder).toBe(join(folder, 'shop', digest.slice('sha256:'.length)));
  expect(readFileSync(join(imageFolder, 'root/serve'), 'utf8')).toBe('one');
  expect(JSON.parse(readFileSync(join(imageFolder, 'config.json'), 'utf8'))).toMatchObject({
    image: digest,
    config: { cmd: ['/serve'], user: { uid: 0, gid: 0 } },
  });
  expect(registry.requests.filter((line) => line.endsWith('/manifests/4'))).toHaveLength(1);
});

test('services with the same image share its folder, and its layers are read once, also at the same time', async () => {
  const registry = await filled();
  const folder = join(temporaryFolder(), 'images');
  const roots = rootsOf(registry, folder);
  const name = `${registry.host}/shop/cart:4`;
  const images = await Promise.all([found(roots, name), found(roots, name), found(roots, name)]);
  expect(new Set(images.map(({ imageFolder }) => imageFolder)).size).toBe(1);
  await found(roots, name);
  expect(blobsAsked(registry)).toBe(2);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('an image that another service was unpacking when it was cancelled is unpacked', async () => {
  const registry = await filled();
  const folder = join(temporaryFolder(), 'images');
  const roots = rootsOf(registry, folder);
  const name = `${registry.host}/shop/cart:4`;
  const cancel = new AbortController();
  const asked = Promise.withResolvers<void>();
  registry.intercept = ({ url }) => {
    if (url?.includes('/blobs/') !== true || cancel.signal.aborted) return false;
    asked.resolve();
    return true;
  };
  const first = resolve(roots, name, {}, cancel.signal);
  await asked.promise;
  const second = resolve(roots, name);
  cancel.abort(new Error('cancelled'));
  await expect(first).rejects.toThrow('cancelled');
  expect(await second).toMatchObject({ kind: 'found' });
  expect(readdirSync(folder)).toHaveLength(1);
});

test('no registry is asked for the digest that the service had before', async () => {
  const registry = await filled();
  const roots = rootsOf(registry, join(temporaryFolder(), 'images'));
  const name = `${registry.host}/shop/cart:4`;
  const former = await found(roots, name);
  registry.requests.length = 0;
  expect(await resolve(roots, name, { digest: former.digest, former })).toEqual({
    kind: 'found',
    image: former,
  });
  expect(registry.requests).toEqual([]);
  await resolve(roots, name, { former });
  expect(registry.requests).not.toEqual([]);
});

test('a digest that another service has is not given to one that may not read it', async () => {
  const registry = await filled();
  const roots = rootsOf(registry, join(temporaryFolder(), 'images'));
  const { digest } = await found(roots, `${registry.host}/shop/cart:4`);
  registry.intercept = (_request, response) => {
    response.writeHead(404).end();
    return true;
  };
  expect(await resolve(roots, `${registry.host}/shop/cart@${digest}`)).toMatchObject({
    kind: 'failed',
    isFinal: true,
  });
});

test('a project that serves the manifest of an image without its layers gets no files that another project has', async () => {
  const registry = await filled();
  const roots = rootsOf(registry, join(temporaryFolder(), 'images'));
  const name = `${registry.host}/shop/cart:4`;
  await found(roots, name);
  registry.intercept = ({ url = '' }, response) => {
    if (!url.includes('/blobs/')) return false;
    response.writeHead(404).end();
    return true;
  };
  expect((await resolve(roots, name)).kind).toBe('found');
  const key = { project: 'thief', service: 'cart' };
  const wish = { key, descriptor: { name: 'cart', image: name } };
  expect((await roots.resolve(wish, AbortSignal.timeout(10_000))).kind).toBe('failed');
});

test('a digest that the service had from another repository is asked for', async () => {
  const registry = await filled();
  const roots = rootsOf(registry, join(temporaryFolder(), 'images'));
  const former = await found(roots, `${registry.host}/shop/cart:4`);
  registry.requests.length = 0;
  const name = `${registry.host}/shop/other@${former.digest}`;
  await resolve(roots, name, { former });
  expect(registry.requests).not.toEqual([]);
});

test('an image is refused before it is read if there is no room at all', async () => {
  const registry = await filled();
  const folder = join(temporaryFolder(), 'images');
  const name = `${registry.host}/shop/cart:4`;
  expect(await resolve(rootsOf(registry, folder, 0), name)).toMatchObject({
    isFinal: false,
    reason: expect.stringContaining('SVC_IMAGE_FOLDER_FULL') as string,
  });
  expect(blobsAsked(registry)).toBe(0);
});

test('an image is refused when it does not fit beside the kept ones, and fits once those are removed', async () => {
  const registry = await filled(imageWith('x'.repeat(60_000)));
  const other = await filled(imageWith('y'.repeat(60_000)));
  const folder = join(temporaryFolder(), 'images');
  const bytesMax = 140_000;
  await found(rootsOf(registry, folder, bytesMax), `${registry.host}/shop/cart:4`);
  const roots = rootsOf(other, folder, bytesMax);
  const refused = {
    kind: 'failed',
    isFinal: false,
    reason: expect.stringContaining('SVC_IMAGE_FOLDER_FULL') as string,
  };
  expect(await resolve(roots, `${other.host}/shop/cart:4`)).toMatchObject(refused);
  expect(readdirSync(join(folder, 'shop'))).toHaveLength(1);
  await sweepImageRoots(folder, new Set());
  await found(roots, `${other.host}/shop/cart:4`);
});

test('the images of a project have a bound of their own, which leaves others their space', async () => {
  const registry = await filled(imageWith('x'.repeat(60_000)));
  const other = await filled(imageWith('y'.repeat(60_000)));
  const folder = join(temporaryFolder(), 'images');
  const bounds = [1_000_000, 140_000] as const;
  await found(rootsOf(registry, folder, ...bounds), `${registry.host}/shop/cart:4`);
  const others = rootsOf(other, folder, ...bounds);
  const image = `${other.host}/shop/cart:4`;
  expect(await resolve(others, image)).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('svc.local.project-images-bytes-max') as string,
  });
  const wish = { key: { project: 'bank', service: 'cart' }, descriptor: { name: 'cart', image } };
  expect(await others.resolve(wish, AbortSignal.timeout(10_000))).toMatchObject({ kind: 'found' });
});

test('an image that cannot be run is refused for good, and nothing of it is kept', async () => {
  const registry = await filled(imageWith('one', {}));
  const folder = join(temporaryFolder(), 'images');
  expect(await resolve(rootsOf(registry, folder), `${registry.host}/shop/cart:4`)).toMatchObject({
    kind: 'failed',
    isFinal: true,
    reason: expect.stringContaining('SVC_IMAGE_NOT_RUNNABLE') as string,
  });
  expect(readdirSync(join(folder, 'shop'))).toEqual([]);
});

test('images that nothing uses are removed, with those that were cut off, and nothing else', async () => {
  const registry = await filled();
  const folder = join(temporaryFolder(), 'images');
  const { imageFolder } = await found(rootsOf(registry, folder), `${registry.host}/shop/cart:4`);
  const unfinished = `${imageFolder}.0123456789ab.new`;
  const project = join(folder, 'shop');
  for (const path of [unfinished, join(project, 'a'.repeat(64)), join(project, 'notes')])
    mkdirSync(join(path, 'root/locked/below'), { recursive: true });
  chmodSync(join(unfinished, 'root/locked'), 0o500);
  await sweepImageRoots(folder, new Set([imageFolder]));
  expect(readdirSync(project).toSorted()).toEqual([basename(imageFolder), 'notes'].toSorted());
  await sweepImageRoots(folder, new Set());
  expect(existsSync(imageFolder)).toBe(false);
});
