// ResourceLimits: which resources of a descriptor this machine limits, by the runtime or by the kernel.
import { availableParallelism } from 'node:os';
import { hostingKind, type ServiceDescriptor } from '@svc/client';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';
import { limitsOfRuntime, type RuntimeLimits } from '../orchestration/runtime-limits.ts';

/** Returns the limits of a runtime of this machine, which has as many shards as the machine has cores at most. */
export function runtimeLimits({ resources, env }: ServiceDescriptor): RuntimeLimits {
  return limitsOfRuntime(resources, env, availableParallelism());
}

/** The resources of a descriptor. */
export const RESOURCES = ['cpu', 'memory'] as const;
export type ResourceName = (typeof RESOURCES)[number];

/**
 * Returns which resources are limited by the runtime alone, or not at all; undefined if there are none. `limited`: those that the system
 * limits for the processes.
 */
export function unlimitedInWords(
  desired: DesiredService | RemovedService,
  limited: ReadonlySet<ResourceName>,
): string | undefined {
  if (desired.kind === 'removed') return undefined;
  const { descriptor } = desired;
  const { resources } = descriptor;
  const names = RESOURCES.filter((name) => resources?.[name] !== undefined && !limited.has(name));
  if (names.length === 0) return undefined;
  const fields = names.map((name) => `resources.${name}`).join(' and ');
  const kind = hostingKind({ ...descriptor });
  if (kind === 'web')
    return `${fields}: this machine sets no limits for the processes of a web-hosted service`;
  return kind === 'process'
    ? `${fields}: limits of the runtime for its threads and heaps; this machine sets none for the process beside it`
    : `${fields}: limits of the runtime for its threads, heaps and modules; this machine sets none for the process`;
}
