// A program as process 1 of a container, for which Linux ignores the signals without a listener.
import { onTestFinished, expect, test } from 'vitest';
import { join } from 'node:path';
import { SvcProcess } from '../../support/host-process.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart-program.ts');
/** Modules that Node loads before the program. */
const FIRST = "Object.defineProperty(process,'pid',{value:1});";
const LISTENING =
  "process.once('SIGTERM',()=>setTimeout(()=>{console.log('closed');process.exit(7)},300));";

async function start(before: string): Promise<SvcProcess> {
  const options = `--import=data:text/javascript,${encodeURIComponent(before)}`;
  const env = { SVC_PROCESS_PORT: '0', NODE_OPTIONS: options };
  const program = new SvcProcess([], { program: PROGRAM, env });
  onTestFinished(() => void program.child.kill('SIGKILL'));
  await program.printed(/listening at (\S+)/);
  return program;
}

test('a program that is process 1 is closed by a signal, and ends', async () => {
  const program = await start(FIRST);
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0, signal: null });
});

test('a program that listens for the signal itself ends as it likes', async () => {
  const program = await start(FIRST + LISTENING);
  const { code, stdout } = await program.end('SIGTERM');
  expect({ code, stdout }).toMatchObject({ code: 7, stdout: expect.stringMatching(/closed\n$/) });
});
