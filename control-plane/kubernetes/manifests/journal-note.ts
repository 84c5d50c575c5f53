// JournalNote: in which database the journal of a service is, as an object that outlasts the service. The claim of a volume says as much by being
// there. The note is a secret without a value: the control plane has the right to write secrets anyway.
import type { ServiceKey } from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { KubernetesInstallation } from './installation.ts';
import { isInDatabase, type JournalStorage, journalStorage } from './journal-storage.ts';
import type { Manifest } from './manifest.ts';
import {
  JOURNAL_ANNOTATION,
  JOURNAL_SECRET_ANNOTATION,
  journalNoteName,
  serviceMetadata,
} from './object-names.ts';

type Databases = Pick<KubernetesInstallation, 'databases'>;

interface NotedJournal {
  readonly storage: JournalStorage;
  /** The secret that a descriptor names. */
  readonly secret: string | undefined;
}

/** Returns the note; undefined: the journal is in no database. */
export function journalNote(
  desired: DesiredService,
  installation: Databases,
): Manifest | undefined {
  const { key, descriptor } = desired;
  const storage = journalStorage(descriptor, installation);
  return isInDatabase(storage)
    ? journalNoteOf(key, { storage, secret: descriptor.database?.urlFrom })
    : undefined;
}

export function journalNoteOf(key: ServiceKey, where: NotedJournal): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...serviceMetadata(key, journalNoteName(key)),
      annotations: annotationsOf(where),
    },
    type: 'svc.dev/journal',
  };
}

/** Returns the annotations that say where the journal of a service is; none if it has no journal. */
export function journalAnnotations(
  { descriptor }: DesiredService,
  installation: Databases,
): Readonly<Record<string, string>> {
  const storage = journalStorage(descriptor, installation);
  return storage === 'none' ? {} : annotationsOf({ storage, secret: descriptor.database?.urlFrom });
}

function annotationsOf({ storage, secret }: NotedJournal): Readonly<Record<string, string>> {
  return {
    [JOURNAL_ANNOTATION]: storage,
    ...(secret === undefined ? {} : { [JOURNAL_SECRET_ANNOTATION]: secret }),
  };
}
