// svc image: building, inspecting, and what is refused.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../cli/version.ts';
import { digestOf } from '../../oci/digest.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const at = (name: string) => join(folder, name);
let module: Uint8Array;

beforeAll(async () => {
  module = await compileFixture('counter');
  writeFileSync(at('counter.wasm'), module);
});

describe('svc image build', () => {
  test('makes an archive in the working folder, the same each time, which svc image inspect reads', async () => {
    const built = await runSvc(['image', 'build', 'counter.wasm'], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stdout: '' });
    const [, image] = /^counter\.tar: (sha256:[0-9a-f]{64})\n$/.exec(built.stderr)!;
    const again = await runCommand([
      'image',
      'build',
      at('counter.wasm'),
      '-o',
      at('again.tar'),
      '--json',
    ]);
    expect(JSON.parse(again.stdout)).toEqual({ file: at('again.tar'), image });
    expect(readFileSync(at('again.tar')).equals(readFileSync(at('counter.tar')))).toBe(true);
    const inspected = await runCommand(['image', 'inspect', at('counter.tar'), '-o', 'json']);
    expect(JSON.parse(inspected.stdout)).toEqual({
      image,
      platforms: ['linux/amd64', 'linux/arm64'],
      module: { path: 'module.wasm', digest: digestOf(module), bytes: module.length },
      protocol: expect.stringMatching(/^0\.\d+\.0$/) as string,
      runtime: version,
    });
    const text = await runCommand(['image', 'inspect', at('counter.tar')]);
    expect(text.stdout).toContain(`image      ${image}\nplatforms  linux/amd64, linux/arm64\n`);
  });

  test('makes a folder', async () => {
    const built = await runCommand(['image', 'build', at('counter.wasm'), '-o', at('layout')]);
    expect(built.code).toBe(0);
    const inspected = await runCommand(['image', 'inspect', at('layout')]);
    expect(inspected.stdout).toContain(digestOf(module));
  });

  test('makes no image of a module that the runtime refuses', async () => {
    writeFileSync(at('text.wasm'), 'export class Cart {}');
    const { code, stderr } = await runCommand([
      'image',
      'build',
      at('text.wasm'),
      '-o',
      at('no.tar'),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('[SVC_MODULE_NOT_WASM]');
    expect(existsSync(at('no.tar'))).toBe(false);
  });

  test.each([
    ['no project', ['build', '.'], 'SVC_BUILD_FAILED'],
    ['no module', ['build', 'gone.wasm'], 'SVC_MODULE_UNREADABLE'],
    [
      'a folder that does not exist',
      ['build', 'counter.wasm', '-o', 'gone/image.tar'],
      'SVC_IMAGE_UNWRITABLE',
    ],
    ['a folder with other files', ['build', 'counter.wasm', '-o', '.'], 'SVC_IMAGE_UNWRITABLE'],
    ['no image', ['inspect', 'gone.tar'], 'SVC_IMAGE_MISSING'],
    ['a module instead of an image', ['inspect', 'counter.wasm'], 'SVC_IMAGE_LAYER_DAMAGED'],
  ])('and inspect refuse %s', async (_what, [command, ...words], code) => {
    const paths = words.map((word) => (word.startsWith('-') ? word : at(word)));
    const ended = await runCommand(['image', command!, ...paths]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(`[${code}]`);
  });

  test('is what svc image expects after it', async () => {
    const { code, stderr } = await runCommand(['image']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('svc image is followed by build, inspect') as string,
    });
  });
});

test('svc image inspect refuses an image with one other bit', async () => {
  await runCommand(['image', 'build', at('counter.wasm'), '-o', at('image.tar')]);
  copyFileSync(at('image.tar'), at('changed.tar'));
  const bytes = readFileSync(at('changed.tar'));
  bytes[bytes.indexOf(Buffer.from(module.subarray(8, 64))) + 40]! ^= 1;
  writeFileSync(at('changed.tar'), bytes);
  const { code, stderr } = await runCommand(['image', 'inspect', at('changed.tar')]);
  expect(code).toBe(1);
  expect(stderr).toContain('[SVC_IMAGE_DIGEST_MISMATCH]');
});
