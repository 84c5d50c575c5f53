// ConnectionUser: the user of the machine whose program has opened a connection to the console. All users of a machine
// reach its loopback interface, and what the console does with a login must not be open to the others.
//
// Invariant: a connection whose end is closed, or belongs to no process any more, has no user. The system lists such an end as one
// of root.
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { Socket } from 'node:net';

/** The ends of a connection over IPv4. */
export interface ConnectionEnds {
  readonly client: End;
  readonly server: End;
}
interface End {
  readonly address: string;
  readonly port: number;
}

/** The connections of this machine, which Linux has. A client may have an IPv6 socket for an IPv4 address. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
const ROOT = 0;
/** A row may be missing from a table that changes while it is read. */
const READS_MAX = 3;
/** Beginning of an IPv4 address in the table of IPv6, by the order of the bytes of the machine. */
const MAPPED = { LE: '0000000000000000FFFF0000', BE: '00000000000000000000FFFF' } as const;

const checked = new WeakSet<Socket>();

/**
 * Returns whether the connection is one of the user who runs the console, or of root; true where the system does not list
 * connections with their users.
 */
export async function isOfThisUser(socket: Socket): Promise<boolean> {
  const ownUser = process.getuid?.();
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (ownUser === undefined || checked.has(socket)) return true;
  if (remoteAddress === undefined || localAddress === undefined) return false;
  const ends: ConnectionEnds = {
    client: { address: remoteAddress, port: remotePort! },
    server: { address: localAddress, port: localPort! },
  };
  for (let read = 1; read <= READS_MAX; read += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a further read is needed if this one finds nothing
    const user = userIn(await readTables(), ends);
    if (user === 'not-listed') return true;
    if (user === undefined) continue;
    if (user !== ownUser && user !== ROOT) return false;
    checked.add(socket);
    return true;
  }
  return false;
}

/**
 * Finds the user of the client's end in tables of connections. Undefined: the end is closed; a connection that was reset has left the
 * tables. 'not-listed': the tables do not have the server's end, not even as that which listens.
 */
export function userIn(
  tables: string,
  { client, server }: ConnectionEnds,
): number | 'not-listed' | undefined {
  const [clientEnd, serverEnd] = [hexOf(client), hexOf(server)];
  let isListed = false;
  for (const line of tables.split('\n')) {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/);
    if (local === undefined || remote === undefined) continue;
    const [from, to] = [withoutMapping(local), withoutMapping(remote)];
    if (from === serverEnd) isListed = true;
    if (from !== clientEnd || to !== serverEnd) continue;
    if (state === ESTABLISHED && inode !== '0') return Number(user);
  }
  return isListed ? undefined : 'not-listed';
}

async function readTables(): Promise<string> {
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'utf8').catch(() => '')));
  return texts.join('\n');
}

/** Returns an end as the tables have it: the address in the order of the bytes of the machine. */
function hexOf({ address, port }: End): string {
  const bytes = Buffer.from(address.split('.').map(Number));
  if (endianness() === 'LE') bytes.reverse();
  const portText = port.toString(16).padStart(4, '0');
  return `${bytes.toString('hex')}:${portText}`.toUpperCase();
}

function withoutMapping(end: string): string {
  const prefix = MAPPED[endianness()];
  return end.startsWith(prefix) ? end.slice(prefix.length) : end;
}
