// ImageRoot: unpacks an image for a sandbox that runs it: its files into `root`, and how it is run into `config.json`. Nothing of
// the image is run.
//
// Invariants
// - The folder is there as a whole, on the disk, or not at all: it is written beside its place and renamed.
// - Every byte of it has had the digest and the size that manifest and config name.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Digest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type Descriptor, invalid, type Manifest } from './image-json.ts';
import { configBytes, type ImageSource, manifestsOf, readManifest } from './image-source.ts';
import { type ImageUser, resolveUser } from './image-user.ts';
import { checkLayers, LayerContents } from './layer-contents.ts';
import { removeFolder } from './removed-folder.ts';
import { RootEntries } from './root-entries.ts';
import type { RootFolder } from './root-folder.ts';
import { layerLimits, type RootLimits, tarFormat } from './root-limits.ts';
import { parseRunConfig, type RunCommand, type RunConfig } from './run-config.ts';
import { readTar } from './tar-reader.ts';

/** How an image is run. */
export interface UnpackedConfig extends RunCommand {
  readonly user: ImageUser;
}

export interface UnpackedImage {
  /** Digest of the image: of its index, or of its manifest if it has no index. */
  readonly image: Digest;
  readonly config: UnpackedConfig;
  /** Space that the folder takes on a disk, in bytes: at most this, with 4 KiB for each entry. */
  readonly bytes: number;
}

/** Name of the folder with the files of an unpacked image. */
export const ROOT_FOLDER = 'root';
export const CONFIG_FILE = 'config.json';
/** Space that an entry takes beside its content, in bytes. */
const ENTRY_BYTES = 4096;
/** Paths at which a sandbox mounts something. */
const MOUNTED_FOLDERS = ['proc', 'dev', 'tmp', 'run'];
const MOUNTED_FILES = ['resolv.conf', 'hosts'];

/**
 * Unpacks the image into a folder that is not there yet. `architecture`: by the name that Go gives it, such as `amd64`. Rejects with
 * ImageError, and with the signal's reason.
 */
export async function unpackImage(
  source: ImageSource,
  architecture: string,
  folder: string,
  limits: RootLimits,
  signal: AbortSignal,
): Promise<UnpackedImage> {
  const unfinished = `${folder}.${randomBytes(6).toString('hex')}.new`;
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await mkdir(join(unfinished, ROOT_FOLDER), { recursive: true, mode: 0o700 });
    const unpacked = await unpackInto(source, architecture, unfinished, limits, signal);
    await writeFile(join(unfinished, CONFIG_FILE), JSON.stringify(unpacked), { flag: 'wx' });
    // The whole file system at once, which is faster than each file by itself.
    await promisify(execFile)('sync', ['-f', unfinished]);
    signal.throwIfAborted();
    await rename(unfinished, folder);
    return unpacked;
  } catch (error) {
    await removeFolder(unfinished).catch(() => {});
    signal.throwIfAborted();
    throw unwritable(source.name, error);
  }
}

/** Returns what `unpackImage` has returned for the folder. Rejects with the file system's error. */
export async function readUnpacked(folder: string): Promise<UnpackedImage> {
  return JSON.parse(await readFile(join(folder, CONFIG_FILE), 'utf8')) as UnpackedImage;
}

async function unpackInto(
  source: ImageSource,
  architecture: string,
  folder: string,
  limits: RootLimits,
  signal: AbortSignal,
): Promise<UnpackedImage> {
  const { manifest, config } = await readParts(source, architecture, limits);
  const contents = new LayerContents(source, layerLimits(limits));
  const entries = new RootEntries(join(folder, ROOT_FOLDER), source.name, limits);
  for (const [at, layer] of manifest.layers.entries()) {
    const { chunks, where } = contents.open(layer, config.diffIds[at]!);
    for await (const entry of readTar(until(chunks, signal), `The ${where}`, tarFormat(limits)))
      await entries.take(entry, at);
  }
  await makeMountPoints(entries.folder, config.command.workingDir);
  const user = await resolveUser(config.user, entries.folder, source.name);
  return {
    image: source.root.digest,
    config: { ...config.command, user },
    bytes: contents.unpackedBytes + entries.entryCount * ENTRY_BYTES,
  };
}

interface ImageParts {
  readonly manifest: Manifest;
  readonly config: RunConfig;
}

async function readParts(
  source: ImageSource,
  architecture: string,
  limits: RootLimits,
): Promise<ImageParts> {
  const descriptor = await descriptorFor(source, architecture);
  const manifest = await readManifest(source, descriptor, limits.layersMax);
  checkLayers(source, manifest.layers, layerLimits(limits));
  const bytes = await configBytes(source, manifest);
  const config = parseRunConfig(bytes, source.name, limits);
  checkPlatform(config, architecture, source.name);
  if (config.diffIds.length !== manifest.layers.length)
    throw invalid(`the config of ${source.name} lists another number of layers than its manifest`);
  return { manifest, config };
}

/** Programs run on their architecture only, so no other manifest takes the place of one that is missing. */
async function descriptorFor(source: ImageSource, architecture: string): Promise<Descriptor> {
  const manifests = await manifestsOf(source);
  const isRoot = manifests[0] === source.root;
  const found = manifests.find(
    ({ platform }) => isRoot || platform === undefined || platform.architecture === architecture,
  );
  if (found !== undefined) return found;
  throw otherPlatform(source.name, architecture);
}

function checkPlatform(config: RunConfig, architecture: string, image: string): void {
  const isFor =
    ['', 'linux'].includes(config.os) && ['', architecture].includes(config.architecture);
  if (!isFor) throw otherPlatform(image, architecture);
}

function otherPlatform(image: string, architecture: string): ImageError {
  return new ImageError(
    'SVC_IMAGE_NOT_RUNNABLE',
    `The image ${image} is not for linux/${architecture}. Build it with docker build --platform linux/${architecture}.`,
  );
}

async function* until(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}

async function makeMountPoints(root: RootFolder, workingDir: string): Promise<void> {
  for (const name of MOUNTED_FOLDERS) await root.forceFolder([name]);
  for (const name of MOUNTED_FILES) await root.forceEmptyFile(['etc', name]);
  const names = workingDir.split('/').filter((name) => name !== '');
  // Runtimes of containers make it if it is missing; a link in it is followed in the sandbox.
  if (names.length > 0) await root.ensureFolder(names);
}

/** A failure of the file system, without paths of this machine. */
function unwritable(image: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (cause instanceof ImageError || code === undefined) return cause;
  return new ImageError(
    'SVC_IMAGE_UNWRITABLE',
    `The image ${image} cannot be unpacked on this machine (${code}). Its operator has to look at the disk.`,
    { cause },
  );
}
