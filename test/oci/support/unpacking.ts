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
export function folders() {
  const top = temporaryFolder();
  const outside = join(top, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret', { mode: 0o600 });
  return { top, outside, folder: join(top, 'images', 'one') };
}

export type TestFolders = ReturnType<typeof folders>;

export async function unpack(
  layers: readonly TestLayer[],
  { folder }: TestFolders,
  { image = {}, limits = {}, signal = new AbortController().signal }: Unpacking = {},
): Promise<UnpackedImage> {
  const layout = writeLayout(temporaryFolder(), layers, { run: { Cmd: ['/bin/serve'] }, ...image });
  const source: ImageSource = await openLayoutFolder(layout);
  return unpackImage(source, 'amd64', folder, { ...ROOT_LIMITS_DEFAULT, ...limits }, signal);
}

/** Unpacks, and returns a function that names a path in the root. */
export async function rootOf(...layers: readonly TestLayer[]): Promise<(path: string) => string> {
  const at = folders();
  await unpack(layers, at);
  return (path) => join(at.folder, 'root', path);
}

/** The failure of an image that is refused, and what is on the disk then. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** Whether the message names a folder of this machine. */
  readonly showsFolder: boolean;
  /** Files that are left of the image. */
  readonly left: readonly string[];
  /** Names in the folder outside, and its file with permissions and number of names. */
  readonly outside: readonly unknown[];
}

/** Unpacks an image that is to be refused. */
export async function refusalOf(
  layers: readonly TestLayer[],
  options: Unpacking = {},
  at = folders(),
): Promise<Refusal> {
  const { code, message } = await failureOf(unpack(layers, at, options));
  const secret = join(at.outside, 'secret');
  const { mode, nlink } = statSync(secret);
  return {
    code,
    message,
    showsFolder: message.includes(at.top),
    left: readdirSync(join(at.top, 'images')),
    outside: [readdirSync(at.outside), readFileSync(secret, 'utf8'), mode & 0o777, nlink],
  };
}

/** The refusal that every image has to have: nothing of it is left, inside or outside. */
export function cleanRefusal(code: string, reason = ''): Refusal {
  return {
    code,
    message: expect.stringContaining(reason) as string,
    showsFolder: false,
    left: [],
    outside: [['secret'], 'secret', 0o600, 1],
  };
}
