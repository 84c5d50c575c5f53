import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MODULE = join(import.meta.dirname, '../../support/kubernetes/guarded-processes.ts');
const SCRIPT = `
const { GuardedProcesses } = await import(process.argv[1]);
const processes = new GuardedProcesses(process.argv[2]);
processes.start('one', 'sleep', ['600']);
processes.start('two', 'sleep', ['600']);
await processes.stop('two');
console.log(processes.pid('one'));
setInterval(() => undefined, 1000);
`;

test('processes and their folder are gone after the process that started them was killed', async () => {
  const folder = temporaryFolder();
  const starter = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, MODULE, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  expect(isAlive(pid)).toBe(true);
  starter.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => existsSync(folder)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
