// Reading the module out of an image: what is read, and that each kind of bad image is refused with its code.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../oci/digest.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { labelText } from '../../oci/module-label.ts';
import { readModule } from '../../oci/module-reader.ts';
import { headerBlock } from '../../oci/tar-header.ts';
import { tarArchive } from '../../oci/tar-writer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  failureOf,
  file,
  gzipLayer,
  LAYER,
  plainLayer,
  tarLayer,
  type TestImage,
  type TestLayer,
  TINY_MODULE,
  writeLayout,
} from './support/test-image.ts';

const MIB = 1024 * 1024;
const moduleTar = tarArchive([file('module.wasm')]);

async function readFrom(folder: string) {
  return readModule(await openLayoutFolder(folder), 'amd64');
}

function readImage(layers: readonly TestLayer[], image: TestImage = {}) {
  return readFrom(writeLayout(temporaryFolder(), layers, image));
}

function zstdLayer(unpacked: Uint8Array, options: object = {}): TestLayer {
  return { mediaType: `${LAYER}+zstd`, packed: zstdCompressSync(unpacked, options), unpacked };
}

/** An archive with one entry of a kind of its own. */
function entryOfKind(kind: string, path = 'module.wasm'): Uint8Array {
  const header = Buffer.from(headerBlock({ path, kind: 'file', mode: 0o644, owner: 0, size: 0 }));
  header.write(kind, 156);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(1024)]);
}

describe('the module is read', () => {
  test.each([
    ['plain', plainLayer(moduleTar)],
    ['gzip', gzipLayer(moduleTar)],
    ['zstd', zstdLayer(moduleTar)],
    [
      "gzip under Docker's name",
      { ...gzipLayer(moduleTar), mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' },
    ],
  ])('out of a layer that is %s', async (_what, layer) => {
    const { path, bytes, digest, label } = await readImage([layer]);
    expect({ path, digest, label }).toEqual({
      path: 'module.wasm',
      digest: digestOf(TINY_MODULE),
      label: undefined,
    });
    expect(Buffer.from(bytes).equals(TINY_MODULE)).toBe(true);
  });

  test('when several layers have the same folder, and one begins its paths with ./', async () => {
    const folder = { path: 'service', mode: 0o755, owner: 1000 };
    const layers = [
      tarLayer(folder, file('service/a', Buffer.of(1))),
      tarLayer(folder, file('./app/cart.wasm')),
    ];
    expect((await readImage(layers)).path).toBe('app/cart.wasm');
  });

  test('with its label', async () => {
    const written = {
      path: 'module.wasm',
      digest: digestOf(TINY_MODULE),
      protocol: '0.2.0',
      runtime: '0.1.0',
    };
    const labels = { 'io.svc.module': labelText(written) };
    expect((await readImage([plainLayer(moduleTar)], { labels })).label).toEqual(written);
  });
});

/** The label of the tiny module with changed fields. */
const label = (change: object) => ({
  labels: {
    'io.svc.module': JSON.stringify({
      path: 'module.wasm',
      digest: digestOf(TINY_MODULE),
      protocol: '0.2.0',
      runtime: '0.1.0',
      ...change,
    }),
  },
});

describe('an image is refused', () => {
  const good = plainLayer(moduleTar);
  const bomb = Buffer.alloc(257 * MIB);

  test.each<[string, string, readonly TestLayer[], TestImage?]>([
    ['SVC_IMAGE_NOT_A_MODULE', 'without a module', [tarLayer(file('readme'))]],
    ['SVC_IMAGE_NOT_A_MODULE', 'without layers', []],
    ['SVC_IMAGE_NOT_A_MODULE', 'with two modules', [tarLayer(file('a.wasm'), file('b.wasm'))]],
    [
      'SVC_IMAGE_NOT_A_MODULE',
      'with two modules in two layers',
      [tarLayer(file('a.wasm')), tarLayer(file('b.wasm'))],
    ],
    [
      'SVC_IMAGE_NOT_A_MODULE',
      'with a file that is no WebAssembly',
      [tarLayer(file('a.wasm', Buffer.from('text')))],
    ],
    ['SVC_IMAGE_NOT_A_MODULE', 'with an empty module', [tarLayer(file('a.wasm', Buffer.of()))]],
    [
      'SVC_IMAGE_NOT_A_MODULE',
      'whose label names another path',
      [good],
      label({ path: 'other.wasm' }),
    ],
    [
      'SVC_IMAGE_NOT_A_MODULE',
      'whose label names another digest',
      [good],
      label({ digest: digestOf(Buffer.of(1)) }),
    ],
    ['SVC_IMAGE_INVALID', 'whose label has no protocol', [good], label({ protocol: 1 })],
    [
      'SVC_IMAGE_INVALID',
      'whose label is no JSON',
      [good],
      { labels: { 'io.svc.module': 'cart' } },
    ],
    ['SVC_IMAGE_INVALID', 'whose label is too long', [good], label({ more: 'x'.repeat(5000) })],
    [
      'SVC_IMAGE_INVALID',
      'with a layer of another media type',
      [{ ...good, mediaType: 'application/zip' }],
    ],
    [
      'SVC_IMAGE_INVALID',
      'with a config of another media type',
      [good],
      { configType: 'application/json' },
    ],
    [
      'SVC_IMAGE_INVALID',
      'whose manifest has another media type',
      [good],
      { manifestType: 'text/html' },
    ],
    ['SVC_IMAGE_INVALID', 'whose config names fewer layers', [good], { diffIds: [] }],
    [
      'SVC_IMAGE_INVALID',
      'with a digest that leads elsewhere',
      [good],
      { layerDescriptor: (one) => ({ ...one, digest: 'sha256:../../etc/passwd' }) },
    ],
    [
      'SVC_IMAGE_DIGEST_MISMATCH',
      'whose decompressed layer is another',
      [good],
      { diffIds: [digestOf(Buffer.of(1))] },
    ],
    [
      'SVC_IMAGE_DIGEST_MISMATCH',
      'whose layer is longer than its size',
      [good],
      { layerDescriptor: (one) => ({ ...one, size: 100 }) },
    ],
    [
      'SVC_IMAGE_DIGEST_MISMATCH',
      'whose layer is shorter than its size',
      [good],
      { layerDescriptor: (one) => ({ ...one, size: 9999 }) },
    ],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a path that climbs', [tarLayer(file('a/../../module.wasm'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with an absolute path', [tarLayer(file('/module.wasm'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with an empty segment', [tarLayer(file('a//module.wasm'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a control character', [tarLayer(file('a\u001b[2J.wasm'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a backslash', [tarLayer(file(String.raw`..\module.wasm`))]],
    [
      'SVC_IMAGE_LAYER_UNSAFE',
      'with a path twice in a layer',
      [tarLayer(file('a.wasm'), file('a.wasm'))],
    ],
    [
      'SVC_IMAGE_LAYER_UNSAFE',
      'with a path twice in two spellings',
      [tarLayer(file('a.wasm'), file('./a.wasm'))],
    ],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a file in two layers', [good, good]],
    [
      'SVC_IMAGE_LAYER_UNSAFE',
      'with a file below a file',
      [tarLayer(file('a'), file('a/module.wasm'))],
    ],
    [
      'SVC_IMAGE_LAYER_UNSAFE',
      'with a file instead of a folder',
      [tarLayer(file('a/b'), file('a'))],
    ],
    [
      'SVC_IMAGE_LAYER_UNSAFE',
      'with a folder twice in a layer',
      [tarLayer({ path: 'a', mode: 0o755, owner: 0 }, { path: 'a', mode: 0o755, owner: 0 })],
    ],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a whiteout', [tarLayer(file('.wh.module.wasm'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a hard link', [plainLayer(entryOfKind('1'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a symbolic link', [plainLayer(entryOfKind('2'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a device', [plainLayer(entryOfKind('3'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a pipe', [plainLayer(entryOfKind('6'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with a long name of GNU', [plainLayer(entryOfKind('L'))]],
    ['SVC_IMAGE_LAYER_UNSAFE', 'with global headers', [plainLayer(entryOfKind('g'))]],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'with a layer that is cut off',
      [plainLayer(moduleTar.subarray(0, 700))],
    ],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'with gzip that is cut off',
      [{ ...gzipLayer(moduleTar), packed: gzipSync(moduleTar).subarray(0, -9) }],
    ],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'with zstd that is cut off',
      [{ ...zstdLayer(moduleTar), packed: zstdCompressSync(moduleTar).subarray(0, -3) }],
    ],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'with bytes behind gzip',
      [
        {
          ...gzipLayer(moduleTar),
          packed: Buffer.concat([gzipSync(moduleTar), Buffer.from('more')]),
        },
      ],
    ],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'whose gzip is a plain archive',
      [{ ...good, mediaType: `${LAYER}+gzip` }],
    ],
    [
      'SVC_IMAGE_LAYER_DAMAGED',
      'with a window of zstd beyond 8 MiB',
      [
        zstdLayer(tarArchive([file('a.wasm', randomBytes(20 * MIB))]), {
          params: { [constants.ZSTD_c_windowLog]: 25 },
        }),
      ],
    ],
    ['SVC_IMAGE_TOO_LARGE', 'with a bomb of gzip', [gzipLayer(tarArchive([file('zeros', bomb)]))]],
    ['SVC_IMAGE_TOO_LARGE', 'with a bomb of zstd', [zstdLayer(tarArchive([file('zeros', bomb)]))]],
    [
      'SVC_IMAGE_TOO_LARGE',
      'with a module that is too large',
      [gzipLayer(tarArchive([file('a.wasm', bomb.subarray(0, 65 * MIB))]))],
    ],
    [
      'SVC_IMAGE_TOO_LARGE',
      'whose layers together are too large',
      [good],
      { layerDescriptor: (one) => ({ ...one, size: 65 * MIB }) },
    ],
    ['SVC_IMAGE_TOO_LARGE', 'with too many layers', Array.from({ length: 33 }, () => good)],
  ])('with %s if it is one %s', async (code, _what, layers, image) => {
    const { code: found, message } = await failureOf(readImage(layers, image));
    expect({ code: found, message }).toEqual({
      code,
      // A message has no control character, whatever the image has.
      message: expect.stringMatching(/^\P{Cc}+\.$/u) as string,
    });
  });

  test('if any of its blobs has one other byte', async () => {
    const folder = writeLayout(temporaryFolder(), [gzipLayer(moduleTar)]);
    const blobs = join(folder, 'blobs', 'sha256');
    const names = readdirSync(blobs);
    expect(names).toHaveLength(3);
    for (const name of names) {
      const path = join(blobs, name);
      const bytes = readFileSync(path);
      const changed = Buffer.from(bytes);
      changed[bytes.length - 1]! ^= 1;
      writeFileSync(path, changed);
      expect((await failureOf(readFrom(folder))).code).toMatch(
        /^SVC_IMAGE_(?:DIGEST_MISMATCH|LAYER_DAMAGED)$/,
      );
      writeFileSync(path, bytes);
    }
    expect((await readFrom(folder)).path).toBe('module.wasm');
  });

  test('if a blob is missing', async () => {
    const folder = writeLayout(temporaryFolder(), [gzipLayer(moduleTar)]);
    const blobs = join(folder, 'blobs', 'sha256');
    const [largest] = readdirSync(blobs).toSorted(
      (one, other) => statSync(join(blobs, other)).size - statSync(join(blobs, one)).size,
    );
    rmSync(join(blobs, largest!));
    expect((await failureOf(readFrom(folder))).code).toBe('SVC_IMAGE_MISSING');
  });
});
