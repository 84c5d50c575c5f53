// A program with a local orchestrator: it asks for something, and writes a line once that is so and nothing else is left of the service.
// argv: folder of the machine, what is desired (JSON).
import { setTimeout as pause } from 'node:timers/promises';
import { InstanceFolder } from '../../../../control-plane/local/instance-folder.ts';
import type {
  DesiredService,
  RemovedService,
} from '../../../../control-plane/orchestration/orchestrator.ts';
import { openMachine } from '../machine-under-test.ts';

const [folder, text] = process.argv.slice(2) as [string, string];
const desired = JSON.parse(text) as DesiredService | RemovedService;
const orchestrator = openMachine(folder, { hasDataFolder: true });
await orchestrator.reconcile(desired);
while (!(await isSettled())) await pause(5);
process.stdout.write('settled\n');
// The parent kills this process: that is how a control plane ends at its worst.
setInterval(() => {}, 1000);

async function isSettled(): Promise<boolean> {
  const found = await orchestrator.observe(desired.key);
  if (found.kind === 'none') return desired.kind === 'removed';
  if (desired.kind === 'removed') return false;
  const instances = InstanceFolder.readAll(`${folder}/instances`).length;
  if (found.generation !== desired.generation) return false;
  if (found.rollout.kind === 'failed') return found.readyInstances === 1;
  const isWhole = found.updatedInstances === desired.instances && instances === desired.instances;
  return found.rollout.kind === 'complete' && isWhole;
}
