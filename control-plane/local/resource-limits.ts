// ResourceLimits: the resources of a descriptor as limits of the runtime, which share the memory out among the threads of an instance and
// the module's instances. Buffers of the system and of SQLite are beyond them.
import { availableParallelism } from 'node:os';
import { cpuMillis, hostingKind, memoryBytes, type ServiceDescriptor } from '@svc/client';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';

const MIB = 1024 * 1024;
/** Smallest heap with which a thread of the runtime starts. */
const HEAP_MIB_MIN = 64;

export interface RuntimeLimits {
  /** Options of Node. */
  readonly options: readonly string[];
  /** Variables of the runtime. With a limit of memory they replace what the descriptor says of the same settings. */
  readonly variables: Readonly<Record<string, string>>;
}

export function runtimeLimits({ resources, env }: ServiceDescriptor): RuntimeLimits {
  const shards = Number(env?.['SVC_SHARDS'] ?? shardsOf(resources?.cpu)) || 1;
  const bytes = resources?.memory === undefined ? undefined : memoryBytes(resources.memory);
  if (bytes === undefined) return { options: [], variables: { SVC_SHARDS: String(shards) } };
  // An eighth for the main thread, three for the shards, three for modules; one is left for the rest of the process.
  const mainMib = Math.max(HEAP_MIB_MIN, Math.floor(bytes / 8 / MIB));
  const shardMib = Math.max(HEAP_MIB_MIN, Math.floor((bytes * 3) / 8 / shards / MIB));
  const modules = Math.max(MIB, Math.floor((bytes * 3) / 8));
  return {
    options: [`--max-old-space-size=${mainMib}`],
    variables: {
      SVC_SHARDS: String(shards),
      SVC_SUPERVISOR_SHARD_HEAP_MIB: String(Math.min(65_536, shardMib)),
      SVC_WASM_MEMORY_BYTES_TOTAL_MAX: String(modules),
      SVC_WASM_RELEASED_BYTES_MAX: String(Math.max(MIB, Math.floor(modules / 8))),
    },
  };
}

/** A service has as many shards as whole cores, and at least one. */
function shardsOf(cpu: string | undefined): number {
  const cores = ((cpu === undefined ? undefined : cpuMillis(cpu)) ?? 1000) / 1000;
  return Math.max(1, Math.min(Math.floor(cores), availableParallelism()));
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
