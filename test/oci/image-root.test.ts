// Unpacking an image for a sandbox: what is written, and that nothing a hostile image has leads out of the folder.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readUnpacked, unpackImage } from '../../oci/image-root.ts';
import type { ImageSource } from '../../oci/image-source.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { readModule } from '../../oci/module-reader.ts';
import { removeFolder } from '../../oci/removed-folder.ts';
import { ROOT_LIMITS_DEFAULT, type RootLimits } from '../../oci/root-limits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  archive,
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
import {
  failureOf,
  LAYER,
  type TestImage,
  type TestLayer,
  TINY_MODULE,
  writeLayout,
} from './support/test-image.ts';

interface Unpacking {
  readonly image?: TestImage;
  readonly limits?: Partial<RootLimits>;
  readonly signal?: AbortSignal;
}

/** The folder for what is unpacked, beside a folder that no image may reach. */
function places() {
  const top = temporaryFolder();
  const outside = join(top, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret', { mode: 0o600 });
  return { top, outside, folder: join(top, 'images', 'one') };
}

type Places = ReturnType<typeof places>;

async function unpack(
  layers: readonly TestLayer[],
  { folder }: Places,
  { image = {}, limits = {}, signal = new AbortController().signal }: Unpacking = {},
) {
  const layout = writeLayout(temporaryFolder(), layers, { run: { Cmd: ['/bin/serve'] }, ...image });
  const source: ImageSource = await openLayoutFolder(layout);
  return unpackImage(source, 'amd64', folder, { ...ROOT_LIMITS_DEFAULT, ...limits }, signal);
}

/** Unpacks, and returns a function that names a path in the root. */
async function rootOf(...layers: readonly TestLayer[]): Promise<(path: string) => string> {
  const at = places();
  await unpack(layers, at);
  return (path) => join(at.folder, 'root', path);
}

/** Expects that the image is refused with the code, and that nothing of it is left, inside or outside. */
async function expectRefused(
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

describe('an image is unpacked', () => {
  const entries = [folderEntry('bin'), fileEntry('bin/serve', 'run', 0o755)];
  const tar = archive(...entries);
  test.each<[string, TestLayer]>([
    ['plain', layer(...entries)],
    ['gzip', packedLayer(...entries)],
    ['zstd', { mediaType: `${LAYER}+zstd`, packed: zstdCompressSync(tar), unpacked: tar }],
  ])('from a layer that is %s', async (_kind, one) => {
    const root = await rootOf(one);
    expect(readFileSync(root('bin/serve'), 'utf8')).toBe('run');
    expect(statSync(root('bin/serve')).mode & 0o7777).toBe(0o755);
  });

  test('with the digest that reading a module returns, and with how it is run', async () => {
    const at = places();
    const layers = [layer(entry('module.wasm', { kind: '0', content: TINY_MODULE }))];
    const image: TestImage = {
      config: { os: 'linux', architecture: 'amd64' },
      run: {
        Entrypoint: ['/bin/serve'],
        Cmd: ['--port', '9000'],
        Env: ['A=1=2', 'EMPTY=', '__proto__=x'],
        WorkingDir: 'srv/app',
      },
    };
    const unpacked = await unpack(layers, at, { image });
    const source = await openLayoutFolder(writeLayout(temporaryFolder(), layers, image));
    expect(unpacked.image).toBe((await readModule(source, 'amd64')).image);
    expect(unpacked.config).toMatchObject({
      entrypoint: ['/bin/serve'],
      cmd: ['--port', '9000'],
      workingDir: '/srv/app',
      user: { uid: 0, gid: 0 },
    });
    expect(Object.entries(unpacked.config.env)).toEqual([
      ['A', '1=2'],
      ['EMPTY', ''],
      ['__proto__', 'x'],
    ]);
    expect(statSync(join(at.folder, 'root/srv/app')).isDirectory()).toBe(true);
    expect(await readUnpacked(at.folder)).toEqual(unpacked);
  });

  test('with permissions that its user can read and remove, without setuid and sticky bits', async () => {
    const root = await rootOf(
      layer(
        folderEntry('locked', 0o055),
        fileEntry('locked/su', '', 0o6755),
        fileEntry('shadow', '', 0),
        folderEntry('shared', 0o1777),
      ),
    );
    const modes = ['locked', 'locked/su', 'shadow', 'shared'].map(
      (path) => statSync(root(path)).mode & 0o7777,
    );
    expect(modes).toEqual([0o755, 0o755, 0o400, 0o777]);
  });

  test('with long names of POSIX and of GNU, for paths and links, and with times', async () => {
    const [path, target] = [`${'d'.repeat(120)}/${'f'.repeat(200)}`, 't'.repeat(180)];
    const root = await rootOf(
      layer(
        extendedEntry({ comment: 'all' }, 'g'),
        extendedEntry({ path, mtime: '1000000000.5' }),
        fileEntry('short', 'pax'),
        extendedEntry({ linkpath: target }),
        linkEntry('one', 'short'),
        longNameEntry('K', `${target}2`),
        longNameEntry('L', `${path}2`),
        linkEntry('two', 'short'),
      ),
    );
    expect(readFileSync(root(path), 'utf8')).toBe('pax');
    expect(statSync(root(path)).mtimeMs).toBe(1_000_000_000_500);
    expect(readlinkSync(root('one'))).toBe(target);
    expect(readlinkSync(root(`${path}2`))).toBe(`${target}2`);
  });

  test('with paths from the root in every notation, and folders that no entry has', async () => {
    const root = await rootOf(
      layer(folderEntry('.'), fileEntry('./a/b', '1'), fileEntry('/c//d', '2'), folderEntry('/')),
    );
    expect(readFileSync(root('a/b'), 'utf8')).toBe('1');
    expect(readFileSync(root('c/d'), 'utf8')).toBe('2');
  });

  test('with the files of a later layer in place of those of a former one', async () => {
    const root = await rootOf(
      layer(
        fileEntry('file', 'old'),
        hardLinkEntry('twin', 'file'),
        folderEntry('folder'),
        fileEntry('folder/x'),
        linkEntry('link', 'file'),
        fileEntry('becomes-folder'),
      ),
      layer(
        fileEntry('file', 'new'),
        fileEntry('folder', 'now a file'),
        fileEntry('link', 'now a file'),
        folderEntry('becomes-folder'),
        fileEntry('becomes-folder/x', 'in'),
      ),
    );
    expect(readFileSync(root('file'), 'utf8')).toBe('new');
    expect(readFileSync(root('twin'), 'utf8')).toBe('old');
    expect(readFileSync(root('folder'), 'utf8')).toBe('now a file');
    expect(readFileSync(root('link'), 'utf8')).toBe('now a file');
    expect(readFileSync(root('becomes-folder/x'), 'utf8')).toBe('in');
  });

  test('with hard links, also to a file of a former layer', async () => {
    const root = await rootOf(
      layer(folderEntry('a'), fileEntry('a/x', 'x')),
      layer(hardLinkEntry('b/y', './a/x')),
    );
    expect(readFileSync(root('b/y'), 'utf8')).toBe('x');
    expect(statSync(root('b/y')).ino).toBe(statSync(root('a/x')).ino);
  });

  test('with symbolic links as they are written, wherever they lead', async () => {
    const targets = ['/etc/passwd', '../../..', 'missing'];
    const root = await rootOf(layer(...targets.map((target, at) => linkEntry(`l${at}`, target))));
    expect(targets.map((_, at) => readlinkSync(root(`l${at}`)))).toEqual(targets);
  });

  test('with mount points for a sandbox, whatever the image has in their place', async () => {
    const root = await rootOf(
      layer(
        linkEntry('proc', '/outside'),
        fileEntry('dev', 'file'),
        linkEntry('etc', '../../../outside'),
        linkEntry('svc', '/'),
      ),
    );
    for (const path of ['proc', 'dev', 'tmp', 'svc', 'etc'])
      expect(lstatSync(root(path)).isDirectory(), path).toBe(true);
    for (const path of ['etc/hosts', 'etc/resolv.conf']) {
      expect(lstatSync(root(path)).isFile(), path).toBe(true);
      expect(readFileSync(root(path), 'utf8')).toBe('');
    }
  });

  test('with empty files at mount points that are links or folders', async () => {
    const at = places();
    await unpack(
      [
        layer(
          linkEntry('etc/resolv.conf', join(at.outside, 'secret')),
          fileEntry('etc/hosts/x', 'in a folder'),
        ),
      ],
      at,
    );
    for (const path of ['etc/hosts', 'etc/resolv.conf'])
      expect(lstatSync(join(at.folder, 'root', path)).isFile()).toBe(true);
    expect(readFileSync(join(at.outside, 'secret'), 'utf8')).toBe('secret');
  });
});

describe('a whiteout', () => {
  const lower = layer(
    fileEntry('a/one', '1'),
    fileEntry('a/deep/two', '2'),
    linkEntry('a/link', '/'),
    fileEntry('b', 'b'),
  );

  test('removes a file, a link or a folder of a lower layer', async () => {
    const root = await rootOf(
      lower,
      layer(fileEntry('.wh.b'), fileEntry('a/.wh.link'), fileEntry('a/.wh.deep')),
    );
    expect(readdirSync(root('a'))).toEqual(['one']);
    expect(existsSync(root('b'))).toBe(false);
  });

  test('of what is not there removes nothing, and makes no folder', async () => {
    const root = await rootOf(lower, layer(fileEntry('none/.wh.x'), fileEntry('a/.wh.none')));
    expect(existsSync(root('none'))).toBe(false);
    expect(readdirSync(root('a'))).toEqual(['deep', 'link', 'one']);
  });

  test.each(['before', 'after'])('keeps what its own layer has put there %s it', async (order) => {
    const added = [fileEntry('a/deep/new', 'n'), fileEntry('b', 'new')];
    const removed = [fileEntry('.wh.a'), fileEntry('.wh.b')];
    const entries = order === 'before' ? [...added, ...removed] : [...removed, ...added];
    const root = await rootOf(lower, layer(...entries));
    expect(readdirSync(root('a'))).toEqual(['deep']);
    expect(readdirSync(root('a/deep'))).toEqual(['new']);
    expect(readFileSync(root('b'), 'utf8')).toBe('new');
  });

  test.each(['before', 'after'])(
    'of a whole folder removes what lower layers have in it, and keeps what its own layer has put there %s it',
    async (order) => {
      const added = [folderEntry('a'), fileEntry('a/deep/new', 'n')];
      const opaque = fileEntry('a/.wh..wh..opq');
      const root = await rootOf(
        lower,
        layer(...(order === 'before' ? [...added, opaque] : [opaque, ...added])),
      );
      expect(readdirSync(root('a'))).toEqual(['deep']);
      expect(readdirSync(root('a/deep'))).toEqual(['new']);
    },
  );

  test('of the root removes all of the lower layers', async () => {
    const root = await rootOf(lower, layer(fileEntry('.wh..wh..opq'), fileEntry('c')));
    expect(readdirSync(root(''))).toEqual(['c', 'dev', 'etc', 'proc', 'svc', 'tmp']);
  });

  test.each(['.wh.', '.wh..', '.wh...', '.wh..wh.x', 'a/.wh...', '.wh.a/x'])(
    'named %s is refused',
    async (path) => {
      await expectRefused([lower, layer(fileEntry(path))], 'SVC_IMAGE_LAYER_UNSAFE');
    },
  );

  test('that is a link is refused', async () => {
    await expectRefused([lower, layer(linkEntry('.wh.b', '/'))], 'SVC_IMAGE_LAYER_UNSAFE');
  });
});

describe('nothing outside is reached, because an image is refused', () => {
  const outside = (at: Places) => at.outside;
  test.each<[string, (at: Places) => readonly TestLayer[]]>([
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
      (at) => [layer(linkEntry('a', outside(at)), fileEntry('a/new', 'x'))],
    ],
    [
      'a file below a symbolic link of a former layer',
      (at) => [layer(linkEntry('a', outside(at))), layer(fileEntry('a/new', 'x'))],
    ],
    [
      'a file below a relative symbolic link, through a folder',
      () => [layer(linkEntry('b/a', '../../../../outside'), fileEntry('b/a/c/new', 'x'))],
    ],
    [
      'a folder below a symbolic link',
      (at) => [layer(linkEntry('a', outside(at)), folderEntry('a/new'))],
    ],
    [
      'a symbolic link below a symbolic link',
      (at) => [layer(linkEntry('a', outside(at)), linkEntry('a/new', '/'))],
    ],
    [
      'a folder replaced by a symbolic link',
      (at) => [layer(folderEntry('a')), layer(linkEntry('a', outside(at)), fileEntry('a/new'))],
    ],
    [
      'a hard link to an absolute path',
      (at) => [layer(hardLinkEntry('a', join(outside(at), 'secret')))],
    ],
    ['a hard link that climbs', () => [layer(hardLinkEntry('a', '../../../outside/secret'))]],
    [
      'a hard link to a symbolic link',
      (at) => [layer(linkEntry('a', join(outside(at), 'secret')), hardLinkEntry('b', 'a'))],
    ],
    [
      'a hard link through a symbolic link',
      (at) => [layer(linkEntry('a', outside(at)), hardLinkEntry('b', 'a/secret'))],
    ],
    [
      'a hard link below a symbolic link',
      (at) => [layer(fileEntry('f'), linkEntry('a', outside(at)), hardLinkEntry('a/new', 'f'))],
    ],
    ['a hard link to a folder', () => [layer(folderEntry('a'), hardLinkEntry('b', 'a'))]],
    ['a hard link to itself', () => [layer(fileEntry('a'), hardLinkEntry('a', 'a'))]],
    [
      'a hard link to a file that it replaces the folder of',
      () => [layer(fileEntry('a/x'), hardLinkEntry('a', 'a/x'))],
    ],
    [
      'a whiteout through a symbolic link',
      (at) => [layer(linkEntry('a', outside(at))), layer(fileEntry('a/.wh.secret'))],
    ],
    [
      'a whiteout of a whole folder through a symbolic link',
      (at) => [layer(linkEntry('a', outside(at))), layer(fileEntry('a/.wh..wh..opq'))],
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
    const at = places();
    await expectRefused(layersAt(at), 'SVC_IMAGE_LAYER_UNSAFE', {}, at);
  });

  test('a symbolic link to a folder outside is replaced by a folder, which leads nowhere', async () => {
    const at = places();
    await unpack(
      [layer(linkEntry('a', at.outside)), layer(folderEntry('a', 0o700), fileEntry('a/new'))],
      at,
    );
    expect(readdirSync(at.outside)).toEqual(['secret']);
    expect(readdirSync(join(at.folder, 'root/a'))).toEqual(['new']);
  });

  test('a symbolic link is removed as a link by a whiteout, and by a file', async () => {
    const at = places();
    const links = [linkEntry('a', at.outside), linkEntry('b', join(at.outside, 'secret'))];
    await unpack([layer(...links), layer(fileEntry('.wh.a'), fileEntry('b', 'new'))], at);
    expect(readFileSync(join(at.outside, 'secret'), 'utf8')).toBe('secret');
    expect(readFileSync(join(at.folder, 'root/b'), 'utf8')).toBe('new');
  });
});

describe('an image is refused', () => {
  const files = (count: number) => Array.from({ length: count }, (_, at) => fileEntry(`f${at}`));
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
    await expectRefused(layers, code, options);
  });

  test('and what was written is removed when its unpacking is cancelled', async () => {
    const cancel = new AbortController();
    const at = places();
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

describe('the user of an image', () => {
  const users = layer(
    fileEntry('etc/passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1001::/home:/bin/sh\n'),
    fileEntry('etc/group', 'root:x:0:\nstaff:x:50:node\n'),
  );
  test.each([
    ['', 0, 0],
    ['0', 0, 0],
    ['node', 1000, 1001],
    ['1000', 1000, 1001],
    ['4242', 4242, 0],
    ['node:staff', 1000, 50],
    ['4242:77', 4242, 77],
  ])('%o has the numbers %i and %i', async (user, uid, gid) => {
    const image = { run: { Cmd: ['a'], User: user } };
    expect((await unpack([users], places(), { image })).config.user).toEqual({ uid, gid });
  });

  test.each(['nobody', 'node:nobody', '99999999999', '-1', 'a:b:c'])(
    'is refused if it is %s',
    async (user) => {
      const image = { run: { Cmd: ['a'], User: user } };
      await expectRefused([users], 'SVC_IMAGE_NOT_RUNNABLE', { image });
    },
  );

  test('is not looked up in a file that a symbolic link leads to', async () => {
    const at = places();
    writeFileSync(join(at.outside, 'secret'), 'secret');
    const image = { run: { Cmd: ['a'], User: 'root' } };
    const link = layer(linkEntry('etc/passwd', '/etc/passwd'));
    await expectRefused([link], 'SVC_IMAGE_NOT_RUNNABLE', { image }, at);
  });
});

test('a folder is removed with folders that may not be changed, and links in it are not followed', async () => {
  const at = places();
  await unpack([layer(fileEntry('a/b/c', 'x'), linkEntry('a/out', at.outside))], at);
  for (const path of ['root/a/b', 'root/a', 'root']) chmodSync(join(at.folder, path), 0o500);
  await removeFolder(at.folder);
  expect(existsSync(at.folder)).toBe(false);
  expect(readdirSync(at.outside)).toEqual(['secret']);
});
