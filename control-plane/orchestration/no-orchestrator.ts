// NoOrchestrator: the orchestrator of an installation that has none. What is desired is stored, and nothing runs.
import type { Orchestrator } from './orchestrator.ts';

const DETAIL = 'no orchestrator is configured in this installation, so nothing runs';

export const NO_ORCHESTRATOR: Orchestrator = {
  runsNothing: true,
  problems: () => Promise.resolve([]),
  reconcile: () => Promise.resolve(),
  observe: (key) => Promise.resolve({ kind: 'none', key, detail: DETAIL }),
  logs: () => Promise.resolve([]),
  watch: () => ({ [Symbol.dispose]: () => undefined }),
};
