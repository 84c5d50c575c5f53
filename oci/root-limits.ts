// RootLimits: bounds on what an image may make its unpacking load, write and remember.
import type { LayerLimits } from './layer-contents.ts';
import type { TarFormat } from './tar-reader.ts';

const MIB = 1024 * 1024;

export interface RootLimits {
  /** Maximum size of all layers as they are stored, in bytes. */
  readonly packedBytesMax: number;
  /** Maximum size of all layers when they are decompressed, in bytes. */
  readonly unpackedBytesMax: number;
  /** Maximum size of a layer as it is stored, in bytes. */
  readonly layerPackedBytesMax: number;
  /** Maximum size of a layer when it is decompressed, in bytes. */
  readonly layerUnpackedBytesMax: number;
  /** Maximum number of layers. */
  readonly layersMax: number;
  /** Maximum number of entries of all layers, and of folders that are only above an entry. */
  readonly entriesMax: number;
  /** Maximum length of a path, and of what a link leads to, in bytes. */
  readonly pathBytesMax: number;
  /** Maximum number of names in a path. */
  readonly depthMax: number;
  /** Maximum size of the extended header of an entry, in bytes. */
  readonly extendedHeaderBytesMax: number;
}

export const ROOT_LIMITS_DEFAULT: RootLimits = {
  packedBytesMax: 2048 * MIB,
  unpackedBytesMax: 2048 * MIB,
  layerPackedBytesMax: 1024 * MIB,
  layerUnpackedBytesMax: 2048 * MIB,
  layersMax: 127,
  entriesMax: 500_000,
  pathBytesMax: 2048,
  depthMax: 128,
  extendedHeaderBytesMax: MIB,
};

/** Maximum length of a name in a folder, in bytes, which the file systems of Linux have. */
export const NAME_BYTES_MAX = 255;
/** Maximum size of `/etc/passwd` and of `/etc/group`, in bytes, in which a user of an image is looked up. */
export const USERS_FILE_BYTES_MAX = MIB;
/** Maximum number of values of ENTRYPOINT and CMD, and of variables of ENV. */
export const RUN_VALUES_MAX = 1024;
/** Maximum length of each of them, in bytes, which Linux has for an argument. */
export const RUN_VALUE_BYTES_MAX = 128 * 1024 - 1;

/** Maximum size of ENTRYPOINT and CMD together, in bytes. It leaves room for the variables of a service in what Linux takes. */
export const COMMAND_BYTES_MAX = 256 * 1024;

const ADVICE = 'Build the image again, for example with docker build, and push it.';
export const LARGE_ADVICE =
  'Use a smaller image: a slim base image, and only the files that the service needs.';

export function layerLimits(limits: RootLimits): LayerLimits {
  return { ...limits, damagedAdvice: ADVICE, largeAdvice: LARGE_ADVICE };
}

export function tarFormat(limits: RootLimits): TarFormat {
  return { ...limits, hasExtensions: true, mayLackEnd: true, advice: ADVICE };
}
