// A command that npm started notices the end of npm.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const file = join(import.meta.dirname, '../../cli/npm-end.ts');

/** Returns the output of a process whose parent is killed once the process watches it. */
function saidOf(lifecycleEvent: string | undefined): string {
  const child = `
    const { npmEnds } = await import(${JSON.stringify(file)});
    void npmEnds(${JSON.stringify(lifecycleEvent)}).then(() => process.exit(console.log('ended')));
    setTimeout(() => {}, ${lifecycleEvent === undefined ? 2_000 : 60_000});
    process.send('looks');`;
  const parent = `
    const child = require('node:child_process').spawn(process.execPath,
      ['--input-type=module', '-e', ${JSON.stringify(child)}],
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.on('message', () => process.kill(process.pid, 'SIGTERM'));`;
  // The pipe of the shell closes when both processes have ended.
  const script = '"$0" -e "$1" || true';
  return execFileSync('sh', ['-c', script, process.execPath, parent], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

test('a command that npm started ends when what stands between has ended', () => {
  expect(saidOf('dev')).toBe('ended\n');
});

test('one that npm has not started goes on without its parent', () => {
  expect(saidOf(undefined)).toBe('');
});
