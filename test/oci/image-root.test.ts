// Unpacking an image for a sandbox: what is written, and what whiteouts remove.
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readUnpacked } from '../../oci/image-root.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { readModule } from '../../oci/module-reader.ts';
import { removeFolder } from '../../oci/removed-folder.ts';
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
  LAYER,
  plainLayer,
  type TestImage,
  type TestLayer,
  TINY_MODULE,
  writeLayout,
} from './support/test-image.ts';
import { cleanRefusal, folders, refusalOf, rootOf, unpack } from './support/unpacking.ts';

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

  test.each([
    ['no padding and no end, as umoci leaves it', tar.subarray(0, 512 + 512 + 3)],
    ['no end', tar.subarray(0, -1024)],
  ])('from a layer that has %s', async (_what, bytes) => {
    const root = await rootOf(plainLayer(bytes));
    expect(readFileSync(root('bin/serve'), 'utf8')).toBe('run');
  });

  test('with the digest that reading a module returns, and with how it is run', async () => {
    const at = folders();
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
        linkEntry('run', '/'),
      ),
    );
    for (const path of ['proc', 'dev', 'tmp', 'run', 'etc'])
      expect(lstatSync(root(path)).isDirectory()).toBe(true);
    for (const path of ['etc/hosts', 'etc/resolv.conf']) {
      expect(lstatSync(root(path)).isFile()).toBe(true);
      expect(readFileSync(root(path), 'utf8')).toBe('');
    }
  });

  test('with empty files at mount points that are links or folders', async () => {
    const at = folders();
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

  test('keeps a folder of its own layer that is empty', async () => {
    const root = await rootOf(lower, layer(folderEntry('a'), fileEntry('.wh.a')));
    expect(readdirSync(root('a'))).toEqual([]);
  });

  test('of the root removes all of the lower layers', async () => {
    const root = await rootOf(lower, layer(fileEntry('.wh..wh..opq'), fileEntry('c')));
    expect(readdirSync(root(''))).toEqual(['c', 'dev', 'etc', 'proc', 'run', 'tmp']);
  });

  test.each(['.wh.', '.wh..', '.wh...', '.wh..wh.x', 'a/.wh...', '.wh.a/x'])(
    'named %s is refused',
    async (path) => {
      expect(await refusalOf([lower, layer(fileEntry(path))])).toEqual(
        cleanRefusal('SVC_IMAGE_LAYER_UNSAFE'),
      );
    },
  );

  test('that is a link is refused', async () => {
    expect(await refusalOf([lower, layer(linkEntry('.wh.b', '/'))])).toEqual(
      cleanRefusal('SVC_IMAGE_LAYER_UNSAFE'),
    );
  });
});

test('a folder is removed with folders that may not be changed, and links in it are not followed', async () => {
  const at = folders();
  await unpack([layer(fileEntry('a/b/c', 'x'), linkEntry('a/out', at.outside))], at);
  for (const path of ['root/a/b', 'root/a', 'root']) chmodSync(join(at.folder, path), 0o500);
  await removeFolder(at.folder);
  expect(existsSync(at.folder)).toBe(false);
  expect(readdirSync(at.outside)).toEqual(['secret']);
});
