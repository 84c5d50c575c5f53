// A process that runs, one that has ended, and numbers that are no ids.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isProcessAlive } from '../../kit/process-life.ts';

const MODULE = new URL('../../kit/process-life.ts', import.meta.url).href;

test('a process is alive until it has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  expect(isProcessAlive(child.pid!)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isProcessAlive(child.pid!)).toBe(false);
  expect(isProcessAlive(spawnSync(process.execPath, ['-e', '']).pid)).toBe(false);
});

test('a process of another user is alive', () => {
  // The first process belongs to another user, unless this one is root: then a child becomes another user.
  const isRoot = process.getuid?.() === 0;
  const script = `import { isProcessAlive } from ${JSON.stringify(MODULE)};
    if (${isRoot}) process.setuid(65534);
    console.log(isProcessAlive(${isRoot ? process.pid : 1}));`;
  const args = ['--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'true\n', stderr: '' });
});

test.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, 2 ** 32 + 1])(
  '%s is the id of no process',
  (pid) => {
    expect(isProcessAlive(pid)).toBe(false);
  },
);
