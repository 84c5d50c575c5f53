// JournalTier says where embedded services of tests have their journals: in the main tier in memory or in folders, and in the project
// `long-database` (vitest.config.ts) in PostgreSQL, each in a database of its own.
import { PostgresServer } from './postgres-server.ts';

/** Whether the journals of this run are in PostgreSQL. */
export const isInDatabase = process.env['SVC_TEST_JOURNAL'] === 'postgres';
if (isInDatabase)
  console.log('tests that work on the files of a data folder run in the main tier alone');

interface InDatabase {
  readonly database: { readonly urlFile: string };
}

/** Returns the storage of a service: what is given, or a fresh database if the journals of this run are in PostgreSQL. */
export async function orDatabase<Storage extends object>(
  given: () => Storage,
): Promise<Storage | InDatabase> {
  if (!isInDatabase) return given();
  const { source } = await (await PostgresServer.shared('18')).freshDatabase();
  if (source.kind !== 'file') throw new Error('the URL of a test is in a file');
  return { database: { urlFile: source.path } };
}

/** Returns the names of the storages with which the tests of this run are repeated, each with a function that makes it. */
export function storages<Storage extends object>(
  onDisk: () => Storage,
): readonly (readonly [
  name: string,
  make: () => Promise<Storage | InDatabase | { readonly journal: 'memory' }>,
])[] {
  if (isInDatabase) return [['in PostgreSQL', () => orDatabase(onDisk)]];
  return [
    ['in memory', async () => ({ journal: 'memory' as const })],
    ['on disk', async () => onDisk()],
  ];
}
