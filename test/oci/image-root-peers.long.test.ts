// Unpacking an image gives the files that umoci unpacks, and the Node of an unpacked image runs in a sandbox.
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf } from '../../oci/digest.ts';
import { unpackImage } from '../../oci/image-root.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { ROOT_LIMITS_DEFAULT } from '../../oci/root-limits.ts';
import { buildNodeImage } from '../support/node-image.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  type Entry,
  fileEntry,
  folderEntry,
  hardLinkEntry,
  layer,
  linkEntry,
  packedLayer,
} from './support/layer-entries.ts';
import { type TestLayer, writeLayout } from './support/test-image.ts';

const IMAGES = 40;
const MOUNTED = new Set(['proc', 'dev', 'tmp', 'run', 'svc', 'etc']);
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Whether a program runs; says so if it does not. */
function runs(program: string, ...words: readonly string[]): boolean {
  const isThere = spawnSync(program, words).status === 0;
  if (!isThere) console.log(`not tested: ${program} ${words.join(' ')} fails`);
  return isThere;
}

async function unpack(layout: string, folder: string): Promise<string> {
  const source = await openLayoutFolder(layout);
  const { signal } = new AbortController();
  await unpackImage(source, ARCHITECTURE, folder, ROOT_LIMITS_DEFAULT, signal);
  return join(folder, 'root');
}

/** Returns a layer whose names say their kinds, with whiteouts before everything else. */
function randomLayer(random: Random): TestLayer {
  const folder = () =>
    Array.from({ length: random.below(3) }, () => `d${random.below(3)}/`).join('');
  const removing = Array.from({ length: random.below(4) }, (): Entry => {
    const removed = random.pick(['d0', 'd1', 'f0', 'f1', 'l0']);
    return fileEntry(`${folder()}.wh.${random.chance(25) ? '.wh..opq' : removed}`);
  });
  const files: string[] = [];
  const adding = Array.from({ length: 3 + random.below(12) }, (): Entry => {
    const kind = random.below(5);
    const path = `${folder()}${'dfflf'[kind]}${random.below(3)}`;
    if (kind === 0) return folderEntry(path, random.pick([0o755, 0o700, 0o775]));
    if (kind === 3) return linkEntry(path, random.pick(['../f0', '/d0', 'missing']));
    const target = files[random.below(files.length + 1)];
    if (kind === 4 && target !== undefined && target !== path) {
      files.splice(0, files.length, ...files.filter((file) => file !== path));
      return hardLinkEntry(path, target);
    }
    files.push(path);
    return fileEntry(path, String(random.below(1000)), random.pick([0o644, 0o755, 0o600]));
  });
  return (random.chance(50) ? packedLayer : layer)(...removing, ...adding);
}

/** Returns a line for each path, without those at which a sandbox mounts something. */
function listing(root: string): readonly string[] {
  const first = new Map<number, string>();
  return (readdirSync(root, { recursive: true }) as string[])
    .filter((path) => !MOUNTED.has(path.split('/')[0]!))
    .toSorted()
    .map((path) => {
      const stat = lstatSync(join(root, path));
      if (stat.isSymbolicLink()) return `${path} -> ${readlinkSync(join(root, path))}`;
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) return `${path}/ ${mode}`;
      if (!first.has(stat.ino)) first.set(stat.ino, path);
      return `${path} ${mode} = ${first.get(stat.ino)} ${readFileSync(join(root, path), 'utf8')}`;
    });
}

function addTag(layout: string): void {
  const file = join(layout, 'index.json');
  const index = JSON.parse(readFileSync(file, 'utf8')) as { manifests: object[] };
  const annotations = { 'org.opencontainers.image.ref.name': 'latest' };
  const manifests = index.manifests.map((one) => ({ ...one, annotations }));
  writeFileSync(file, JSON.stringify({ ...index, manifests }));
}

test.skipIf(!runs('umoci', '--version'))(
  `${IMAGES} random images are unpacked as umoci does`,
  async () => {
    for (let seed = 1; seed <= IMAGES; seed++) {
      const random = new Random(seed);
      const layers = Array.from({ length: 1 + random.below(4) }, () => randomLayer(random));
      const layout = writeLayout(temporaryFolder(), layers, {
        run: { Cmd: ['a'] },
        config: { os: 'linux', architecture: ARCHITECTURE, created: '2020-01-01T00:00:00Z' },
      });
      addTag(layout);
      const bundle = join(temporaryFolder(), 'bundle');
      const words = ['unpack', '--rootless', '--image', `${layout}:latest`, bundle];
      execFileSync('umoci', words, { stdio: 'ignore' });
      const root = await unpack(layout, join(temporaryFolder(), 'image'));
      expect({ seed, files: listing(root) }).toEqual({
        seed,
        files: listing(join(bundle, 'rootfs')),
      });
    }
  },
);

test.skipIf(!runs('bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'))(
  'the Node of an unpacked image runs in a sandbox that has its root alone, read-only',
  async () => {
    const layout = temporaryFolder();
    const script =
      'try { require("fs").writeFileSync("/x", "") } catch (e) { console.log(e.code) }';
    const digest = buildNodeImage(layout, { '/app/main.js': script });
    expect(digest).toBe((await openLayoutFolder(layout)).root.digest);
    const root = await unpack(layout, join(temporaryFolder(), 'image'));
    expect(digestOf(readFileSync(join(root, 'usr/local/bin/node')))).toBe(
      digestOf(readFileSync(process.execPath)),
    );
    const words = ['--unshare-all', '--ro-bind', root, '/', '--proc', '/proc', '--dev', '/dev'];
    const command = ['/usr/local/bin/node', '/app/main.js'];
    expect(execFileSync('bwrap', [...words, ...command], { encoding: 'utf8' })).toBe('EROFS\n');
  },
);
