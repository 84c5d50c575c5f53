// Which command owns an installation: one at a time, and not before the programs of one that was killed have ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { layoutOf, makeLayout } from '../../../cli/one-machine/machine-layout.ts';
import { endOwner, MachineOwner, readOwner } from '../../../cli/one-machine/machine-owner.ts';
import { ownProcessStart, processEnd, processStartOf } from '../../../kit/process-start.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function layout() {
  const made = layoutOf(temporaryFolder());
  makeLayout(made);
  return made;
}

const nothingLeft = (): never => {
  throw new Error('a program is left over');
};

test('a second owner of a folder is refused with the process of the first, until that lets go', async () => {
  const folder = layout();
  const first = await MachineOwner.take(folder, nothingLeft);
  await expect(MachineOwner.take(folder, nothingLeft)).rejects.toMatchObject({
    code: 'SVC_MACHINE_IN_USE',
    message: expect.stringContaining(`the process ${process.pid} already`),
  });
  first[Symbol.dispose]();
  const second = await MachineOwner.take(folder, nothingLeft);
  expect(readOwner(folder)).toMatchObject({ owner: ownProcessStart(), programs: {} });
  second[Symbol.dispose]();
});

test('an owner waits for the programs of one that was killed', async () => {
  const folder = layout();
  // It ends by itself, as programs do whose supervisor is gone: when its input ends.
  const program = spawn('cat', { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void program.kill('SIGKILL'));
  await once(program, 'spawn');
  const start = processStartOf(program.pid!);
  const killed = await MachineOwner.take(folder, nothingLeft);
  killed.write({ programs: { gateway: start } });
  killed[Symbol.dispose]();
  const left = Promise.withResolvers<readonly string[]>();
  const taken = MachineOwner.take(folder, left.resolve);
  expect(await Promise.race([left.promise, taken])).toEqual(['gateway']);
  expect(processEnd(start)).toBeUndefined();
  program.stdin.end();
  const owner = await taken;
  expect(processEnd(start)).toBeDefined();
  owner[Symbol.dispose]();
});

test('nothing is ended where nothing runs', async () => {
  expect(await endOwner(layout())).toBe(false);
});
