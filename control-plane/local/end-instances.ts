// EndInstances ends every service of a machine while no control plane runs there. The next control plane starts them again.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { InstanceFolder } from './instance-folder.ts';
import { phaseOf, signalRun } from './instance-process.ts';
import { sweepSockets } from './instance-sockets.ts';
import { LOCAL_CLOCK } from './local-clock.ts';
import { LOCAL_DEFAULTS } from './local-section.ts';
import { MachineLock } from './machine-lock.ts';
import { ROLLOUT_DEFAULTS } from './rollout-section.ts';

const LOOK_MS = 50;

/**
 * Ends the instances of the folder (svc.local.folder): they have `graceMs` to finish their requests, and are killed then. Resolves with
 * their number once none runs, and no file of their sockets is left. Rejects with SVC_MACHINE_IN_USE while a control plane runs there.
 */
export async function endInstances(
  folder: string,
  graceMs = ROLLOUT_DEFAULTS.drainMs + LOCAL_DEFAULTS.killAfterMs,
): Promise<number> {
  using lock = new MachineLock(folder);
  const running = (): readonly InstanceFolder[] =>
    InstanceFolder.readAll(join(lock.folder, 'instances')).filter(
      (instance) => phaseOf(instance, LOCAL_CLOCK).kind !== 'ended',
    );
  const instances = running();
  for (const instance of instances) signalRun(instance, 'SIGTERM');
  const untilMs = performance.now() + graceMs;
  for (;;) {
    const left = running();
    if (left.length === 0) break;
    if (performance.now() > untilMs) for (const instance of left) signalRun(instance, 'SIGKILL');
    // oxlint-disable-next-line no-await-in-loop -- it waits for processes of others
    await pause(LOOK_MS);
  }
  const sockets = join(lock.folder, 'sockets');
  if (existsSync(sockets)) sweepSockets(sockets, []);
  return instances.length;
}
