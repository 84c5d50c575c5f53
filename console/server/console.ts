// Console: the package's one door. It serves the page, on the loopback interface and nowhere else.
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { consoleServer } from './console-server.ts';
import { readPage } from './page-files.ts';
import { RunningServices } from './running-services.ts';

export interface ConsoleOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Where services register. */
  readonly runningFolder: string;
  /** The page as it was built; left out: the package's own. */
  readonly pageFolder?: string;
  /** For a service to show what it is asked for; left out: longer than the service itself gives it. */
  readonly observedDeadlineMs?: number;
  /** Told of a bug of the console. */
  readonly failed: (error: unknown) => void;
}

export interface Console {
  readonly url: string;
  /** At once: what is under way is cut off. */
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

/** Rejects with SVC_CONSOLE_UNAVAILABLE, SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. */
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
  // A connection that cannot be accepted, as when this process may open no more files.
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
