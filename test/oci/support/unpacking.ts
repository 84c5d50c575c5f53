// Unpacking: unpacks images of tests, beside a folder that no image may reach.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type UnpackedImage, unpackImage } from '../../../oci/image-root.ts';
import type { ImageSource } from '../../../oci/image-source.ts';
import { openLayoutFolder } from '../../../oci/layout-folder.ts';
import { ROOT_LIMITS_DEFAULT, type RootLimits } from '../../../oci/root-limits.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { failureOf, type TestImage, type TestLayer, writeLayout } from './test-image.ts';

export interface Unpacking {
  readonly image?: TestImage;
  readonly limits?: Partial<RootLimits>;
  readonly signal?: AbortSignal;
}

/** The folder for what is unpacked, beside a folder that no image may reach. */
export function places() {
  const top = temporaryFolder();
  const outside = join(top, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret', { mode: 0o600 });
  return { top, outside, folder: join(top, 'images', 'one') };
}

export type Places = ReturnType<typeof places>;

export async function unpack(
  layers: readonly TestLayer[],
  { folder }: Places,
  { image = {}, limits = {}, signal = new AbortController().signal }: Unpacking = {},
): Promise<UnpackedImage> {
  const layout = writeLayout(temporaryFolder(), layers, { run: { Cmd: ['/bin/serve'] }, ...image });
  const source: ImageSource = await openLayoutFolder(layout);
  return unpackImage(source, 'amd64', folder, { ...ROOT_LIMITS_DEFAULT, ...limits }, signal);
}

/** Unpacks, and returns a function that names a path in the root. */
export async function rootOf(...layers: readonly TestLayer[]): Promise<(path: string) => string> {
  const at = places();
  await unpack(layers, at);
  return (path) => join(at.folder, 'root', path);
}

/** Expects that the image is refused with the code, and that nothing of it is left, inside or outside. */
export async function expectRefused(
  layers: readonly TestLayer[],
  code: string,
  { reason = '', ...options }: Unpacking & { readonly reason?: string } = {},
  at = places(),
): Promise<void> {
  const failure = await failureOf(unpack(layers, at, options));
  expect(failure).toMatchObject({ code, message: expect.stringContaining(reason) as string });
  expect(failure.message).not.toContain(at.top);
  expect(readdirSync(join(at.top, 'images'))).toEqual([]);
  expect(readdirSync(at.outside)).toEqual(['secret']);
  expect(readFileSync(join(at.outside, 'secret'), 'utf8')).toBe('secret');
  const { mode, nlink } = statSync(join(at.outside, 'secret'));
  expect([mode & 0o777, nlink]).toEqual([0o600, 1]);
}
