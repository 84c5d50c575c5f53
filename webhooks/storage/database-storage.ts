// DatabaseStorage: the storage of the webhook service in a PostgreSQL database. Each journal has a schema of its own, so that a segment is removed
// as a whole, in one transaction.
import type { DatabaseOptions } from '@svc/host';
import { ErasableValues } from '@svc/host/erasable-values';
import { JournalSchemas } from '@svc/host/journal-schemas';
import type { Log } from '@svc/kit/log';
import { DatabaseKeyCheck } from '../subscriptions/database-key-check.ts';
import { DatabaseSalts } from '../subscriptions/database-salts.ts';
import type { SegmentJournals, WebhookStorage } from './webhook-storage.ts';

/** Schema of the salts and of the check of the master key. The journal of tenants has the schema of every journal, `svc`. */
const VALUES_SCHEMA = 'svc_webhooks';
/** Beginning of the schema of a segment, before its number. */
const SEGMENT_PREFIX = 'svc_segment_';
const SEGMENT = new RegExp(`^${SEGMENT_PREFIX}(\\d{1,6})$`);

/**
 * Connections once there are deliveries of five weeks: about 12 for each of eight segments, and 9 for tenants and salts. The check leaves some for
 * tools.
 */
const CONNECTIONS = 120;

type Source = ConstructorParameters<typeof JournalSchemas>[0];

/** Rejects with SVC_DATABASE_URL_INVALID, SVC_DATABASE_UNUSABLE and SVC_JOURNAL_UNAVAILABLE. */
export async function openDatabaseStorage(
  database: DatabaseOptions,
  log: Log,
): Promise<WebhookStorage> {
  const source = sourceOf(database);
  const schemas = new JournalSchemas(source, SEGMENT_PREFIX);
  const connectionsMax = await schemas.connectionsMax();
  if (connectionsMax < CONNECTIONS)
    log({
      level: 'warn',
      message: `The server of the database admits ${connectionsMax} connections, and the webhook service has up to ${CONNECTIONS} once it has deliveries of five weeks. Raise max_connections of the server before.`,
    });
  const values = await ErasableValues.open({ ...source, schema: VALUES_SCHEMA });
  return {
    keyCheck: new DatabaseKeyCheck(values),
    salts: new DatabaseSalts(values),
    tenants: { database },
    segments: segmentsIn(database, schemas),
    close: () => values.close(),
  };
}

function segmentsIn(database: DatabaseOptions, schemas: JournalSchemas): SegmentJournals {
  return {
    async list() {
      const names = await schemas.list();
      return names.flatMap((name) => {
        const [, number] = SEGMENT.exec(name) ?? [];
        return number === undefined ? [] : [Number(number)];
      });
    },
    remove: (number) => schemas.remove(schemaOf(number)),
    journalOf: (number) => ({ database: { ...database, schema: schemaOf(number) } }),
  };
}

function schemaOf(number: number): string {
  return `${SEGMENT_PREFIX}${number}`;
}

function sourceOf({ urlFile, urlVariable, authoritiesFile }: DatabaseOptions): Source {
  return urlFile === undefined
    ? { kind: 'environment', variable: urlVariable, authoritiesFile }
    : { kind: 'file', path: urlFile, authoritiesFile };
}
