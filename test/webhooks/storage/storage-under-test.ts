// StorageUnderTest: each kind of storage of the webhook service, empty, for tests that hold on all of them.
import { onTestFinished } from 'vitest';
import type { StorageChoice } from '../../../webhooks/storage/webhook-storage.ts';
import type { FreshDatabase } from '../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Returns a database without anything in it, which is removed at the end of the test. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  const database = await (await PostgresServer.shared('18')).freshDatabase();
  onTestFinished(() => database.end());
  return database;
}

export function storedIn({ source }: FreshDatabase): StorageChoice {
  if (source.kind !== 'file') throw new TypeError('a database of a test has a file');
  return { database: { urlFile: source.path } };
}

export const STORAGES: readonly (readonly [name: string, make: () => Promise<StorageChoice>])[] = [
  ['a folder', () => Promise.resolve({ dataFolder: temporaryFolder() })],
  ['a database', async () => storedIn(await emptyDatabase())],
];
