// A program with a local orchestrator and its routes: it asks for something, and writes a line once that is so and nothing else is left of the
// service.
// argv: folder of the machine, what is desired (JSON).
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { InstanceFolder } from '../../../../control-plane/local/instance-folder.ts';
import type {
  DesiredService,
  RemovedService,
} from '../../../../control-plane/orchestration/orchestrator.ts';
import { LOCAL_DEFAULTS } from '../../../../control-plane/local/local-section.ts';
import { PublishedRoutes } from '../../../../control-plane/local/published-routes.ts';
import { ServiceRecords } from '../../../../control-plane/local/service-record.ts';
import { openMachine } from '../machine-under-test.ts';

/** Time in which routers connect again. */
const GATHER_MS = 300;

const [folder, text] = process.argv.slice(2) as [string, string];
const desired = JSON.parse(text) as DesiredService | RemovedService;
const records = new ServiceRecords(join(folder, 'services')).readAll();
const routes = await PublishedRoutes.open({
  socket: `${folder}/routes.sock`,
  file: `${folder}/routes.json`,
  trustDomain: 'svc.test',
  section: { ...LOCAL_DEFAULTS, routersGatherMs: GATHER_MS },
  known: new Set(records.map(({ desired: { key } }) => `${key.project}/${key.service}`)),
  log: () => {},
});
const orchestrator = openMachine(folder, { hasDataFolder: true, routes });
await routes.listen();
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
