// OpenStorage opens the storage that the operator has chosen.
import type { Log } from '@svc/kit/log';
import { openFolderStorage } from './folder-storage.ts';
import type { StorageChoice, WebhookStorage } from './webhook-storage.ts';

/** `log` receives what an operator should change soon. Rejects with SVC_DATA_UNUSABLE, and as connecting to the database does. */
export async function openStorage(
  { dataFolder, database }: StorageChoice,
  log: Log,
): Promise<WebhookStorage> {
  if (database === undefined) return await openFolderStorage(dataFolder);
  // Installations with a folder do not load the client of the database.
  const { openDatabaseStorage } = await import('./database-storage.ts');
  return await openDatabaseStorage(database, log);
}
