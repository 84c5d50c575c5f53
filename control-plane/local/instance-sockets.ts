// InstanceSockets: the sockets at which an instance is reached, opened before it starts and inherited by its process. An instance in a
// network namespace of its own is reached at the addresses of this machine by them, and takes calls of others by a Unix domain socket,
// whose path belongs to no network namespace.
//
// Invariants
// K1  The sockets are bound here and listened on by the instance alone: this process accepts no connection, and until the instance
//     listens, connections are refused.
// K2  The file of a socket for calls has its name until the instance is removed. A new run replaces it.
import { chmodSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { BoundSocket, type BoundSocketOptions } from 'node:net';
import { dirname, join } from 'node:path';
import type { ServiceKey } from '@svc/client';
import { callSocketFile, isSocketsFolderPath, projectSocketsFolder } from '@svc/kit/call-sockets';
import { SvcError } from '@svc/kit/svc-error';
import type { InstanceAddress } from './instance-addresses.ts';
import type { SocketNames } from './launch-command.ts';
import { listenerOf } from './port-listener.ts';

/** Name of a socket that does not have its own name yet. It is shorter than every other name. */
const NEW_SOCKET = 'new.sock';
const PROJECT_FOLDER = /^[0-9a-f]{16}$/;
const CALL_SOCKET = /^[0-9a-f.:]+-\d{1,5}\.sock$/;

/** An instance to which sockets belong. */
export interface SocketOwner extends InstanceAddress {
  readonly key: ServiceKey;
}

export class InstanceSockets implements Disposable {
  /** Names by which the instance takes the sockets, in the order of `fds`. */
  readonly names: readonly string[];
  readonly #sockets: readonly BoundSocket[];

  private constructor(opened: ReadonlyMap<string, BoundSocket>) {
    this.names = [...opened.keys()];
    this.#sockets = [...opened.values()];
  }

  /**
   * Opens the sockets that `names` names, in the order http, management, calls. `socketsFolder`: folder of the sockets for calls; undefined:
   * there are none. Throws SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE, without a path of this machine.
   */
  static open(
    socketsFolder: string | undefined,
    { key, address, ports }: SocketOwner,
    names: SocketNames,
  ): InstanceSockets {
    const opened = new Map<string, BoundSocket>();
    try {
      const { http, management } = ports;
      if (names.http !== undefined && http !== undefined)
        opened.set(names.http, boundPort(address, http));
      if (names.management !== undefined)
        opened.set(names.management, boundPort(address, management));
      if (socketsFolder !== undefined && http !== undefined)
        opened.set(
          names.calls,
          boundFile(
            socketsFolder,
            callSocketFile(socketsFolder, key.project, { host: address, port: http }),
          ),
        );
      return new InstanceSockets(opened);
    } catch (error) {
      for (const socket of opened.values()) socket.close();
      throw error;
    }
  }

  /** File descriptors for `stdio` of the process, from its descriptor 3 on. */
  get fds(): readonly number[] {
    return this.#sockets.map((socket) => socket.fd());
  }

  /** Closes the sockets of this process. Those that a process has inherited stay open there. */
  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket[Symbol.dispose]();
  }
}

/**
 * Returns the folder of the sockets for calls, which is made. Undefined: no instance has one, because this is not Linux, whose namespaces
 * they are for, or because the path is too long. `folder`: of the machine.
 */
export function makeSocketsFolder(folder: string): string | undefined {
  const socketsFolder = join(folder, 'sockets');
  if (process.platform !== 'linux' || !isSocketsFolderPath(socketsFolder)) return undefined;
  mkdirSync(socketsFolder, { recursive: true, mode: 0o700 });
  return socketsFolder;
}

/** Removes the file of the socket of an instance that has ended. */
export function removeCallSocket(
  socketsFolder: string | undefined,
  { key, address: host, ports: { http: port } }: SocketOwner,
): void {
  if (socketsFolder !== undefined && port !== undefined)
    rmSync(callSocketFile(socketsFolder, key.project, { host, port }), { force: true });
}

/** Removes the files of sockets of other instances than these, and the folders of projects without any. No instance may be about to start. */
export function sweepSockets(socketsFolder: string, inUse: readonly SocketOwner[]): void {
  const used = new Set(
    inUse.map(({ key, address: host, ports: { http: port = 0 } }) =>
      callSocketFile(socketsFolder, key.project, { host, port }),
    ),
  );
  const projects = new Set(
    inUse.map(({ key }) => projectSocketsFolder(socketsFolder, key.project)),
  );
  rmSync(join(socketsFolder, NEW_SOCKET), { force: true });
  for (const name of readdirSync(socketsFolder)) {
    const folder = join(socketsFolder, name);
    if (!PROJECT_FOLDER.test(name)) continue;
    for (const socket of readdirSync(folder))
      if (CALL_SOCKET.test(socket) && !used.has(join(folder, socket)))
        rmSync(join(folder, socket), { force: true });
    // A program may have the folder of its project in its sandbox as long as it runs.
    if (!projects.has(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  }
}

function boundPort(host: string, port: number): BoundSocket {
  try {
    return new BoundSocket({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE')
      throw new SvcError(
        'SVC_ADDRESS_UNAVAILABLE',
        `The instance cannot listen on port ${port} of ${host} (${code ?? message}). Set another network with svc.local.network.`,
        { cause: error },
      );
    throw new SvcError(
      'SVC_PORT_IN_USE',
      `Port ${port} of ${host} cannot be had: ${listenerOf(port)} listens there. Stop that program, or let it listen on one address alone.`,
      { cause: error },
    );
  }
}

/** A bound socket removes the file under whose name it was bound when it is closed, so the file gets its name afterwards. */
function boundFile(folder: string, name: string): BoundSocket {
  const file = join(folder, NEW_SOCKET);
  let socket: BoundSocket | undefined;
  try {
    rmSync(file, { force: true });
    // The types of Node lack the path of a socket.
    const options: BoundSocketOptions & { readonly path: string } = { path: file };
    socket = new BoundSocket(options);
    chmodSync(file, 0o600);
    mkdirSync(dirname(name), { recursive: true, mode: 0o700 });
    renameSync(file, name);
    return socket;
  } catch (error) {
    socket?.close();
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SvcError(
      'SVC_ADDRESS_UNAVAILABLE',
      `The socket at which the instance takes calls of services cannot be opened (${code ?? message}). Look at the folder of the machine.`,
      { cause: error },
    );
  }
}
