// Segments as folders of a disk: what is listed, and removals that were cut off.
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SegmentFolders } from '../../../webhooks/segments/segment-folders.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function withFolders(...names: readonly string[]) {
  const folder = join(temporaryFolder(), 'segments');
  for (const name of names) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'journal.sqlite'), 'bytes');
  }
  return { folder, folders: new SegmentFolders(folder) };
}

test('the folders of numbers are segments, and nothing else is', async () => {
  const { folder, folders } = withFolders('4157', '4158', 'notes', '12345678');
  expect(new Set(await folders.list())).toEqual(new Set([4157, 4158]));
  expect(existsSync(join(folder, 'notes'))).toBe(true);
});

test('a missing folder has no segments, and is made', async () => {
  const { folder, folders } = withFolders();
  expect(await folders.list()).toEqual([]);
  expect(existsSync(folder)).toBe(true);
});

test('a removed segment is off the disk, and can be made again', async () => {
  const { folder, folders } = withFolders('4157', '4158');
  await folders.remove(4157);
  expect(readdirSync(folder)).toEqual(['4158']);
  mkdirSync(folders.folderOf(4157));
  expect(new Set(await folders.list())).toEqual(new Set([4157, 4158]));
});

test('a removal that was cut off is finished by the next list, or by the next removal', async () => {
  const { folder, folders } = withFolders('4157', '4158');
  for (const number of [4157, 4158])
    renameSync(folders.folderOf(number), join(folder, `${number}.removed`));
  await folders.remove(4157);
  expect(readdirSync(folder)).toEqual(['4158.removed']);
  expect(await folders.list()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});
