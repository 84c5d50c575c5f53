// A program for the tests of the local orchestrator: it writes a state file as a service does, becomes ready once no other process
// uses its data, and ends at SIGTERM.
// argv: state file, what it is to do (`good`, `crashing`, `stubborn`, `stuck`, `silent`, `parent`, `fails_CODE`, `later_CODE`,
// which fails once it was ready), folder of its data or `-`.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StateFile } from '@svc/kit/state-file';

const [file, manner, dataFolder] = process.argv.slice(2) as [string, string, string];
const state = new StateFile(file, (error) => process.stderr.write(`${String(error)}\n`));
state.write('starting');
process.stderr.write(`${manner} has started\n`);
process.on('SIGTERM', () => {
  if (manner === 'stubborn') return;
  state.write('stopping');
  state.write('ended', { code: 0, signal: null });
  process.exit(0);
});
const [, mode, code] = /^(fails|later)_(\w+)$/.exec(manner) ?? [];
const wasReady = `${dataFolder}.ready`;
if (code !== undefined && (mode === 'fails' || existsSync(wasReady))) {
  state.write('ended', { code: 1, signal: null, error: code, message: 'it fails' });
  process.exit(1);
}
if (manner === 'silent') process.exit(7);
if (manner === 'parent')
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
if (dataFolder !== '-') {
  state.write('prepared');
  await useOf(dataFolder);
}
state.write('ready');
if (mode === 'later') writeFileSync(wasReady, '');
process.stderr.write(`${manner} is ready\n`);
if (manner === 'crashing') setTimeout(() => process.exit(3), 50);
else setInterval(() => {}, 1000);

/** Resolves once this process alone uses the folder. The system frees it when the process ends, however it does. */
async function useOf(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, 'lock.db'));
  for (;;) {
    try {
      if (manner !== 'stuck') return lock.exec('BEGIN EXCLUSIVE');
    } catch {
      // Another process has it.
    }
    await new Promise((again) => setTimeout(again, 5));
  }
}
