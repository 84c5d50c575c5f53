// Images that are not unpacked: nothing that a hostile one has leads out of the folder, and each is refused with its code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { unpackImage } from '../../oci/image-root.ts';
import type { ImageSource } from '../../oci/image-source.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { ROOT_LIMITS_DEFAULT } from '../../oci/root-limits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  archive,
  type Entry,
  entry,
  extendedEntry,
  fileEntry,
  folderEntry,
  hardLinkEntry,
  layer,
  linkEntry,
  longNameEntry,
  packedLayer,
} from './support/layer-entries.ts';
import { LAYER, plainLayer, type TestLayer, writeLayout } from './support/test-image.ts';
import {
  cleanRefusal,
  type TestFolders,
  folders,
  refusalOf,
  type Unpacking,
  unpack,
} from './support/unpacking.ts';

function files(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, at) => fileEntry(`f${at}`));
}

describe('nothing outside is reached, because an image is refused', () => {
  test.each<[string, (at: TestFolders) => readonly TestLayer[]]>([
    ['a path that climbs', () => [layer(fileEntry('../../../outside/new', 'x'))]],
    ['a path that climbs from below', () => [layer(fileEntry('a/../../../outside/new', 'x'))]],
    ['a folder that climbs', () => [layer(folderEntry('../../../outside/new'))]],
    [
      'a path that climbs in an extended header',
      () => [layer(extendedEntry({ path: '../../../outside/new' }), fileEntry('a'))],
    ],
    [
      'a path that climbs in a long name of GNU',
      () => [layer(longNameEntry('L', '../../../outside/new'), fileEntry('a'))],
    ],
    [
      'a file below a symbolic link',
      (at) => [layer(linkEntry('a', at.outside), fileEntry('a/new', 'x'))],
    ],
    [
      'a file below a symbolic link of a former layer',
      (at) => [layer(linkEntry('a', at.outside)), layer(fileEntry('a/new', 'x'))],
    ],
    [
      'a file below a relative symbolic link, through a folder',
      () => [layer(linkEntry('b/a', '../../../../outside'), fileEntry('b/a/c/new', 'x'))],
    ],
    [
      'a folder below a symbolic link',
      (at) => [layer(linkEntry('a', at.outside), folderEntry('a/new'))],
    ],
    [
      'a symbolic link below a symbolic link',
      (at) => [layer(linkEntry('a', at.outside), linkEntry('a/new', '/'))],
    ],
    [
      'a folder replaced by a symbolic link',
      (at) => [layer(folderEntry('a')), layer(linkEntry('a', at.outside), fileEntry('a/new'))],
    ],
    [
      'a hard link to an absolute path',
      (at) => [layer(hardLinkEntry('a', join(at.outside, 'secret')))],
    ],
    ['a hard link that climbs', () => [layer(hardLinkEntry('a', '../../../outside/secret'))]],
    [
      'a hard link to a symbolic link',
      (at) => [layer(linkEntry('a', join(at.outside, 'secret')), hardLinkEntry('b', 'a'))],
    ],
    [
      'a hard link through a symbolic link',
      (at) => [layer(linkEntry('a', at.outside), hardLinkEntry('b', 'a/secret'))],
    ],
    [
      'a hard link below a symbolic link',
      (at) => [layer(fileEntry('f'), linkEntry('a', at.outside), hardLinkEntry('a/new', 'f'))],
    ],
    ['a hard link to a folder', () => [layer(folderEntry('a'), hardLinkEntry('b', 'a'))]],
    ['a hard link to itself', () => [layer(fileEntry('a'), hardLinkEntry('a', 'a'))]],
    [
      'a hard link to a file that it replaces the folder of',
      () => [layer(fileEntry('a/x'), hardLinkEntry('a', 'a/x'))],
    ],
    [
      'a whiteout through a symbolic link',
      (at) => [layer(linkEntry('a', at.outside)), layer(fileEntry('a/.wh.secret'))],
    ],
    [
      'a whiteout of a whole folder through a symbolic link',
      (at) => [layer(linkEntry('a', at.outside)), layer(fileEntry('a/.wh..wh..opq'))],
    ],
    ['a file below a file', () => [layer(fileEntry('a'), fileEntry('a/b'))]],
    ['a root that is a symbolic link', () => [layer(linkEntry('.', '/'))]],
    ['a file named as a folder', () => [layer(fileEntry('a/'))]],
    ['a character device', () => [layer(entry('a', { kind: '3' }))]],
    ['a block device', () => [layer(entry('a', { kind: '4' }))]],
    ['a pipe', () => [layer(entry('a', { kind: '6' }))]],
    ['a file with holes of GNU', () => [layer(entry('a', { kind: 'S' }))]],
    [
      'a link with content',
      () => [layer(entry('a', { kind: '2', target: 'b', content: Buffer.from('x') }))],
    ],
    ['a link to nothing', () => [layer(linkEntry('a', ''))]],
    ['a zero byte in a path', () => [layer(extendedEntry({ path: 'a\0/../x' }), fileEntry('a'))]],
    ['a name of 256 bytes', () => [layer(longNameEntry('L', 'n'.repeat(256)), fileEntry('a'))]],
  ])('with %s', async (_what, layersAt) => {
    const at = folders();
    expect(await refusalOf(layersAt(at), {}, at)).toEqual(cleanRefusal('SVC_IMAGE_LAYER_UNSAFE'));
  });

  test('a symbolic link to a folder outside is replaced by a folder, which leads nowhere', async () => {
    const at = folders();
    await unpack(
      [layer(linkEntry('a', at.outside)), layer(folderEntry('a', 0o700), fileEntry('a/new'))],
      at,
    );
    expect(readdirSync(at.outside)).toEqual(['secret']);
    expect(readdirSync(join(at.folder, 'root/a'))).toEqual(['new']);
  });

  test('a symbolic link is removed as a link by a whiteout, and by a file', async () => {
    const at = folders();
    const links = [linkEntry('a', at.outside), linkEntry('b', join(at.outside, 'secret'))];
    await unpack([layer(...links), layer(fileEntry('.wh.a'), fileEntry('b', 'new'))], at);
    expect(readFileSync(join(at.outside, 'secret'), 'utf8')).toBe('secret');
    expect(readFileSync(join(at.folder, 'root/b'), 'utf8')).toBe('new');
  });
});

describe('an image is refused', () => {
  test.each<[string, readonly TestLayer[], string, Unpacking & { reason: string }]>([
    [
      'too many entries over its layers',
      [layer(...files(6)), layer(...files(6))],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { entriesMax: 10 }, reason: '10 entries' },
    ],
    [
      'too many folders that no entry has',
      [layer(fileEntry('a/b/c/d/e/f/g'), fileEntry('h/i/j/k/l/m/n'))],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { entriesMax: 10 }, reason: '10 entries' },
    ],
    [
      'a path that is too long',
      [layer(extendedEntry({ path: 'a/'.repeat(200) }), folderEntry('a'))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { limits: { pathBytesMax: 300 }, reason: '300 bytes' },
    ],
    [
      'a path that is too deep',
      [layer(extendedEntry({ path: 'a/'.repeat(129) }), folderEntry('a'))],
      'SVC_IMAGE_LAYER_UNSAFE',
      { reason: '128 folders' },
    ],
    [
      'a long extended header',
      [layer(extendedEntry({ comment: 'x'.repeat(5000) }), fileEntry('a'))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { limits: { extendedHeaderBytesMax: 4096 }, reason: '4096 bytes' },
    ],
    [
      'a long name of GNU that is too long',
      [layer(longNameEntry('L', 'x'.repeat(5000)), fileEntry('a'))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { limits: { extendedHeaderBytesMax: 4096 }, reason: '4096 bytes' },
    ],
    [
      'a global header with a path',
      [layer(extendedEntry({ path: 'x' }, 'g'), fileEntry('a'))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { reason: 'one name' },
    ],
    [
      'a file with holes of POSIX',
      [layer(extendedEntry({ 'GNU.sparse.major': '1' }), fileEntry('a'))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { reason: 'holes' },
    ],
    [
      'a bomb of gzip',
      [packedLayer(fileEntry('zeros', '\0'.repeat(3_000_000)))],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { layerUnpackedBytesMax: 1_000_000 }, reason: '1000000 bytes' },
    ],
    [
      'layers that are too large together',
      [
        packedLayer(fileEntry('a', '\0'.repeat(600_000))),
        packedLayer(fileEntry('b', '\0'.repeat(600_000))),
      ],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { unpackedBytesMax: 1_000_000 }, reason: '1000000 bytes' },
    ],
    [
      'a stored layer that is too large',
      [layer(fileEntry('a', 'x'.repeat(5000)))],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { layerPackedBytesMax: 4096 }, reason: '4096' },
    ],
    [
      'too many layers',
      [layer(), layer(fileEntry('a'))],
      'SVC_IMAGE_TOO_LARGE',
      { limits: { layersMax: 1 }, reason: 'at most 1' },
    ],
    [
      'a layer that is cut off',
      [
        {
          mediaType: `${LAYER}+gzip`,
          packed: gzipSync(archive(fileEntry('a', 'text'))).subarray(0, -12),
          unpacked: archive(fileEntry('a', 'text')),
        },
      ],
      'SVC_IMAGE_LAYER_DAMAGED',
      { reason: '' },
    ],
    [
      'a layer that ends in the content of an entry',
      [plainLayer(archive(fileEntry('a', 'text')).subarray(0, 514))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { reason: 'is cut off' },
    ],
    [
      'a layer that ends in the header of an entry',
      [plainLayer(archive(fileEntry('a', 'text'), fileEntry('b')).subarray(0, 1100))],
      'SVC_IMAGE_LAYER_DAMAGED',
      { reason: 'is cut off' },
    ],
    [
      'another digest of a decompressed layer',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_DIGEST_MISMATCH',
      { image: { diffIds: [`sha256:${'0'.repeat(64)}`] }, reason: 'digest' },
    ],
    [
      'no command',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_NOT_RUNNABLE',
      { image: { run: { Entrypoint: null, Cmd: [] } }, reason: 'Add ENTRYPOINT or CMD' },
    ],
    [
      'a command that is too long',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_NOT_RUNNABLE',
      {
        image: { run: { Cmd: ['x'.repeat(130_000), 'y'.repeat(130_000), 'z'.repeat(3000)] } },
        reason: 'may have 262144',
      },
    ],
    [
      'another architecture',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_NOT_RUNNABLE',
      { image: { config: { architecture: 'arm64', os: 'linux' } }, reason: 'linux/amd64' },
    ],
    [
      'a command that is a text',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_INVALID',
      { image: { run: { Cmd: '/bin/sh' } }, reason: "'Cmd'" },
    ],
    [
      'a variable without a name',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_INVALID',
      { image: { run: { Cmd: ['a'], Env: ['=x'] } }, reason: "'Env'" },
    ],
    [
      'a working directory with a long name',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_INVALID',
      { image: { run: { Cmd: ['a'], WorkingDir: 'w'.repeat(300) } }, reason: "'WorkingDir'" },
    ],
    [
      'a user that it does not have',
      [layer(fileEntry('a'))],
      'SVC_IMAGE_NOT_RUNNABLE',
      { image: { run: { Cmd: ['a'], User: 'node' } }, reason: '/etc/passwd' },
    ],
  ])('with %s', async (_what, layers, code, options) => {
    expect(await refusalOf(layers, options)).toEqual(cleanRefusal(code, options.reason));
  });

  test('and what was written is removed when its unpacking is cancelled', async () => {
    const cancel = new AbortController();
    const at = folders();
    const layout = writeLayout(temporaryFolder(), [layer(fileEntry('a', 'x'.repeat(300_000)))], {
      run: { Cmd: ['a'] },
    });
    const source = await openLayoutFolder(layout);
    const cancelling: ImageSource = {
      ...source,
      async *open(descriptor, kind) {
        for await (const chunk of source.open(descriptor, kind)) {
          yield chunk;
          if (descriptor.size > 100_000) cancel.abort(new Error('cancelled'));
        }
      },
    };
    const unpacking = unpackImage(
      cancelling,
      'amd64',
      at.folder,
      ROOT_LIMITS_DEFAULT,
      cancel.signal,
    );
    await expect(unpacking).rejects.toThrow('cancelled');
    expect(readdirSync(join(at.top, 'images'))).toEqual([]);
  });
});
