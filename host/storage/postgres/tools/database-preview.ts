// DatabasePreview is what a process finds out about a journal in a database before it opens it, and about the host that uses it.
import { hostname } from 'node:os';
import type { JournalContents, StoredEventType } from '../../journal-contents.ts';
import type { RunningModule } from '../../cluster-nodes.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import { EVENT_TYPES } from '../opened-postgres.ts';
import { readDatabase } from './database-reading.ts';

const LAST_MODULE = {
  text: 'SELECT descriptor, fingerprint FROM svc.module ORDER BY number DESC LIMIT 1',
};
const RUNNING_MODULES = {
  text: `SELECT n.fingerprint, min(n.machine), m.descriptor FROM svc.node n
    JOIN (SELECT DISTINCT ON (fingerprint) fingerprint, descriptor FROM svc.module ORDER BY fingerprint, number DESC) m
      ON m.fingerprint = n.fingerprint
    WHERE n.lease_until > clock_timestamp() GROUP BY n.fingerprint, m.descriptor ORDER BY n.fingerprint`,
};
const NODES = {
  text: `SELECT machine, control FROM svc.node WHERE lease_until > clock_timestamp()
    ORDER BY number DESC`,
};

/** Returns the event types of a journal, read again by each call. */
export function databaseTypes(
  location: JournalInDatabase,
): Pick<JournalContents, 'location' | 'eventTypes'> {
  return {
    location,
    eventTypes: () =>
      readDatabase(location, async (session) => {
        const rows = await session.query(EVENT_TYPES);
        return rows.map(([component, manifest]) => ({ component, manifest }) as StoredEventType);
      }),
  };
}

interface LastModule {
  /** JSON text. */
  readonly descriptor: string | undefined;
  readonly fingerprint: string | undefined;
}

/** Returns the module that wrote the journal last. */
export function lastModuleIn(location: JournalInDatabase): Promise<LastModule> {
  return readDatabase(location, async (session) => {
    const [descriptor, fingerprint] = (await session.query(LAST_MODULE))[0] ?? [];
    return {
      descriptor: descriptor as string | undefined,
      fingerprint: fingerprint as string | undefined,
    };
  });
}

/** Returns the modules that nodes run. A node that has just joined may not have stored its module yet, and is left out then. */
export function runningModulesIn(location: JournalInDatabase): Promise<readonly RunningModule[]> {
  return readDatabase(location, async (session) => {
    const rows = await session.query(RUNNING_MODULES);
    return rows.map(
      ([fingerprint, machine, descriptor]) =>
        ({ fingerprint, machine, descriptor }) as RunningModule,
    );
  });
}

/** Returns whether a node uses the journal. */
export function hasNodes(location: JournalInDatabase): Promise<boolean> {
  return readDatabase(location, async (session) => (await session.query(NODES)).length > 0);
}

/** Returns the control socket of the node on this machine that uses the journal; undefined: there is none. */
export function controlSocketIn(location: JournalInDatabase): Promise<string | undefined> {
  return readDatabase(location, async (session) => {
    for (const [machine, control] of await session.query(NODES))
      if (machine === hostname() && typeof control === 'string') return control;
    return undefined;
  });
}
