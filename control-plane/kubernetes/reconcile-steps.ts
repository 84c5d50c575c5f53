// ReconcileSteps: bring the objects of a service to what they should be. All of them are read before the first one is written.
//
// Invariants
// R1  An object without the labels of the service is never written or deleted, and keeps the service from being reconciled; neither is one that is being
//     deleted. Both are found before anything is written. An object that takes the place of one that was read is not written either.
//     One thing comes before: the certificate that a service has is renewed also while the service is refused, because its instances go on. It is
//     written only into a namespace that has the annotation of this installation. That distinguishes installations on one cluster, whose labels are the same.
// R2  Doing it again changes nothing, and finishes what an earlier reconcile has left.
// R3  The namespace, the claim of a journal, the database of a service and the note of it are never deleted.
// R4  Before a namespace or a workload is created, the cluster is confirmed to be that of the installation, because in another one everything is missing.
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@svc/kit/clock';
import type { ServiceKey } from '@svc/client';
import { printable } from '@svc/kit/printable';
import { type DesiredService, WorkloadRefused } from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import { KubeError } from './api/kube-error.ts';
import type { KubeObject } from './api/kube-object.ts';
import type { FoundWorkload } from './found-objects.ts';
import type { IdentitySecrets } from './identity-secrets.ts';
import { manifestsBesideJournal, missingNote } from './kept-journal.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import { type Manifest, type ObjectReference, pathOf } from './manifests/manifest.ts';
import {
  INSTALLATION_ANNOTATION,
  removableObjects,
  serviceLabels,
} from './manifests/object-names.ts';
import { manifestsOf } from './manifests/service-manifests.ts';
import {
  isAppliedNamespace,
  isAppliedProject,
  isOwn,
  isOwnProject,
  otherInstallation,
} from './own-objects.ts';
import type { ResourcePaths } from './resource-paths.ts';
import { withoutValues } from './secret-words.ts';
import { beginningOf, continuedWorkload, hasBegun, isWorkload } from './workload-start.ts';

export interface Cluster {
  readonly client: KubeClient;
  readonly paths: ResourcePaths;
  readonly installation: KubernetesInstallation;
  /** Rejects unless the API server answers, and is of the cluster of the installation. */
  readonly confirmCluster: (signal: AbortSignal) => Promise<void>;
  /** The certificates of services; undefined: the operator makes them. */
  readonly identities: IdentitySecrets | undefined;
  readonly clock: Clock;
  /** Time that the controllers of the cluster have to take up a StatefulSet, in milliseconds. */
  readonly takeUpTimeoutMs: number;
}

/** An object by its name, with what the server has of it. */
interface Read<Reference extends ObjectReference> {
  readonly reference: Reference;
  readonly path: string;
  readonly found: KubeObject | undefined;
}

const UNPROCESSABLE = 422;
/** The words of refusals that concern the service, and not the rights of the control plane. */
const REFUSAL =
  /admission webhook .* denied the request|exceeded quota|violates PodSecurity|it is being terminated/s;
const TAKE_UP_PAUSE_MS = 50;

/** The secret with the certificate of a service. */
interface ReadIdentity extends Read<Manifest> {
  /** The time at which the certificate has to be renewed, in milliseconds since 1970; undefined: the service has none yet. */
  readonly renewAtMs: number | undefined;
}

/** The objects of a service after an apply. */
export interface AppliedService {
  /** Each object as the server has it, by its path. */
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** When the service has to be applied again although nothing has changed, in milliseconds since 1970; undefined: at no given time. */
  readonly renewAtMs: number | undefined;
  /** Whether the note of a declared database was left out, because its secret is not there. */
  readonly awaitsSecret: boolean;
}

/**
 * `mayBegin`: whether the service may begin a journal; without it, it has to have no instances. Rejects with WorkloadRefused, KubeError, and the
 * reason of the signal.
 */
export async function applyService(
  cluster: Cluster,
  desired: DesiredService,
  mayBegin: boolean,
  signal: AbortSignal,
): Promise<AppliedService> {
  const identity = await renewIdentity(cluster, desired.key, signal);
  const { client, installation } = cluster;
  const { databases } = installation;
  const { manifests, awaitsSecret } = await manifestsBesideJournal(
    client,
    manifestsOf(desired, installation),
    desired,
    { databases, mayBegin },
    signal,
  );
  const isWanted = ({ kind, metadata }: ObjectReference) =>
    manifests.some((one) => one.kind === kind && one.metadata.name === metadata.name);
  const [wanted, unwanted] = await Promise.all([
    readAll(cluster, manifests, signal),
    readAll(
      cluster,
      removableOf(cluster, desired.key).filter((reference) => !isWanted(reference)),
      signal,
    ),
  ]);
  for (const read of identity === undefined ? wanted : [identity, ...wanted]) refuseForeign(read);
  await noteBefore(cluster, desired.key, [...wanted, ...unwanted], signal);
  const objects = new Map<string, KubeObject>();
  let renewAtMs = identity?.renewAtMs;
  for (const read of wanted) {
    if (isWorkload(read.reference) && identity !== undefined)
      renewAtMs ??= await makeIdentity(cluster, desired.key, identity, signal);
    objects.set(read.path, await applyOne(cluster, read, signal));
  }
  await deleteOwn(cluster, desired.key, unwanted, signal);
  return { objects, renewAtMs, awaitsSecret };
}

/**
 * Renews the certificate that a service has, if it is due. Returns the secret as it was before; undefined: the operator makes it. Rejects with
 * WorkloadRefused, KubeError, and the reason of the signal.
 */
export async function renewIdentity(
  cluster: Cluster,
  key: ServiceKey,
  signal: AbortSignal,
): Promise<ReadIdentity | undefined> {
  const { identities } = cluster;
  if (identities === undefined) return undefined;
  const owner = identities.ofService(key);
  const [read] = await readAll(cluster, [owner.secret], signal);
  const { found } = read!;
  const isKept =
    found !== undefined &&
    isOwn(found, serviceLabels(key)) &&
    found.metadata.deletionTimestamp === undefined &&
    (await isAppliedProject(cluster, key, signal));
  if (!isKept) return { ...read!, renewAtMs: undefined };
  const { manifest, renewAtMs } = await identities.renewed(owner, found);
  if (manifest !== undefined) await applyOne(cluster, { ...read!, reference: manifest }, signal);
  return { ...read!, renewAtMs };
}

/** Gives a service its first certificate, or keeps one that was there before its namespace was applied. Returns when that has to be renewed. */
async function makeIdentity(
  cluster: Cluster,
  key: ServiceKey,
  read: ReadIdentity,
  signal: AbortSignal,
): Promise<number> {
  const identities = cluster.identities!;
  const owner = identities.ofService(key);
  const { manifest, renewAtMs } = await identities.renewed(owner, read.found);
  if (manifest !== undefined) await applyOne(cluster, { ...read, reference: manifest }, signal);
  return renewAtMs;
}

/** Rejects with KubeError, and the reason of the signal. */
export async function removeService(
  cluster: Cluster,
  key: ServiceKey,
  signal: AbortSignal,
): Promise<void> {
  if (!(await isOwnProject(cluster, key, signal))) return;
  const all = await readAll(cluster, removedOf(cluster, key), signal);
  const deployment = deploymentIn(all, key);
  const note = deployment && (await missingNote(cluster.client, key, deployment, signal));
  if (note !== undefined) await cluster.client.apply(pathOf(note), note, { force: false, signal });
  await deleteOwn(cluster, key, all, signal);
}

/**
 * Writes the note of the database that pods of the workload may have started with, before that is changed or deleted. `all`: the objects of the
 * service; a note among them is written with them.
 */
async function noteBefore(
  cluster: Cluster,
  key: ServiceKey,
  all: readonly Read<ObjectReference>[],
  signal: AbortSignal,
): Promise<void> {
  const deployment = deploymentIn(all, key);
  // Without pods nothing can have begun since the pause, and whoever moves the journal has perhaps deleted the note.
  if ((deployment?.spec?.replicas ?? 0) === 0) return;
  const note = await missingNote(cluster.client, key, deployment!, signal);
  if (note === undefined) return;
  const path = pathOf(note);
  if (all.some((read) => read.path === path)) return;
  await applyOne(cluster, { reference: note, path, found: undefined }, signal);
}

function deploymentIn(
  all: readonly Read<ObjectReference>[],
  key: ServiceKey,
): FoundWorkload | undefined {
  const found = all.find(({ reference }) => reference.kind === 'Deployment')?.found;
  return found !== undefined && isOwn(found, serviceLabels(key)) ? found : undefined;
}

/** Returns which objects of the service there are, beside those that outlast it. */
export async function remainingObjects(
  cluster: Cluster,
  key: ServiceKey,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const all = await readAll(cluster, removedOf(cluster, key), signal);
  return all.flatMap(({ reference: { kind }, found }) =>
    found !== undefined && isOwn(found, serviceLabels(key)) ? [{ ...found, kind }] : [],
  );
}

function removableOf({ installation }: Cluster, key: ServiceKey): readonly ObjectReference[] {
  return removableObjects(key, installation.cluster.disruptionBudgets);
}

/** Returns what goes with a service that is removed. */
function removedOf(cluster: Cluster, key: ServiceKey): readonly ObjectReference[] {
  const identity = cluster.identities?.ofService(key).secret;
  return [...removableOf(cluster, key), ...(identity === undefined ? [] : [identity])];
}

async function readAll<Reference extends ObjectReference>(
  { client, paths }: Cluster,
  references: readonly Reference[],
  signal: AbortSignal,
): Promise<readonly Read<Reference>[]> {
  return Promise.all(
    references.map(async (reference) => {
      const path = await paths.pathOf(reference, signal);
      return { reference, path, found: await client.get(path, signal) };
    }),
  );
}

function refuseForeign({ reference, found }: Read<Manifest>): void {
  if (found === undefined) return;
  const { kind, metadata } = reference;
  const where = metadata.namespace === undefined ? '' : ` in the namespace ${metadata.namespace}`;
  const name = `the ${kind} ${metadata.name}${where}`;
  const other = otherInstallation(found, metadata.annotations?.[INSTALLATION_ANNOTATION]);
  if (other !== undefined)
    throw new WorkloadRefused(
      `${name} is of another installation of svc (${printable(other)}): this project needs another id`,
    );
  if (!isOwn(found, metadata.labels))
    throw new WorkloadRefused(
      `${name} exists and is not managed by svc: its owner has to rename or delete it, or this service needs another name`,
    );
  if (found.metadata.deletionTimestamp !== undefined)
    throw new WorkloadRefused(`${name} is being deleted`);
}

async function applyOne(
  cluster: Cluster,
  { reference, path, found }: Read<Manifest>,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { client, clock } = cluster;
  if (found === undefined && (reference.kind === 'Namespace' || isWorkload(reference)))
    await cluster.confirmCluster(signal);
  const apply = async (manifest: Manifest, present: KubeObject | undefined) => {
    const uid = present?.metadata.uid;
    const object = { ...manifest, metadata: { ...manifest.metadata, ...(uid && { uid }) } };
    const force = present !== undefined;
    return worded(manifest, () => client.apply(path, object, { force, signal }));
  };
  if (reference.kind === 'Namespace' && found === undefined) {
    return apply(reference, await createdNamespace(client, { reference, path }, signal));
  }
  if (!isWorkload(reference)) return apply(reference, found);
  const beginning = beginningOf(reference, found);
  const begun =
    beginning === undefined
      ? found
      : await takenUp(cluster, path, await apply(beginning, found), signal);
  return apply(continuedWorkload(reference, begun, clock.nowMs()), begun);
}

/**
 * Creates a namespace, whose fields are applied afterwards: one that another svc makes at the same time would not conflict with an apply, whose manager
 * has the same name. One that this installation has made meanwhile, for another service of the project, is as good.
 */
async function createdNamespace(
  client: KubeClient,
  { reference, path }: Pick<Read<Manifest>, 'reference' | 'path'>,
  signal: AbortSignal,
): Promise<KubeObject> {
  const collection = path.slice(0, path.lastIndexOf('/'));
  try {
    return await worded(reference, () => client.create(collection, reference, signal));
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
    const found = await client.get(path, signal);
    const isOurs = found !== undefined && isAppliedNamespace(found, reference);
    if (!isOurs || found.metadata.deletionTimestamp !== undefined) throw error;
    return found;
  }
}

/** Writes an object. Rejects with WorkloadRefused if the refusal concerns the service, and without the values of secrets. */
async function worded(manifest: Manifest, write: () => Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await write();
  } catch (error) {
    const shown = manifest.kind === 'Secret' ? withoutValues(error, manifest) : error;
    throw isOfService(error) ? refusalWith(shown as KubeError) : shown;
  }
}

/** Waits until the controllers have taken up a StatefulSet. */
async function takenUp(
  { client, takeUpTimeoutMs }: Cluster,
  path: string,
  applied: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject> {
  const ends = performance.now() + takeUpTimeoutMs;
  let present: KubeObject | undefined = applied;
  while (present !== undefined && !hasBegun(present)) {
    if (performance.now() > ends)
      throw new Error(
        `the controllers of the cluster have not taken up ${path} within ${takeUpTimeoutMs} ms`,
      );
    await delay(TAKE_UP_PAUSE_MS, undefined, { signal });
    present = await client.get(path, signal);
  }
  if (present === undefined) throw new Error(`${path} was deleted by someone else`);
  return present;
}

async function deleteOwn(
  { client }: Cluster,
  key: ServiceKey,
  all: readonly Read<ObjectReference>[],
  signal: AbortSignal,
): Promise<void> {
  const labels = serviceLabels(key);
  for (const { reference, path, found } of all) {
    if (found === undefined || !isOwn(found, labels)) continue;
    if (found.metadata.deletionTimestamp !== undefined) continue;
    await client.delete(path, {
      uid: found.metadata.uid,
      // A workload stays until its pods have ended, so that none of them can begin after it is gone.
      propagation: isWorkload(reference) ? 'Foreground' : 'Background',
      signal,
    });
  }
}

/** Whether a failure is a refusal that concerns the service. */
function isOfService(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    error.kind === 'refused' &&
    (error.status === UNPROCESSABLE || REFUSAL.test(error.message))
  );
}

function refusalWith(cause: KubeError): WorkloadRefused {
  return new WorkloadRefused(`the cluster refuses the service: ${cause.message}`, { cause });
}
