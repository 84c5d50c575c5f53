// The pages about the SDK for Python: what they show runs, and every name is on the reference page.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { snippetsOf } from '../../support/doc-snippets.ts';
import { python, PYTHON_ENVIRONMENT, startPython } from '../../support/python.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const reference = readFileSync(join(root, 'docs/reference/python-sdk.md'), 'utf8');

/** Starts a program, and sends a command to one of its entities. */
async function answered(program: string, component: string, command: string): Promise<unknown> {
  const { program: started, address } = await startPython(program);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  const guest = await guestAt(connectionTo(address));
  onTestFinished(async () => guest.close());
  const entity = await guest.entities.open({ component, id: 'a1' }, undefined);
  await entity.command({ nowMs: 0, seed: 0n, metadata: [] }, command, '5');
  return entity.reply({ nowMs: 0, seed: 0n, metadata: [] }, command);
}

test('every name of svc_process is on the reference page', () => {
  const exported = readFileSync(join(root, 'process-sdk/python/svc_process/__init__.py'), 'utf8');
  const names = [...exported.matchAll(/^ {4}"(\w+)",$/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(reference))).toEqual([]);
});

test('every public member of the test kit is on the reference page', () => {
  const file = join(root, 'process-sdk/python/svc_process/testing.py');
  const [, service] = /^class MemoryService:([\s\S]*?)^class /m.exec(readFileSync(file, 'utf8'))!;
  const names = [...service!.matchAll(/^ {4}def ([a-z]\w*)\(/gm)].map(([, name]) => name!);
  // The members that answer for the runtime.
  const own = names.slice(0, names.indexOf('row_texts'));
  expect(own.length).toBeGreaterThan(5);
  expect(own.filter((name) => !new RegExp(`\\b${name}\\b`).test(reference))).toEqual([]);
});

test.skipIf(python === undefined)('the program and the test of the guide run', async () => {
  const folder = temporaryFolder();
  const [program, tests, ...others] = snippetsOf('docs/how-to/process.md', 'python');
  expect(others).toEqual([]);
  writeFileSync(join(folder, 'main.py'), program!.code);
  writeFileSync(join(folder, 'test_main.py'), tests!.code);
  const env = { ...process.env, ...PYTHON_ENVIRONMENT };
  execFileSync(python!, ['-m', 'unittest', '-q'], { cwd: folder, env, stdio: 'pipe' });
  const reply = await answered(join(folder, 'main.py'), 'account', 'deposit');
  expect(reply).toEqual({ kind: 'reply', json: '{"cents":5}' });
});

test.skipIf(python === undefined)('the program of the README runs', async () => {
  const folder = temporaryFolder();
  const [program] = snippetsOf('process-sdk/python/README.md', 'python');
  writeFileSync(join(folder, 'main.py'), program!.code);
  const reply = await answered(join(folder, 'main.py'), 'counter', 'increase');
  expect(reply).toEqual({ kind: 'reply', json: '{"count":5}' });
});
