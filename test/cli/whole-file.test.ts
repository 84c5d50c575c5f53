// WholeFile: what a reader sees at any time, and which files remain after a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { writeWholeFile } from '../../cli/whole-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { within } from '../support/within.ts';

const BYTES = new TextEncoder().encode('new');

test('a reader that opened it before it was written keeps reading the old bytes', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'out.wasm');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  const reader = openSync(path, 'r');
  await writeWholeFile(path, BYTES);
  expect(readFileSync(reader, 'utf8')).toBe('old');
  closeSync(reader);
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder)).toEqual(['out.wasm']);
});

test('a link goes on leading to it', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real', 'out.wasm'), 'old');
  symlinkSync('real/out.wasm', join(folder, 'link.wasm'));
  await writeWholeFile(join(folder, 'link.wasm'), BYTES);
  expect(readFileSync(join(folder, 'real', 'out.wasm'), 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['link.wasm', 'real']);
  expect(readdirSync(join(folder, 'real'))).toEqual(['out.wasm']);
});

test('what is no file is written to, and not replaced', async () => {
  const folder = temporaryFolder();
  const pipe = join(folder, 'pipe');
  await once(spawn('mkfifo', [pipe]), 'exit');
  const reader = spawn('cat', [pipe]);
  const read = text(reader.stdout);
  await writeWholeFile(pipe, BYTES);
  expect(await within(30, 'what the pipe has', read)).toBe('new');
  expect(statSync(pipe).isFIFO()).toBe(true);
});

test('a failure leaves nothing beside it', async () => {
  const folder = temporaryFolder();
  await expect(writeWholeFile(folder, BYTES)).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(writeWholeFile(join(folder, 'none', 'out.wasm'), BYTES)).rejects.toMatchObject({
    code: 'ENOENT',
  });
  const tooLong = join(folder, 'x'.repeat(256));
  await expect(writeWholeFile(tooLong, BYTES)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  expect(readdirSync(folder)).toEqual([]);
  const longest = 'x'.repeat(255);
  await writeWholeFile(join(folder, longest), BYTES);
  expect(readdirSync(folder)).toEqual([longest]);
});
