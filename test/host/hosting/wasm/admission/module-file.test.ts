// ModuleFile: a module is read up to its limit, and anything but a regular file is not read.
import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModuleFile } from '../../../../../host/hosting/wasm/admission/module-file.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const MAX = 1000;

const refusal = (why: string) => ({
  code: 'SVC_MODULE_UNREADABLE',
  message: expect.stringContaining(`cannot be read (${why})`),
});

function fileOf(length: number): string {
  const file = join(temporaryFolder(), 'module.wasm');
  writeFileSync(file, Buffer.alloc(length, 7));
  return file;
}

describe('a file', () => {
  test.each([0, 1, MAX])('of %i bytes is read as it is', async (length) => {
    expect(await readModuleFile(fileOf(length), MAX)).toEqual(new Uint8Array(length).fill(7));
  });

  test('of more bytes than the limit is refused, with both numbers', async () => {
    await expect(readModuleFile(fileOf(MAX + 1), MAX)).rejects.toMatchObject({
      code: 'SVC_MODULE_TOO_LARGE',
      message: expect.stringContaining('has 1001 bytes, and the limit is 1000'),
    });
  });

  test('of a terabyte is refused without being read', async () => {
    const file = fileOf(1);
    truncateSync(file, 2 ** 40);
    await expect(readModuleFile(file, MAX)).rejects.toMatchObject({ code: 'SVC_MODULE_TOO_LARGE' });
  });
});

describe('what is no file is refused:', () => {
  test('nothing', async () => {
    const file = join(temporaryFolder(), 'nowhere.wasm');
    await expect(readModuleFile(file, MAX)).rejects.toMatchObject(refusal('ENOENT'));
  });

  test('a folder', async () => {
    await expect(readModuleFile(temporaryFolder(), MAX)).rejects.toMatchObject(refusal('EISDIR'));
  });

  test('a device without an end', async () => {
    await expect(readModuleFile('/dev/zero', MAX)).rejects.toMatchObject(
      refusal('it is no regular file'),
    );
  });

  test('a pipe into which nobody writes', async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(readModuleFile(pipe, MAX)).rejects.toMatchObject(refusal('it is no regular file'));
  });
});
