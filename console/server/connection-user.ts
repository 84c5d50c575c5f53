// ConnectionUser: the user of the machine whose program has opened a connection to the console. All users of a machine
// reach its loopback interface, and what the console does with a login must not be open to the others.
//
// Invariant: a connection whose end is closed, or belongs to no process any more, has no user. The system lists such an end as one
// of root.
import type { Socket } from 'node:net';
import {
  type End,
  ESTABLISHED,
  type ListedSocket,
  notationOf,
  READS_MAX,
  readSockets,
  type SocketReader,
} from './socket-tables.ts';

/** The ends of a connection over IPv4. */
export interface ConnectionEnds {
  readonly client: End;
  readonly server: End;
}

const ROOT = 0;

const checked = new WeakSet<Socket>();

/** 'own': the user who runs the console, or root. 'unreadable': the system does not say whose the connection is. */
export type Opener = 'own' | 'another' | 'unreadable';

/** Returns who has opened the connection; 'own' where the system does not list connections with their users. */
export async function openerOf(
  socket: Socket,
  sockets: SocketReader = readSockets,
): Promise<Opener> {
  const ownUser = process.getuid?.();
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (ownUser === undefined || checked.has(socket)) return 'own';
  if (remoteAddress === undefined || localAddress === undefined) return 'another';
  const ends: ConnectionEnds = {
    client: { address: remoteAddress, port: remotePort! },
    server: { address: localAddress, port: localPort! },
  };
  let found: Opener = 'another';
  for (let read = 1; read <= READS_MAX; read += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a further read is needed if this one finds nothing
    const listed = await sockets();
    if (listed === 'not-listed') return 'own';
    found = listed === 'unreadable' ? listed : 'another';
    const user = listed === 'unreadable' ? undefined : userIn(listed, ends);
    if (user === 'not-listed') return 'own';
    if (user === undefined) continue;
    if (user !== ownUser && user !== ROOT) return 'another';
    checked.add(socket);
    return 'own';
  }
  return found;
}

/**
 * Finds the user of the client's end. Undefined: the end is closed; a connection that was reset is no longer
 * listed. 'not-listed': nor is the server's end, not even its listening socket.
 */
export function userIn(
  sockets: readonly ListedSocket[],
  { client, server }: ConnectionEnds,
): number | 'not-listed' | undefined {
  const [clientEnd, serverEnd] = [notationOf(client), notationOf(server)];
  const found = sockets.find(
    ({ local, remote, state, inode }) =>
      local === clientEnd && remote === serverEnd && state === ESTABLISHED && inode !== '0',
  );
  if (found !== undefined) return found.user;
  return sockets.some(({ local }) => local === serverEnd) ? undefined : 'not-listed';
}
