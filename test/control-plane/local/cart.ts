// Cart: the service of the tests of one machine.
import type {
  DesiredService,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';
import type { MachineUnderTest } from './machine-under-test.ts';
import { until } from './until.ts';

export const CART = { project: 'web', service: 'cart' };

export function cart(
  image: string,
  generation: number,
  more: Partial<DesiredService> = {},
): DesiredService {
  return {
    kind: 'desired',
    key: CART,
    incarnation: 'life1',
    generation,
    appliedGeneration: generation,
    descriptor: { name: 'cart', image },
    instances: 1,
    isPaused: false,
    isSuspended: false,
    exposedHostname: undefined,
    hostnames: [],
    ...more,
  };
}

export const isComplete = ({ rollout }: Workload): boolean => rollout.kind === 'complete';
export const hasFailed = ({ rollout }: Workload): boolean => rollout.kind === 'failed';

/** Resolves with the first observation that meets the condition. */
export async function observed(
  machine: MachineUnderTest,
  condition: (workload: Workload) => boolean,
): Promise<Workload> {
  let found = await machine.orchestrator.observe(CART);
  await until(async () => {
    found = await machine.orchestrator.observe(CART);
    return found.kind === 'workload' && condition(found);
  });
  return found as Workload;
}

/** Resolves once the generation is complete. */
export async function running(
  machine: MachineUnderTest,
  image: string,
  generation: number,
): Promise<Workload> {
  await machine.orchestrator.reconcile(cart(image, generation));
  return await observed(
    machine,
    (workload) => isComplete(workload) && workload.generation === generation,
  );
}
