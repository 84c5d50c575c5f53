// The images themselves: what a crash may leave is what a disk without favours may do, no more and no less.
import { expect, test } from 'vitest';
import { CrashImages, type ImageKind } from '../support/crash/crash-images.ts';
import type { DiskOperation } from '../support/crash/disk-trace.ts';
import { Random } from '../support/random.ts';

const create = (name: string): DiskOperation => ({ kind: 'create', name });
const write = (name: string, text: string, offset = 0): DiskOperation => ({
  kind: 'write',
  name,
  offset,
  bytes: Buffer.from(text),
});
const sync = (name: string, failed = false): DiskOperation => ({ kind: 'sync', name, failed });

/** Of each image of the kind, its files. */
function imagesOf(
  kind: ImageKind,
  operations: readonly DiskOperation[],
  before: Readonly<Record<string, string>> = {},
): readonly unknown[] {
  const files = Object.entries(before).map(([name, text]) => [name, Buffer.from(text)] as const);
  const found: unknown[] = [];
  for (const image of new CrashImages(operations, new Map(files), new Random(1)))
    if (image.kind === kind)
      found.push(
        Object.fromEntries([...image.files].map(([name, bytes]) => [name, bytes.toString()])),
      );
  return found;
}

test('what a process has written is there when only the process ends', () => {
  expect(imagesOf('written', [create('a'), write('a', 'one'), write('a', '-', 1)])).toEqual([
    { a: '' },
    { a: 'one' },
    { a: 'o-e' },
  ]);
});

test('a write is lost until its file was synced, and a file until its folder was', () => {
  const operations = [create('a'), write('a', 'one'), sync('a'), sync(''), write('a', 'two')];
  expect(imagesOf('synced', operations)).toEqual([{}, {}, { a: 'one' }]);
  expect(imagesOf('synced', [write('a', 'two'), sync('a')], { a: 'old' })).toEqual([
    { a: 'old' },
    { a: 'two' },
  ]);
});

test('what a failed sync did not write is lost for good, whatever a later one says', () => {
  const operations = [write('a', 'N', 1), sync('a', true), write('a', 'M', 2), sync('a')];
  expect(imagesOf('synced', operations, { a: 'old' }).at(-1)).toEqual({ a: 'olM' });
  const again = [write('a', 'N', 1), sync('a', true), write('a', 'N', 1), sync('a')];
  expect(imagesOf('synced', again, { a: 'old' }).at(-1)).toEqual({ a: 'oNd' });
});

test('a rename and a removal are undone until the folder was synced', () => {
  const rename: DiskOperation = { kind: 'rename', name: 'a', to: 'b' };
  const unlink: DiskOperation = { kind: 'unlink', name: 'c' };
  const before = { a: 'text', c: 'gone' };
  expect(imagesOf('synced', [rename, unlink], before)).toEqual([before]);
  expect(imagesOf('synced', [rename, unlink, sync('')], before).at(-1)).toEqual({ b: 'text' });
  for (const image of imagesOf('some', [rename, unlink], before))
    expect([before, { b: 'text', c: 'gone' }, { b: 'text' }]).toContainEqual(image);
});

test('any part of what was not synced may be there', () => {
  const operations = Array.from({ length: 40 }, (_, at) => write('a', 'N', at % 4));
  const found = new Set(
    imagesOf('some', operations, { a: 'oooo' }).map((image) => JSON.stringify(image)),
  );
  expect(found.size).toBeGreaterThan(8);
});

test('the last write may be torn between two sectors', () => {
  const old = 'o'.repeat(2_048);
  const operations = Array.from({ length: 30 }, () => write('a', 'N'.repeat(2_048)));
  const written = imagesOf('torn', operations.slice(0, 1), { a: old });
  expect(written).toHaveLength(1);
  const lengths = operations.map((_, index) => {
    const [image] = imagesOf('torn', [write('b', 'x'.repeat(index)), operations[index]!], {
      a: old,
      b: '',
    }).slice(-1) as [{ a: string }];
    expect(image.a).toMatch(/^N*o+$/);
    return image.a.indexOf('o');
  });
  expect(lengths.every((length) => length % 512 === 0 && length < 2_048)).toBe(true);
});
