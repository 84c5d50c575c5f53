// ModuleImage: builds the image of a module. Equal inputs give equal bytes, on every machine: there are no times in it, and its
// layers are not compressed, because the output of a compressor depends on its version and on the processor.
import { ARCHITECTURES, type Architecture, copyProgram } from './copy-program.ts';
import { type Digest, digestOf } from './digest.ts';
import type { Descriptor } from './image-json.ts';
import { CONFIG_TYPE, INDEX_TYPE, LAYER_TYPE, MANIFEST_TYPE } from './media-types.ts';
import { labelText, MODULE_LABEL } from './module-label.ts';
import { tarArchive } from './tar-writer.ts';

/** A whole image in memory. */
export interface BuiltImage {
  /** Descriptor of the index. */
  readonly root: Descriptor;
  readonly blobs: ReadonlyMap<Digest, Uint8Array>;
}

export interface ModuleToPack {
  readonly module: Uint8Array;
  /** Version of the WIT package `svc:runtime` that the module speaks. */
  readonly protocol: string;
  /** Version of the runtime that the image needs. */
  readonly runtime: string;
}

/** Paths in the image. The runtime loads the module from the folder, in which both have a volume. */
const MODULE_PATH = 'module.wasm';
const COPY_PATH = 'cp';
const SERVICE_FOLDER = 'service';
/** User and group of the copy command and of the folder that it writes to; the runtime's image has the same. */
const SERVICE_USER = 1000;

/** Builds an image with an index for all architectures, which share the layer of the module. */
export function moduleImage({ module, protocol, runtime }: ModuleToPack): BuiltImage {
  const blobs = new Map<Digest, Uint8Array>();
  const add = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const addJson = (mediaType: string, value: unknown) =>
    add(mediaType, Buffer.from(JSON.stringify(value)));
  const label = labelText({ path: MODULE_PATH, digest: digestOf(module), protocol, runtime });
  const moduleLayer = add(LAYER_TYPE, moduleTar(module));
  const manifests = ARCHITECTURES.map((architecture) => {
    const layers = [add(LAYER_TYPE, copyTar(architecture)), moduleLayer];
    const diffIds = layers.map(({ digest }) => digest);
    const config = addJson(CONFIG_TYPE, configOf(architecture, label, diffIds));
    const manifest = { schemaVersion: 2, mediaType: MANIFEST_TYPE, config, layers };
    return { ...addJson(MANIFEST_TYPE, manifest), platform: { architecture, os: 'linux' } };
  });
  const root = addJson(INDEX_TYPE, { schemaVersion: 2, mediaType: INDEX_TYPE, manifests });
  return { root, blobs };
}

function moduleTar(module: Uint8Array): Uint8Array {
  return tarArchive([
    { path: MODULE_PATH, content: module, mode: 0o644, owner: 0 },
    // A new volume takes its owner from here.
    { path: SERVICE_FOLDER, mode: 0o755, owner: SERVICE_USER },
  ]);
}

function copyTar(architecture: Architecture): Uint8Array {
  return tarArchive([
    { path: COPY_PATH, content: copyProgram(architecture), mode: 0o755, owner: 0 },
  ]);
}

/** Returns the config, which starts the copy command as images/module.Dockerfile does. */
function configOf(architecture: Architecture, label: string, diffIds: readonly Digest[]) {
  return {
    architecture,
    os: 'linux',
    config: {
      User: `${SERVICE_USER}:${SERVICE_USER}`,
      Entrypoint: [`/${COPY_PATH}`, `/${MODULE_PATH}`, `/${SERVICE_FOLDER}/${MODULE_PATH}`],
      WorkingDir: '/',
      Labels: { [MODULE_LABEL]: label },
    },
    rootfs: { type: 'layers', diff_ids: diffIds },
  };
}
