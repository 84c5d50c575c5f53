// WorkloadOf: an observation of a service, from its record and what was found.
import type { Rollout, Workload } from '../orchestration/orchestrator.ts';
import type { Found } from './found-instances.ts';
import { failureOf, type ServiceRecord } from './service-record.ts';

/** `progressMs`: the last progress of the rollout, in milliseconds since 1970. */
export function workloadOf(
  record: ServiceRecord,
  found: readonly Found[],
  { detail, progressMs }: { readonly detail: string | undefined; readonly progressMs: number },
): Workload {
  const { desired } = record;
  // What is left of a removed service is of the incarnation that ran.
  const { incarnation, generation } =
    desired.kind === 'removed' ? found.at(-1)!.folder.spec : desired;
  const ready = found.filter(({ view }) => view.phase === 'ready');
  const updated = ready.filter(
    ({ view }) => view.incarnation === incarnation && view.generation === generation,
  );
  const shown = failureOf(record) ?? detail;
  return {
    kind: 'workload',
    key: desired.key,
    incarnation,
    generation,
    wantedInstances: desired.kind === 'removed' ? 0 : desired.instances,
    readyInstances: ready.length,
    updatedInstances: updated.length,
    rollout: rolloutOf(record, progressMs),
    ...(shown === undefined ? {} : { detail: shown }),
    database: isSupplied(desired) ? 'supplied' : 'provisioned',
  };
}

function isSupplied(desired: ServiceRecord['desired']): boolean {
  return desired.kind === 'desired' && desired.descriptor.database !== undefined;
}

function rolloutOf(record: ServiceRecord, progressMs: number): Rollout {
  const reason = failureOf(record);
  if (reason !== undefined) return { kind: 'failed', reason };
  if (record.isComplete) return { kind: 'complete' };
  return { kind: 'progressing', sinceMs: progressMs };
}
