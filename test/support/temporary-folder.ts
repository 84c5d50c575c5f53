// Folders of a test's own, gone after it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** For one test; to be called within it. */
export function temporaryFolder(): string {
  const folder = make();
  onTestFinished(() => remove(folder));
  return folder;
}

/** For all tests of a file; to be called outside of them. */
export function temporaryFolderOfFile(): string {
  const folder = make();
  afterAll(() => remove(folder));
  return folder;
}

/** Returns what makes folders for the tests of a file, which may run at once; to be called outside of them. */
export function temporaryFoldersOfFile(): () => string {
  const folder = temporaryFolderOfFile();
  return () => mkdtempSync(join(folder, 'test-'));
}

function make(): string {
  return mkdtempSync(join(tmpdir(), 'svc-test-'));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
