// Console: the entry point of the package. It serves the page, on the loopback interface and nowhere else.
import { join } from 'node:path';
import { developmentKeyFile as keyFileOfUser } from '@svc/kit/development-key-file';
import { httpUrl, listen, type ListenWords } from '@svc/kit/listen';
import { SvcError } from '@svc/kit/svc-error';
import { consoleServer } from './console-server.ts';
import { readPage } from './page-files.ts';
import { RunningServices } from './running-services.ts';
import { readSockets, type SocketReader } from './socket-tables.ts';
import type { ConsoleWebhooks } from './webhook-requests.ts';

export type { ConsoleWebhooks } from './webhook-requests.ts';

export interface ConsoleOptions {
  /** Port; 0 takes a free one. */
  readonly port: number;
  /** Folder in which services register. */
  readonly runningFolder: string;
  /** Folder of the built page; absent: the package's own. */
  readonly pageFolder?: string;
  /** Time limit for an answer of a service's introspection, in milliseconds; absent: OBSERVED_DEADLINE_MS. */
  readonly observedDeadlineMs?: number;
  /** Absent: no tenant is chosen, and the pages of webhooks say how to choose one. */
  readonly webhooks?: ConsoleWebhooks;
  /** Returns the path of the key that signs development tokens; absent: that of the user. */
  readonly developmentKeyFile?: () => string;
  /** Lists the sockets of the machine with their users; absent: as the system does. */
  readonly sockets?: SocketReader;
  /** Called with an error that is a bug of the console, or the reason why a connection was not accepted. */
  readonly failed: (error: unknown) => void;
}

export interface Console {
  readonly url: string;
  /** Closes at once: running requests are cut off. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const WORDS: ListenWords = {
  server: 'the console',
  settings: { port: '--port' },
};
const OBSERVED_DEADLINE_MS = 6_000;
const PAGE_FOLDER = join(import.meta.dirname, '..', 'public');

/** Starts the console. Rejects with SVC_CONSOLE_UNAVAILABLE, SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { port, runningFolder, webhooks, failed } = options;
  const { pageFolder = PAGE_FOLDER, observedDeadlineMs = OBSERVED_DEADLINE_MS } = options;
  const { developmentKeyFile = keyFileOfUser, sockets = readSockets } = options;
  const page = readPage(pageFolder);
  if (page === undefined)
    throw new SvcError(
      'SVC_CONSOLE_UNAVAILABLE',
      `The console's page is not in ${pageFolder}. Install the package @svc/console again.`,
    );
  const services = new RunningServices(runningFolder);
  const server = consoleServer({
    page,
    services,
    observedDeadlineMs,
    webhooks,
    developmentKeyFile,
    sockets,
    failed,
  });
  const address = await listen(server, { host: HOST, port }, WORDS);
  // The event reports a connection that cannot be accepted, for example when this process may open no more files.
  server.on('error', failed);
  return {
    url: httpUrl(address),
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
