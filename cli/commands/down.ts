// svc down: stops the installation of this machine.
import { join } from 'node:path';
import { endInstances } from '@svc/control-plane/end-instances';
import { command, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { layoutOf } from '../one-machine/machine-layout.ts';
import { endOwner } from '../one-machine/machine-owner.ts';
import { readEnvironment } from '../platform/environment.ts';
import { MACHINE_FOLDER_OPTION } from './up.ts';

export const down = command(
  {
    name: 'down',
    summary: 'stop the installation of this machine',
    about: `Stops what svc up runs: control plane, gateway, registry and login provider, and all services. Their
data is kept; svc up starts everything again.`,
    words: [],
    options: { folder: MACHINE_FOLDER_OPTION },
    examples: ['svc down'],
  },
  async (_words, { folder }) => {
    const { folders } = readEnvironment();
    const layout = layoutOf(folder ?? join(folders.state, 'machine'));
    const wasRunning = await endOwner(layout);
    const ended = await endInstances(layout.machine);
    const what = wasRunning ? 'Stopped' : 'Nothing was running';
    process.stderr.write(
      `${what}${ended === 0 ? '' : `, with ${counted(ended, 'instance')} of services`}.\n`,
    );
    return EXIT_CODE.ok;
  },
);
