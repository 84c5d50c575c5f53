// NodeImage: images that have Node in them, and the libraries that it needs, so that a test runs a server of its own in a sandbox.
// The layer with Node is written once, into build/, and each image links to it. Linux only.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digest, digestOf, partsOf } from '../../oci/digest.ts';
import { TAG_ANNOTATION } from '../../oci/image-files.ts';
import { CONFIG_TYPE, INDEX_TYPE, LAYER_TYPE, MANIFEST_TYPE } from '../../oci/media-types.ts';
import { BLOCK_BYTES, headerBlock } from '../../oci/tar-header.ts';
import { paddingOf, tarArchive, type TarContent } from '../../oci/tar-writer.ts';

const CACHE = fileURLToPath(new URL('../../build/node-image/', import.meta.url));
/** Path of Node in the image. */
export const NODE_IN_IMAGE = '/usr/local/bin/node';

export interface NodeImageConfig {
  /** Default: Node. */
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: `/app`. */
  readonly workingDir?: string;
  readonly user?: string;
  /** Default: `latest`. */
  readonly tag?: string;
  /** Paths of tar archives that are further layers, between that of Node and that of the files. */
  readonly archives?: readonly string[];
}

interface StoredBlob {
  readonly digest: Digest;
  readonly size: number;
}

/**
 * Writes an image into a folder, as an OCI layout that has it alone. `files`: contents by their paths in the image, of at most 99
 * bytes, such as `/app/server.js`. Returns the digest of its manifest.
 */
export function buildNodeImage(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  { tag = 'latest', archives = [], ...config }: NodeImageConfig = {},
): Digest {
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const add = (mediaType: string, bytes: Uint8Array) => {
    const digest = digestOf(bytes);
    writeFileSync(join(blobs, partsOf(digest).hex), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const addJson = (mediaType: string, value: unknown) =>
    add(mediaType, Buffer.from(JSON.stringify(value)));
  const { file, ...base } = nodeLayer();
  linkOrCopy(file, join(blobs, partsOf(base.digest).hex));
  const layers = [
    { mediaType: LAYER_TYPE, ...base },
    ...archives.map((archive) => add(LAYER_TYPE, readFileSync(archive))),
    add(LAYER_TYPE, tarArchive([...contentsOf(files)])),
  ];
  const manifest = addJson(MANIFEST_TYPE, {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: addJson(CONFIG_TYPE, {
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: ociConfig(config),
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    }),
    layers,
  });
  const manifests = [{ ...manifest, annotations: { [TAG_ANNOTATION]: tag } }];
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }),
  );
  return manifest.digest;
}

function ociConfig({
  entrypoint = [NODE_IN_IMAGE],
  cmd,
  env = {},
  workingDir = '/app',
  user,
}: NodeImageConfig) {
  return {
    Entrypoint: entrypoint,
    ...(cmd === undefined ? {} : { Cmd: cmd }),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: workingDir,
    ...(user === undefined ? {} : { User: user }),
  };
}

/** Returns the files, each after the folders above it. */
function* contentsOf(files: Readonly<Record<string, string | Uint8Array>>): Generator<TarContent> {
  const folders = new Set(['.']);
  function* foldersAbove(path: string): Generator<TarContent> {
    const above = dirname(path);
    if (folders.has(above)) return;
    yield* foldersAbove(above);
    folders.add(above);
    yield { path: above, mode: 0o755, owner: 0 };
  }
  for (const [path, content] of Object.entries(files)) {
    const inside = path.replace(/^\//, '');
    yield* foldersAbove(inside);
    yield { path: inside, content: Buffer.from(content), mode: 0o644, owner: 0 };
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'EXDEV' && code !== 'EPERM') throw error;
    copyFileSync(from, to);
  }
}

/** The layer with Node, whose file is named by what it is made of and by its digest. Several test files may ask at once. */
function nodeLayer(): StoredBlob & { readonly file: string } {
  mkdirSync(CACHE, { recursive: true });
  const key = layerKey();
  const known = readdirSync(CACHE).find((name) => name.startsWith(`${key}-`));
  if (known !== undefined) return storedLayer(join(CACHE, known));
  const unfinished = join(CACHE, `new-${process.pid}-${crypto.randomUUID()}`);
  try {
    const hex = writeNodeLayer(unfinished);
    const file = join(CACHE, `${key}-${hex}.tar`);
    renameSync(unfinished, file);
    return storedLayer(file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function storedLayer(file: string): StoredBlob & { readonly file: string } {
  const [, hex] = /-([0-9a-f]{64})\.tar$/.exec(file) ?? [];
  return { file, digest: `sha256:${hex}`, size: statSync(file).size };
}

function layerKey(): string {
  const { size, mtimeMs } = statSync(process.execPath);
  return createHash('sha256')
    .update(
      `${process.execPath}\0${size}\0${mtimeMs}\0${readFileSync(import.meta.filename, 'utf8')}`,
    )
    .digest('hex')
    .slice(0, 20);
}

/** Writes the layer file by file, and returns its digest in hexadecimal digits. */
function writeNodeLayer(target: string): string {
  const hashing = createHash('sha256');
  const output = openSync(target, 'wx');
  const write = (bytes: Uint8Array) => {
    hashing.update(bytes);
    for (let at = 0; at < bytes.length; at += writeSync(output, bytes, at));
  };
  const files: Record<string, () => Uint8Array> = {
    'etc/passwd': () => Buffer.from('root:x:0:0::/:/bin/sh\nnode:x:1000:1000::/app:/bin/sh\n'),
    'etc/group': () => Buffer.from('root:x:0:\nnode:x:1000:\n'),
    [NODE_IN_IMAGE.slice(1)]: () => readFileSync(process.execPath),
  };
  for (const library of librariesOfNode()) files[library.slice(1)] = () => readFileSync(library);
  const names = Object.fromEntries(Object.keys(files).map((path) => [path, '']));
  try {
    for (const { path, content } of contentsOf(names)) {
      if (content === undefined) {
        write(headerBlock({ path: `${path}/`, kind: 'directory', mode: 0o755, owner: 0, size: 0 }));
        continue;
      }
      const bytes = files[path]!();
      const mode = path.startsWith('etc/') ? 0o644 : 0o755;
      write(headerBlock({ path, kind: 'file', mode, owner: 0, size: bytes.length }));
      write(bytes);
      write(new Uint8Array(paddingOf(bytes.length)));
    }
    write(new Uint8Array(2 * BLOCK_BYTES));
  } finally {
    closeSync(output);
  }
  return hashing.digest('hex');
}

/** Returns the paths of the loader and of the shared libraries of Node. */
function librariesOfNode(): readonly string[] {
  const lines = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => /(?:=>|^)\s+(\/\S+) \(/.exec(line)?.[1] ?? []);
}
