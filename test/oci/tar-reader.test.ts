// The reader of tar archives: what it reads, and that it refuses what two readers could read differently.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTar } from '../../oci/tar-reader.ts';
import { tarArchive } from '../../oci/tar-writer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { failureOf, file } from './support/test-image.ts';

/** Gives the bytes in chunks of a length. */
async function* chunksOf(bytes: Uint8Array, length = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(bytes: Uint8Array, length?: number) {
  const entries: { path: string; kind: string; text: string; offset: number }[] = [];
  for await (const { path, kind, offset, content } of readTar(chunksOf(bytes, length), 'it')) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    entries.push({ path, kind, offset, text: Buffer.concat(parts).toString() });
  }
  return entries;
}

const archive = Buffer.from(
  tarArchive([
    file('a.txt', Buffer.from('hello')),
    { path: 'folder', mode: 0o755, owner: 1000 },
    file('folder/b.txt', Buffer.alloc(600, 'b')),
  ]),
);

/** Returns the archive with bytes of its first header replaced and the checksum corrected. */
function withHeader(at: number, text: string): Uint8Array {
  const changed = Buffer.from(archive);
  changed.write(text, at, 'latin1');
  changed.write('        ', 148);
  const sum = changed.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return changed;
}

describe('an archive', () => {
  test.each([1, 7, 511, 512, 513, 10_000])('is read in chunks of %i bytes', async (length) => {
    expect(await read(archive, length)).toEqual([
      { path: 'a.txt', kind: 'file', text: 'hello', offset: 512 },
      { path: 'folder/', kind: 'directory', text: '', offset: 1536 },
      { path: 'folder/b.txt', kind: 'file', text: 'b'.repeat(600), offset: 2048 },
    ]);
  });

  test('of GNU tar is read in the formats ustar and pax, with a long path in the latter', async () => {
    const folder = temporaryFolder();
    const long = `${'long/'.repeat(30)}end`;
    mkdirSync(join(folder, long, '..'), { recursive: true });
    writeFileSync(join(folder, long), 'far');
    const bytes = execFileSync('tar', ['--format=pax', '-cf', '-', long], { cwd: folder });
    expect(await read(bytes)).toEqual([
      expect.objectContaining({ path: long, kind: 'file', text: 'far' }),
    ]);
  });

  test('whose content is not read is skipped', async () => {
    const paths: string[] = [];
    for await (const { path } of readTar(chunksOf(archive, 100), 'it')) paths.push(path);
    expect(paths).toEqual(['a.txt', 'folder/', 'folder/b.txt']);
  });
});

describe('an archive is refused that', () => {
  const extended = (record: string) =>
    Buffer.concat([
      withHeader(156, 'x').subarray(0, 512 - 388),
      withHeader(156, 'x').subarray(512 - 388, 512),
      Buffer.from(record.padEnd(5, 'x')),
      Buffer.alloc(507),
      archive,
    ]);

  test.each([
    ['is cut off in a header', archive.subarray(0, 300), 'is cut off'],
    ['is cut off in a content', archive.subarray(0, 514), 'is cut off'],
    ['has no end', archive.subarray(0, archive.length - 1024), 'is cut off'],
    ['has half an end', archive.subarray(0, archive.length - 512), 'is cut off'],
    ['continues after its end', Buffer.concat([archive, Buffer.from('x')]), 'bytes after its end'],
    ['has one block of zeros first', Buffer.concat([Buffer.alloc(512), archive]), 'block of zeros'],
    ['has a wrong checksum', Buffer.from(archive).fill('b', 0, 1), 'wrong checksum'],
    ['has a size in base 256', withHeader(124, '\x80'), 'no octal number'],
    ['has a negative size', withHeader(124, '-0000000005'), 'no octal number'],
    ['is one of Unix version 7', withHeader(257, '\0\0\0\0\0\0\0\0'), 'not one of ustar'],
    ['has a path that is not UTF-8', withHeader(0, '\xff'), 'not UTF-8'],
    ['has bytes between entries', Buffer.from(archive).fill('x', 600, 601), 'between two entries'],
    ['has an extended header without records', extended('abcde'), 'extended header that is none'],
    ['has an extended header with a record too long', extended('99 ab'), 'extended header'],
  ])('%s', async (_what, bytes, reason) => {
    const { code, message } = await failureOf(read(bytes));
    expect({ code, message }).toEqual({
      code: 'SVC_IMAGE_LAYER_DAMAGED',
      message: expect.stringContaining(reason) as string,
    });
  });

  test('has more entries than images have', async () => {
    const many = tarArchive(Array.from({ length: 4097 }, (_, at) => file(`${at}`, Buffer.of())));
    expect((await failureOf(read(many))).code).toBe('SVC_IMAGE_TOO_LARGE');
  });
});
