// FileWatch on a real file system.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileWatch, type FileWatchOptions } from '../../kit/file-watch.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function watched(path: string, options: Partial<FileWatchOptions> = {}) {
  const reports: (readonly string[])[] = [];
  const watch = new FileWatch(path, {
    leavesOut: (name) => name === 'node_modules',
    onChange: (files) => reports.push(files),
    onFailure: (failure) => {
      throw failure;
    },
    ...options,
  });
  onTestFinished(() => watch.close());
  return reports;
}

test('changed files of the folder and of folders in it are reported together', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'src'));
  const reports = watched(folder, { quietMs: 300 });
  writeFileSync(join(folder, 'a.txt'), '1');
  writeFileSync(join(folder, 'src', 'b.txt'), '1');
  await expect.poll(() => reports).toHaveLength(1);
  expect(reports[0]!.toSorted()).toEqual([join(folder, 'a.txt'), join(folder, 'src', 'b.txt')]);
});

test('what is left out and what is not accepted is not reported', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  const reports = watched(folder, { accepts: (file) => file.endsWith('.ts') });
  writeFileSync(join(folder, 'node_modules', 'a.ts'), '1');
  writeFileSync(join(folder, 'a.txt'), '1');
  writeFileSync(join(folder, 'a.ts'), '1');
  await expect.poll(() => reports.flat()).toContain(join(folder, 'a.ts'));
  expect(new Set(reports.flat())).toEqual(new Set([join(folder, 'a.ts')]));
});

test('a file is watched also after an editor has replaced it, and its neighbours are not', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'settings.json');
  writeFileSync(file, '1');
  const reports = watched(file);
  for (const text of ['2', '3']) {
    const before = reports.length;
    writeFileSync(join(folder, 'other.json'), text);
    writeFileSync(join(folder, 'new.json'), text);
    renameSync(join(folder, 'new.json'), file);
    await expect.poll(() => reports.length).toBeGreaterThan(before);
  }
  expect(new Set(reports.flat())).toEqual(new Set([file]));
});

test('a path that is not there is refused', () => {
  const path = join(temporaryFolder(), 'nowhere');
  expect(() => watched(path)).toThrow(
    expect.objectContaining({ code: 'SVC_WATCH_FAILED', message: expect.stringContaining(path) }),
  );
});
