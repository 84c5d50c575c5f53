// A program for the tests of the local orchestrator: it writes a state file as a service does, answers at /ready, becomes ready once no
// other process uses its data, and ends at SIGTERM.
// argv: state file, what it is to do, folder of its data or `-`, address, and port of /ready.
// It is to be `good`, `crashing` (some time after it is ready), `stubborn` (it ignores SIGTERM), `stuck` (never ready with its data), `deaf` (it does
// not listen), `slow` (it takes a while with its data, and to end), `unready` (its answer at /ready is 503), `silent` (it ends at once), `parent` (of a process that goes on), `talking` (it writes a lot),
// `fails_CODE` (it ends at once with a report), or `later_CODE` (the same, once it was ready).
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StateFile } from '@svc/kit/state-file';

const [file, manner, dataFolder, address, port] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
/** Time of a slow program with its data, and to end, in milliseconds. */
const SLOW_MS = 150;
const state = new StateFile(file, (error) => process.stderr.write(`${String(error)}\n`));
let isReady = false;
/** The lock is lost once nothing refers to it. */
let lock: DatabaseSync | undefined;
if (dataFolder !== '-') {
  mkdirSync(dirname(dataFolder), { recursive: true });
  appendFileSync(`${dataFolder}.starts`, `${dirname(file)}\n`);
}
state.write('starting');
process.stderr.write(`${manner} has started\n`);
process.on('SIGTERM', () => {
  if (manner === 'stubborn') return;
  isReady = false;
  state.write('stopping');
  setTimeout(
    () => {
      state.write('ended', { code: 0, signal: null });
      process.exit(0);
    },
    manner === 'slow' ? SLOW_MS : 0,
  );
});
const [, mode, code] = /^(fails|later)_(\w+)$/.exec(manner) ?? [];
const wasReady = `${dataFolder}.ready`;
if (code !== undefined && (mode === 'fails' || existsSync(wasReady))) end(code, 'it fails');
if (manner === 'silent') process.exit(7);
if (manner === 'parent')
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
if (manner === 'talking')
  setInterval(() => process.stderr.write('line 1\nline 2\n'.repeat(100)), 5);
if (manner !== 'deaf')
  createServer((_request, response) => {
    response.statusCode = isReady && manner !== 'unready' ? 200 : 503;
    response.end();
  })
    .on('error', ({ message }) => end('SVC_PORT_IN_USE', message))
    .listen({ host: address, port: Number(port), exclusive: true });
if (dataFolder !== '-') {
  state.write('prepared');
  await useOf(dataFolder);
}
if (manner === 'slow') await new Promise((go) => setTimeout(go, SLOW_MS));
isReady = true;
state.write('ready');
if (mode === 'later') writeFileSync(wasReady, '');
process.stderr.write(`${manner} is ready\n`);
if (manner === 'crashing') setTimeout(() => process.exit(3), 50);
else setInterval(() => {}, 1000);

function end(error: string, message: string): void {
  state.write('ended', { code: 1, signal: null, error, message });
  process.exit(1);
}

/** Resolves once this process alone uses the folder. The system frees it when the process ends, however it does. */
async function useOf(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  lock = new DatabaseSync(join(folder, 'lock.db'));
  for (;;) {
    try {
      if (manner !== 'stuck') return lock.exec('BEGIN EXCLUSIVE');
    } catch {
      // Another process has it.
    }
    await new Promise((again) => setTimeout(again, 5));
  }
}
