// WebhookDatabase: the database of the webhook service on the PostgreSQL server of an installation.
//
// Invariant: what the service has stored stays where it is. One that has data in its folder gets no database, and one that has a database keeps
// it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '@svc/kit/durable-file';
import type { MachineLayout } from './machine-layout.ts';

/** Name of the database and of its role. Those of other services end with a hash. */
const NAME = 'webhook_service';
/** Owner of the database in its comment. The server is this installation's alone. */
const INSTALLATION = 'one-machine';

export interface WebhookDatabase {
  readonly urlFile: string;
  /** Makes the database unless there is one. The server runs. Rejects with an SvcError. */
  make(): Promise<void>;
}

/** Returns undefined if the service has its data in its folder. */
export function webhookDatabase({
  webhooks,
  postgresUrlFile,
}: MachineLayout): WebhookDatabase | undefined {
  const urlFile = join(webhooks, 'database.url');
  const isMade = existsSync(urlFile);
  if (!isMade && existsSync(join(webhooks, 'tenants'))) return undefined;
  return {
    urlFile,
    async make() {
      if (existsSync(urlFile)) return;
      const { makeServiceDatabase } = await import('@svc/host/service-database');
      const server = { kind: 'file', path: postgresUrlFile } as const;
      await writeDurably(urlFile, `${await makeServiceDatabase(server, NAME, INSTALLATION)}\n`);
    },
  };
}
