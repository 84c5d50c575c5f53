// WorkloadStart: what a manifest of a workload takes from the workload that is there, so that each start of instances is a rollout of its own
// and nothing is replaced needlessly.
//
// Invariants
// T1  The annotation `svc.dev/started` of the pods changes when the workload has no replicas and gets some, and stays otherwise. Without it the
//     controllers would take a workload that is resumed for one that is complete already.
// T2  The claims of a StatefulSet are as the server has them, with its defaults. Kubernetes does not let them change, as when the installation gets another
//     class of storage; and the server rewrites an object whenever such a list is applied without the defaults.
import type { FoundWorkload } from './found-objects.ts';
import type { JsonObject, Manifest, Metadata } from './manifests/manifest.ts';
import { STARTED_ANNOTATION } from './manifests/object-names.ts';

interface WorkloadSpec {
  readonly replicas: number;
  readonly template: { readonly metadata: Metadata };
  readonly volumeClaimTemplates?: readonly JsonObject[];
}

export function isWorkload({ kind }: Pick<Manifest, 'kind'>): boolean {
  return kind === 'Deployment' || kind === 'StatefulSet';
}

/** Returns the manifest as it continues what there is. `startMs`: the time of a start, in milliseconds since 1970. */
export function continuedWorkload(
  manifest: Manifest,
  found: FoundWorkload | undefined,
  startMs: number,
): Manifest {
  const spec = specOf(manifest);
  const former = found?.spec?.template?.metadata?.annotations?.[STARTED_ANNOTATION];
  const isStart = spec.replicas > 0 && (found?.spec?.replicas ?? 0) === 0;
  const started = isStart ? new Date(startMs).toISOString() : former;
  const { metadata } = spec.template;
  const claims = found?.spec?.volumeClaimTemplates;
  return {
    ...manifest,
    spec: {
      ...spec,
      ...(started === undefined
        ? {}
        : {
            template: {
              ...spec.template,
              metadata: {
                ...metadata,
                annotations: { ...metadata.annotations, [STARTED_ANNOTATION]: started },
              },
            },
          }),
      ...(spec.volumeClaimTemplates === undefined || claims === undefined
        ? {}
        : { volumeClaimTemplates: claims }),
    } as unknown as JsonObject,
  };
}

/**
 * Returns the manifest without instances with which a StatefulSet begins; undefined: it has begun. The controllers take the first revision of a StatefulSet
 * for the current one before a pod of it is ready. So the first one has no pods, and the one with pods is the second.
 */
export function beginningOf(
  manifest: Manifest,
  found: FoundWorkload | undefined,
): Manifest | undefined {
  const spec = specOf(manifest);
  if (manifest.kind !== 'StatefulSet' || spec.replicas === 0 || hasBegun(found)) return undefined;
  if ((found?.spec?.replicas ?? 0) > 0) return undefined;
  return { ...manifest, spec: { ...spec, replicas: 0 } as unknown as JsonObject };
}

/** Whether the controllers have taken up a StatefulSet. */
export function hasBegun(found: FoundWorkload | undefined): boolean {
  return found?.status?.currentRevision !== undefined && found.status.currentRevision !== '';
}

function specOf(manifest: Manifest): WorkloadSpec {
  return manifest['spec'] as unknown as WorkloadSpec;
}
