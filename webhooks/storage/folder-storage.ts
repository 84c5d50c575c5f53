// FolderStorage: the storage of the webhook service in its data folder.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SegmentFolders } from '../segments/segment-folders.ts';
import { FolderKeyCheck } from '../subscriptions/folder-key-check.ts';
import { FolderSalts } from '../subscriptions/salts.ts';
import type { WebhookStorage } from './webhook-storage.ts';

/** Makes the folder unless it is there. Rejects with the errors of the file system. */
export async function openFolderStorage(dataFolder: string): Promise<WebhookStorage> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const folders = new SegmentFolders(join(dataFolder, 'segments'));
  return {
    keyCheck: new FolderKeyCheck(dataFolder),
    salts: await FolderSalts.open(dataFolder),
    tenants: { dataFolder: join(dataFolder, 'tenants') },
    segments: {
      list: () => folders.list(),
      remove: (number) => folders.remove(number),
      journalOf: (number) => ({ dataFolder: folders.folderOf(number) }),
    },
    close() {},
  };
}
