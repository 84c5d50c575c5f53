// KeptJournal: where the journal of a service is, by the objects that outlast the service: the claim of its volume, and the note of its database. A
// service never begins an empty journal while it has one elsewhere.
//
// Invariants
// J1  The note of a declared database is written once its secret is there: before that no pod has started with it, and the descriptor can be corrected.
//     It is written before the first pod that a reconcile starts, and before a workload with pods is changed or goes: after that nothing else may
//     say so. A paused service has no pods, so its note is written with the pause, and not again.
// J2  Neither a claim nor a note is deleted here. Whoever has moved a journal deletes them.
// J3  No value of a secret is read.
import { hostingKind, type Problem, projectNamespace, type ServiceKey } from '@svc/client';
import { leftJournal } from '../orchestration/left-journal.ts';
import type { DesiredService } from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import type { KubeObject } from './api/kube-object.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import { journalNoteOf } from './manifests/journal-note.ts';
import { journalStorage } from './manifests/journal-storage.ts';
import { type Manifest, pathOf } from './manifests/manifest.ts';
import {
  databaseName,
  JOURNAL_ANNOTATION,
  JOURNAL_SECRET_ANNOTATION,
  journalClaimName,
  journalNoteName,
  serviceLabels,
} from './manifests/object-names.ts';
import { isOwn } from './own-objects.ts';

export interface KeptJournal {
  /** Whether there is a volume that the service has its journal on, or had. */
  readonly hasVolume: boolean;
  /** Whether the cluster has made a database for the service. */
  readonly hasMade: boolean;
  /** The secret with the URL of the database that the service has declared; undefined: it has declared none. */
  readonly supplied: string | undefined;
}

export const NO_JOURNAL: KeptJournal = { hasVolume: false, hasMade: false, supplied: undefined };

/** Rejects with KubeError, and the reason of the signal. */
export async function keptJournal(
  client: KubeClient,
  { key, descriptor }: Pick<DesiredService, 'key' | 'descriptor'>,
  signal: AbortSignal,
): Promise<KeptJournal> {
  if (hostingKind({ ...descriptor }) === 'web') return NO_JOURNAL;
  const [claim, note] = await Promise.all([
    client.getMetadata(pathIn(key, 'persistentvolumeclaims', journalClaimName(key)), signal),
    client.getMetadata(pathIn(key, 'secrets', journalNoteName(key)), signal),
  ]);
  const isOfService = (found: KubeObject | undefined): found is KubeObject =>
    found !== undefined && isOwn(found, serviceLabels(key));
  const noted = isOfService(note) ? journalIn(note) : undefined;
  const hasVolume = isOfService(claim);
  if (noted !== undefined || hasVolume || descriptor.database !== undefined)
    return {
      hasVolume,
      hasMade: noted?.storage === 'provisioned',
      supplied: noted?.storage === 'supplied' ? noted.secret : undefined,
    };
  const deployment = `/apis/apps/v1/namespaces/${projectNamespace(key.project)}/deployments/${key.service}`;
  const workload = await client.getMetadata(deployment, signal);
  const supplied = isOfService(workload)
    ? await startedWith(client, key, workload, signal)
    : undefined;
  return { ...NO_JOURNAL, supplied };
}

/** Returns what keeps a descriptor from the journal that the service has; paths are JSON pointers into the descriptor. */
export function keptJournalProblems(
  { key, descriptor }: Pick<DesiredService, 'key' | 'descriptor'>,
  kept: KeptJournal,
  { databases }: Pick<KubernetesInstallation, 'databases'>,
): readonly Problem[] {
  const left = leftJournal(descriptor, {
    supplied: kept.supplied,
    made: kept.hasMade ? `a database that the cluster made (${databaseName(key)})` : undefined,
    files: kept.hasVolume ? `a volume of the cluster (${journalClaimName(key)})` : undefined,
    noDatabase:
      hostingKind({ ...descriptor }) === 'embedded'
        ? 'this installation keeps journals of programs with the runtime in them on volumes'
        : undefined,
  });
  if (left !== undefined) return [left];
  if (!kept.hasMade || descriptor.database !== undefined || databases !== undefined) return [];
  return [
    {
      path: '/database',
      reason: `is missing, and the journal of this service is in a database that the cluster made (${databaseName(key)}), which this installation does no more: have its operator name the kind of databases again`,
    },
  ];
}

/** Returns the installation as it is for a service with this journal: one that has a volume stays there. */
export function installationWith(
  installation: KubernetesInstallation,
  { hasVolume, hasMade }: KeptJournal,
): KubernetesInstallation {
  return hasVolume && !hasMade ? { ...installation, databases: undefined } : installation;
}

/** Manifests of a service, without the note if the secret of its declared database is not there yet. */
export interface ManifestsBesideJournal {
  readonly manifests: readonly Manifest[];
  /** Whether the note has to be written once the secret is there. */
  readonly awaitsSecret: boolean;
}

/**
 * Returns the manifests that a service is brought to. `mayBegin`: whether it may begin a journal; without it no database is made. A service without
 * instances begins none, so nothing is noted, and whoever moves its journal can delete the note.
 */
export async function manifestsBesideJournal(
  client: KubeClient,
  manifests: readonly Manifest[],
  { key, descriptor, instances }: DesiredService,
  { databases, mayBegin }: BesideJournal,
  signal: AbortSignal,
): Promise<ManifestsBesideJournal> {
  const isNote = ({ kind, metadata }: Manifest) =>
    kind === 'Secret' && metadata.name === journalNoteName(key);
  const isDatabase = ({ kind, apiVersion }: Manifest) =>
    kind === databases?.kind && apiVersion === databases.apiVersion;
  const made = mayBegin ? manifests : manifests.filter((one) => !isDatabase(one));
  const withoutNote = made.filter((one) => !isNote(one));
  if (instances === 0) return { manifests: withoutNote, awaitsSecret: false };
  if (journalStorage(descriptor, { databases }) !== 'supplied')
    return { manifests: made, awaitsSecret: false };
  const path = pathIn(key, 'secrets', descriptor.database!.urlFrom);
  const awaitsSecret = (await client.getMetadata(path, signal)) === undefined;
  return { manifests: awaitsSecret ? withoutNote : made, awaitsSecret };
}

interface BesideJournal extends Pick<KubernetesInstallation, 'databases'> {
  readonly mayBegin: boolean;
}

/** Returns the note of a database that pods of a workload may have started with, unless it is there; undefined: none is missing. */
export async function missingNote(
  client: KubeClient,
  key: ServiceKey,
  workload: KubeObject,
  signal: AbortSignal,
): Promise<Manifest | undefined> {
  const secret = await startedWith(client, key, workload, signal);
  if (secret === undefined) return undefined;
  const note = journalNoteOf(key, { storage: 'supplied', secret });
  return (await client.getMetadata(pathOf(note), signal)) === undefined ? note : undefined;
}

/** Returns the secret of a declared database with which pods of a workload may have started; undefined: with none. */
async function startedWith(
  client: KubeClient,
  key: ServiceKey,
  workload: KubeObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { storage, secret } = journalIn(workload);
  if (storage !== 'supplied' || secret === undefined) return undefined;
  const found = await client.getMetadata(pathIn(key, 'secrets', secret), signal);
  return found === undefined ? undefined : secret;
}

function pathIn({ project }: ServiceKey, segment: string, name: string): string {
  return `/api/v1/namespaces/${projectNamespace(project)}/${segment}/${encodeURIComponent(name)}`;
}

function journalIn({ metadata: { annotations } }: KubeObject): {
  readonly storage: string | undefined;
  readonly secret: string | undefined;
} {
  return {
    storage: annotations?.[JOURNAL_ANNOTATION],
    secret: annotations?.[JOURNAL_SECRET_ANNOTATION],
  };
}
