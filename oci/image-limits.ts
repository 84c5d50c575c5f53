// ImageLimits: bounds on what an image may make its reader load, unpack and remember.

const MIB = 1024 * 1024;

/** Maximum size of an index, a manifest or a config, in bytes; registries commonly allow manifests of 4 MiB. */
export const MANIFEST_BYTES_MAX = 4 * MIB;
/** Maximum size of all layers of an image as they are stored, in bytes. */
export const PACKED_BYTES_MAX = 64 * MIB;
/** Maximum size of all layers of an image when they are decompressed, in bytes. */
export const UNPACKED_BYTES_MAX = 256 * MIB;
/** Maximum size of the module in an image, in bytes. */
export const MODULE_BYTES_MAX = 64 * MIB;
/** Maximum size of the file that holds a layout as an archive, in bytes: the layers of the largest image of a program, and more. */
export const ARCHIVE_BYTES_MAX = 2304 * MIB;
/** Maximum number of layers of an image. */
export const LAYERS_MAX = 32;
/** Maximum number of manifests of an index. */
export const MANIFESTS_MAX = 64;
/** Maximum number of entries of all layers of an image, or of an archive. */
export const ENTRIES_MAX = 4096;
/** Maximum length of the path of an entry, in bytes. */
export const PATH_BYTES_MAX = 1024;
/** Maximum size of the extended header of an entry, in bytes. */
export const EXTENDED_HEADER_BYTES_MAX = 64 * 1024;
/**
 * Base-2 logarithm of the largest window of a layer in zstd. RFC 8878 recommends that decoders support 8 MiB, and that
 * encoders need no more.
 */
export const ZSTD_WINDOW_LOG_MAX = 23;
