// Console: the entry point of the package. It serves the page, on the loopback interface and nowhere else.
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { consoleServer } from './console-server.ts';
import { readPage } from './page-files.ts';
import { RunningServices } from './running-services.ts';

export interface ConsoleOptions {
  /** Port; 0 takes a free one. */
  readonly port: number;
  /** Folder in which services register. */
  readonly runningFolder: string;
  /** Folder of the built page; absent: the package's own. */
  readonly pageFolder?: string;
  /** Deadline of a service's introspection, in milliseconds; absent: longer than the service's own. */
  readonly observedDeadlineMs?: number;
  /** Called with an error that is a bug of the console. */
  readonly failed: (error: unknown) => void;
}

export interface Console {
  readonly url: string;
  /** Closes at once: running requests are cut off. */
  close(): Promise<void>;
}

/** A failure with a code of docs/errors. */
export class ConsoleFailure extends Error {
  readonly code: `SVC_${string}`;

  constructor(code: `SVC_${string}`, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'ConsoleFailure';
    this.code = code;
  }
}

const HOST = '127.0.0.1';
const OBSERVED_DEADLINE_MS = 6_000;
const PAGE_FOLDER = join(import.meta.dirname, '..', 'public');

/** Starts the console. Rejects with SVC_CONSOLE_UNAVAILABLE, SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { port, runningFolder, failed } = options;
  const { pageFolder = PAGE_FOLDER, observedDeadlineMs = OBSERVED_DEADLINE_MS } = options;
  const page = readPage(pageFolder);
  if (page === undefined)
    throw new ConsoleFailure(
      'SVC_CONSOLE_UNAVAILABLE',
      `The console's page is not in ${pageFolder}. Install the package @svc/console again.`,
    );
  const services = new RunningServices(runningFolder);
  const server = consoleServer({ page, services, observedDeadlineMs, failed });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error) => reject(listenFailure(error, port)));
  server.listen(port, HOST, resolve);
  await promise;
  // The event reports a connection that cannot be accepted, for example when this process may open no more files.
  server.on('error', failed);
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

function listenFailure(error: NodeJS.ErrnoException, port: number): ConsoleFailure {
  if (error.code === 'EADDRINUSE')
    return new ConsoleFailure(
      'SVC_PORT_IN_USE',
      `Port ${port} of ${HOST} is in use by another program; it may be another console. ` +
        'Stop that program, or choose another port with --port.',
      { cause: error },
    );
  return new ConsoleFailure(
    'SVC_ADDRESS_UNAVAILABLE',
    `Port ${port} of ${HOST} cannot be listened on (${error.code ?? error.message}). ` +
      'Choose a port from 1024 on with --port.',
    { cause: error },
  );
}
