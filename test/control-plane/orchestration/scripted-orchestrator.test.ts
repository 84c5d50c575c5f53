// The scripted orchestrator, by which the control plane is tested, does what every orchestrator does.
import {
  CRASHING_IMAGE,
  GOOD_IMAGE,
  MISSING_IMAGE,
  OTHER_IMAGE,
  ScriptedOrchestrator,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';
import { VirtualClock } from '../../../host/testing.ts';
import { orchestratorSuite } from '../../suites/orchestrator-suite.ts';

orchestratorSuite('in memory', async () => {
  const clock = new VirtualClock();
  const orchestrator = new ScriptedOrchestrator(clock);
  return {
    orchestrator,
    images: {
      good: GOOD_IMAGE,
      other: OTHER_IMAGE,
      missing: MISSING_IMAGE,
      crashing: CRASHING_IMAGE,
    },
    until: (condition) => clock.until(condition),
    async crash(key) {
      orchestrator.instancesOf(key)[0]!.crash();
    },
    async discard() {},
  };
});
