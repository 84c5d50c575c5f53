// The images with Node in them that other tests run: each is a layout that others read, and its Node needs nothing of the machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildNodeImage, NODE_IN_IMAGE } from '../support/node-image.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const reason =
  process.platform !== 'linux'
    ? 'ldd and bubblewrap are those of Linux'
    : spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status !== 0
      ? 'bubblewrap is not installed, or may make no namespaces'
      : undefined;
if (reason !== undefined) console.log(`The Node of an image is not started: ${reason}.`);

test.skipIf(reason !== undefined)(
  'the Node of an image runs with the files of its layers alone',
  () => {
    const [layout, root] = [temporaryFolder(), join(temporaryFolder(), 'root')];
    const digest = buildNodeImage(layout, { '/app/hello.js': 'console.log("hello")' });
    const blob = (name: string) => join(layout, 'blobs', name.replace(':', '/'));
    const { layers } = JSON.parse(readFileSync(blob(digest), 'utf8')) as {
      layers: { digest: string }[];
    };
    mkdirSync(root);
    for (const layer of layers) execFileSync('tar', ['-xf', blob(layer.digest), '-C', root]);
    const output = execFileSync(
      'bwrap',
      ['--unshare-all', '--ro-bind', root, '/', NODE_IN_IMAGE, '/app/hello.js'],
      { encoding: 'utf8' },
    );
    expect(output).toBe('hello\n');
  },
);
