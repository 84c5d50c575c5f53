// Desired: services and workloads as tests write them.
import type {
  DesiredService,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';

export const KEY = { project: 'web', service: 'cart' };

export function desired(more: Partial<DesiredService> = {}): DesiredService {
  return {
    kind: 'desired',
    key: KEY,
    incarnation: 'life1',
    generation: 3,
    appliedGeneration: 3,
    descriptor: { name: 'cart', image: 'registry.example/cart:3', instances: 2 },
    instances: 2,
    isPaused: false,
    isSuspended: false,
    exposedHostname: undefined,
    hostnames: [],
    ...more,
  };
}

/** Everything of `desired()` is ready. */
export function workload(more: Partial<Workload> = {}): Workload {
  return {
    kind: 'workload',
    key: KEY,
    incarnation: 'life1',
    generation: 3,
    wantedInstances: 2,
    readyInstances: 2,
    updatedInstances: 2,
    rollout: { kind: 'complete' },
    ...more,
  };
}
