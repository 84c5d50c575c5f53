// ProgramImage: checks the image of a program where it is stored, as unpacking it would, but for where its entries lead: nothing is
// written, and nothing of the image is run. Every byte has then had the digest and the size that manifest and config name.
import type { Digest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { invalid, isObject, type Manifest, parseObject } from './image-json.ts';
import { configBytes, type ImageSource, manifestsOf, readManifest } from './image-source.ts';
import { checkLayers, LayerContents } from './layer-contents.ts';
import { MODULE_ENDING } from './layer-files.ts';
import { MODULE_LABEL } from './module-label.ts';
import { layerLimits, ROOT_LIMITS_DEFAULT, tarFormat } from './root-limits.ts';
import { parseRunConfig, type RunConfig } from './run-config.ts';
import { readTar } from './tar-reader.ts';

/** The image of a program for one platform. */
export interface ProgramPlatform {
  /** Such as `linux/amd64`. */
  readonly platform: string;
  readonly config: RunConfig;
  /** Number of decompressed bytes of its layers. */
  readonly bytes: number;
  /** Whether a name of an entry ends as that of a module does. */
  readonly hasModule: boolean;
}

export interface ProgramImage {
  /** Digest of the image: of its index, or of its manifest if it has no index. */
  readonly image: Digest;
  readonly platforms: readonly ProgramPlatform[];
}

const LIMITS = ROOT_LIMITS_DEFAULT;

/** Whether an image has a command and does not say that it is the image of a module. Rejects with ImageError. */
export async function isProgramImage(source: ImageSource): Promise<boolean> {
  const [first] = await manifestsOf(source);
  const manifest = await readManifest(source, first!, LIMITS.layersMax);
  const bytes = await configBytes(source, manifest);
  const { config } = parseObject(bytes, `the config of ${source.name}`);
  if (!isObject(config)) return false;
  const { Labels: labels, Entrypoint: entrypoint, Cmd: cmd } = config;
  if (isObject(labels) && labels[MODULE_LABEL] !== undefined) return false;
  return [entrypoint, cmd].some((words) => Array.isArray(words) && words.length > 0);
}

/** Checks an image for all its platforms. Rejects with ImageError. */
export async function checkProgramImage(source: ImageSource): Promise<ProgramImage> {
  const platforms: ProgramPlatform[] = [];
  for (const descriptor of await manifestsOf(source)) {
    const manifest = await readManifest(source, descriptor, LIMITS.layersMax);
    platforms.push(await checkPlatform(source, manifest));
  }
  return { image: source.root.digest, platforms };
}

async function checkPlatform(source: ImageSource, manifest: Manifest): Promise<ProgramPlatform> {
  checkLayers(source, manifest.layers, layerLimits(LIMITS));
  const config = parseRunConfig(await configBytes(source, manifest), source.name, LIMITS);
  if (!['', 'linux'].includes(config.os))
    throw new ImageError(
      'SVC_IMAGE_NOT_RUNNABLE',
      `The image ${source.name} is for ${config.os}. Build it for Linux.`,
    );
  if (config.diffIds.length !== manifest.layers.length)
    throw invalid(`the config of ${source.name} lists another number of layers than its manifest`);
  let hasModule = false;
  const contents = new LayerContents(source, layerLimits(LIMITS));
  for (const [at, layer] of manifest.layers.entries()) {
    const { chunks, where } = contents.open(layer, config.diffIds[at]!);
    for await (const { path } of readTar(chunks, `The ${where}`, tarFormat(LIMITS)))
      hasModule ||= path.endsWith(MODULE_ENDING);
  }
  const platform = config.architecture === '' ? 'linux' : `linux/${config.architecture}`;
  return { platform, config, bytes: contents.unpackedBytes, hasModule };
}
