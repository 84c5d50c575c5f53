// The orchestrator of one machine, with real processes, does what every orchestrator does.
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { signalRun } from '../../../control-plane/local/instance-process.ts';
import { orchestratorSuite } from '../../suites/orchestrator-suite.ts';
import { until } from './until.ts';
import { join } from 'node:path';

orchestratorSuite('of one machine', async () => {
  const machine = new MachineUnderTest();
  return {
    orchestrator: machine.orchestrator,
    images: IMAGES,
    until: (condition) => until(condition),
    async crash({ service }) {
      const folder = InstanceFolder.readAll(join(machine.folder, 'instances')).find(
        ({ spec }) => spec.key.service === service,
      )!;
      signalRun(folder, 'SIGKILL');
    },
    discard: () => machine.discard(),
  };
});
