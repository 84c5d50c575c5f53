// SmallDisk: a file system of its own, in memory, that a test fills up. Only root may mount one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Returns why this machine cannot mount one; undefined if it can. */
export function whyNoSmallDisk(): string | undefined {
  if (process.platform !== 'linux') return 'not tested: only Linux has file systems in memory';
  if (process.getuid?.() !== 0) return 'not tested: only root may mount a file system';
  const folder = newFolder();
  try {
    mount(folder, 65_536);
    unmount(folder);
    return undefined;
  } catch {
    rmdirSync(folder);
    return 'not tested: this container may mount no file system';
  }
}

export class SmallDisk {
  readonly folder = newFolder();

  /** It is gone after the test. */
  constructor(bytes: number) {
    mount(this.folder, bytes);
    onTestFinished(() => unmount(this.folder));
  }

  resize(bytes: number): void {
    execFileSync('mount', ['-o', `remount,size=${bytes}`, this.folder]);
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'svc-disk-'));
}

function mount(folder: string, bytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], {
    stdio: 'ignore',
  });
}

/** `--lazy`: a file may still be open. */
function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
  rmdirSync(folder);
}
