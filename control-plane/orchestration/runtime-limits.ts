// RuntimeLimits: the resources of an instance as limits of its runtime, which share the memory out among the threads of the instance and
// the module's instances. Buffers of the system and of SQLite are beyond them.
import { cpuMillis, memoryBytes, type Resources } from '@svc/client';

const MIB = 1024 * 1024;
/** Smallest heap with which a thread of the runtime starts. */
const HEAP_MIB_MIN = 64;

export interface RuntimeLimits {
  /** Options of Node. */
  readonly options: readonly string[];
  /** Variables of the runtime. With a limit of memory they replace what the descriptor says of the same settings. */
  readonly variables: Readonly<Record<string, string>>;
}

/** `coresMax`: the cores that an instance can use at most. */
export function limitsOfRuntime(
  resources: Resources | undefined,
  env: Readonly<Record<string, string>> | undefined,
  coresMax: number,
): RuntimeLimits {
  const shards = Number(env?.['SVC_SHARDS'] ?? shardsOf(resources?.cpu, coresMax)) || 1;
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
function shardsOf(cpu: string | undefined, coresMax: number): number {
  const cores = ((cpu === undefined ? undefined : cpuMillis(cpu)) ?? 1000) / 1000;
  return Math.max(1, Math.min(Math.floor(cores), coresMax));
}
