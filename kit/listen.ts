// Listen: binds a server of a program to its address, and words the errors for its operator.
import type { AddressInfo, Server } from 'node:net';
import { SvcError } from './svc-error.ts';

export interface ListenAddress {
  /** A name or an address of this machine. */
  readonly host: string;
  /** From 0 to 65535; 0 takes any free port. */
  readonly port: number;
  /** True: other servers of this process listen on the same address; the system gives each connection to one server. */
  readonly isShared?: boolean;
  /** A socket that listens already, by its file descriptor; host and port are then its own. Absent: a new one is opened. */
  readonly fd?: number;
}

/** Words of an error: the server that listens, and how another address is chosen. */
export interface ListenWords {
  /** `the management server`; absent: the program as a whole. */
  readonly server?: string;
  /** Absent: the address cannot be chosen. */
  readonly settings?: AddressNames;
}

/** Flags, settings or options of an address: `--host`, `svc.management.port`, `the option http.port`. */
export interface AddressNames {
  /** Absent: the host cannot be chosen. */
  readonly host?: string;
  readonly port: string;
}

/** Listens, and resolves with the actual address. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
export async function listen(
  server: Server,
  address: ListenAddress,
  words: ListenWords,
): Promise<ListenAddress> {
  const { host, port, isShared = false, fd } = address;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: Error): void => reject(listenFailure(error, address, words));
  server.once('error', onError);
  server.listen(
    fd === undefined ? { host, port, reusePort: isShared, exclusive: !isShared } : { fd },
    resolve,
  );
  await promise;
  server.off('error', onError);
  const bound = server.address() as AddressInfo | null;
  if (bound !== null) return { host: bound.address, port: bound.port };
  // Only a socket that was given can be of another kind.
  server.close();
  throw givenSocketFailure(fd!, 'it has no port', 'TCP');
}

/** Listens on a Unix domain socket that was given. Rejects with SVC_ADDRESS_UNAVAILABLE. */
export async function listenOnUnixSocket(server: Server, fd: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: NodeJS.ErrnoException): void =>
    reject(givenSocketFailure(fd, error.code ?? error.message, 'Unix domain', error));
  server.once('error', onError);
  server.listen({ fd }, resolve);
  await promise;
  server.off('error', onError);
  // Node reports the path of a socket only if it has bound the socket itself.
  if (server.address() === null) return;
  server.close();
  throw givenSocketFailure(fd, 'it has a port', 'Unix domain');
}

/** Returns the address of an HTTP server as a URL: `http://127.0.0.1:9000`, `https://[::1]:9000`. */
export function httpUrl(
  { host, port }: Pick<ListenAddress, 'host' | 'port'>,
  scheme: 'http' | 'https' = 'http',
): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function listenFailure(
  error: NodeJS.ErrnoException,
  { host, port, fd }: ListenAddress,
  { server, settings }: ListenWords,
): SvcError {
  // A socket that was bound can lose its port to another one that listens first.
  if (fd !== undefined && error.code === 'EADDRINUSE')
    return new SvcError(
      'SVC_PORT_IN_USE',
      `The port of the socket that was given with the file descriptor ${fd} is in use by another program. Stop that program.`,
      { cause: error },
    );
  if (fd !== undefined) return givenSocketFailure(fd, error.code ?? error.message, 'TCP', error);
  const wanted = server === undefined ? '' : `, which ${server} takes,`;
  if (error.code === 'EADDRINUSE')
    return new SvcError(
      'SVC_PORT_IN_USE',
      `Port ${port} of ${host}${wanted} is in use by another program. ` +
        (settings === undefined
          ? 'Stop that program.'
          : `Stop that program, or choose another port with ${settings.port}.`),
      { cause: error },
    );
  return new SvcError(
    'SVC_ADDRESS_UNAVAILABLE',
    `The address ${host}, port ${port}${wanted || ','} cannot be listened on (${error.code ?? error.message}). ` +
      remedy(settings),
    { cause: error },
  );
}

function givenSocketFailure(
  fd: number,
  reason: string,
  wanted: 'TCP' | 'Unix domain',
  cause?: Error,
): SvcError {
  return new SvcError(
    'SVC_ADDRESS_UNAVAILABLE',
    `The socket that was given with the file descriptor ${fd} cannot be listened on (${reason}). Give a ${wanted} socket that listens.`,
    { cause },
  );
}

function remedy(settings: AddressNames | undefined): string {
  if (settings === undefined) return 'Look at the network of this machine.';
  const { host, port } = settings;
  return host === undefined
    ? `Choose a port from 1024 on with ${port}.`
    : `Choose an address of this machine with ${host}, and a port from 1024 on with ${port}.`;
}
