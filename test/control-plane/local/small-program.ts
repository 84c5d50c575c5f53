// A program for the tests of the local orchestrator: it writes a state file as a service does, becomes ready, and ends at SIGTERM.
// argv: state file, what it is to do (`good`, `crashing`, `stubborn`), folder of its data or `-`.
import { mkdirSync, rmdirSync, watch } from 'node:fs';
import { StateFile } from '@svc/kit/state-file';

const [file, manner, dataFolder] = process.argv.slice(2) as [string, string, string];
const lock = `${dataFolder}/lock`;
const state = new StateFile(file, (error) => process.stderr.write(`${String(error)}\n`));
state.write('starting');
console.log(`${manner} has started`);
if (dataFolder !== '-') {
  mkdirSync(dataFolder, { recursive: true });
  state.write('prepared');
  await folderIsFree();
}
process.on('SIGTERM', () => {
  if (manner === 'stubborn') return;
  state.write('stopping');
  if (dataFolder !== '-') rmdirSync(lock);
  state.write('ended', { code: 0, signal: null });
  process.exit(0);
});
state.write('ready');
console.log(`${manner} is ready`);
if (manner === 'crashing') setTimeout(() => process.exit(3), 50);
else setInterval(() => {}, 1000);

/** Waits until this process has the folder of the lock. */
async function folderIsFree(): Promise<void> {
  const changes = watch(dataFolder);
  const end = () => {
    state.write('ended', { code: 0, signal: null });
    process.exit(0);
  };
  process.on('SIGTERM', end);
  for (;;)
    try {
      mkdirSync(lock);
      break;
    } catch {
      await new Promise((changed) => changes.once('change', changed));
    }
  process.off('SIGTERM', end);
  changes.close();
}
