// `svc build` of sources that compile: its output and the files that it writes. An optimised build in a separate
// process takes seconds.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const counter = readFileSync(join(root, 'fixtures/counter/assembly/index.ts'), 'utf8');

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('svc build', () => {
  test('--json prints what was built, and nothing else', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '--json'], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(built.stdout)).toEqual({
      file: 'counter.wasm',
      bytes: statSync(join(folder, 'counter.wasm')).size,
      components: ['counter'],
      routes: [
        { method: 'GET', path: '/counters/{id}' },
        { method: 'POST', path: '/counters/{id}' },
      ],
      warnings: [],
    });
  });

  test('in a folder outside of any checkout, with an empty home, uses the SDK that svc brings', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const home = folderWith({});
    const env = { HOME: home, USERPROFILE: home, NODE_PATH: undefined };
    const built = await runSvc(['build', 'counter.ts'], { cwd: folder, env });
    expect(built.code).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual([
      'counter.ts',
      'counter.wasm',
      'counter.wasm.map',
    ]);
    expect(readdirSync(home)).toEqual([]);
  });

  test('writes the component to the file that -o names, and nothing to stdout', async () => {
    const folder = folderWith({ 'my counter.ts': counter });
    mkdirSync(join(folder, 'out put'));
    const built = await runSvc(['build', 'my counter.ts', '-o', 'out put/c.wasm'], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(folder, 'out put/c.wasm')).subarray(0, 4)).toEqual(
      Buffer.from('\0asm'),
    );
    expect(existsSync(join(folder, 'my counter.wasm'))).toBe(false);
    const map = JSON.parse(readFileSync(join(folder, 'out put/c.wasm.map'), 'utf8')) as object;
    expect(map).toMatchObject({ version: 3, sourceRoot: '../' });
  });

  test('with --no-source-map writes the component and nothing beside it', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '--no-source-map'], { cwd: folder });
    expect(built.code).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(['counter.ts', 'counter.wasm']);
  });

  test('to a file that cannot be written says so and what to do', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '-o', 'none/c.wasm'], { cwd: folder });
    expect(built.code).toBe(1);
    expect(built.stderr).toBe(
      'svc: The component cannot be written to none/c.wasm (ENOENT). ' +
        'Name a file in a folder that exists with -o. [SVC_BUILD_FAILED]\n',
    );
  });
});
