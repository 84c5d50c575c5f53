// SocketTables: the TCP sockets of this machine with their users, as Linux lists them. Other systems list none.
//
// Invariant: an IPv4 address looks the same whether the socket is one of IPv4, or one of IPv6 with a mapped address.
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';

/** An end of a connection over IPv4. */
export interface End {
  readonly address: string;
  readonly port: number;
}

export interface ListedSocket {
  /** Address and port, in the notation of `notationOf`. */
  readonly local: string;
  readonly remote: string;
  /** Two hexadecimal digits, such as LISTENS. */
  readonly state: string;
  readonly user: number;
  /** '0': the socket belongs to no process any more. */
  readonly inode: string;
}

export const ESTABLISHED = '01';
export const LISTENS = '0A';
/** Attempts to read the tables: one of them may be changing, or this process may have too many open files for a moment. */
export const READS_MAX = 3;
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Beginning of an IPv4 address in the table of IPv6, by the order of the bytes of the machine. */
const MAPPED = { LE: '0000000000000000FFFF0000', BE: '00000000000000000000FFFF' } as const;

/** 'not-listed': the system is not Linux. 'unreadable': the tables cannot be read, for example because this process has too many open files. */
export type ListedSockets = readonly ListedSocket[] | 'not-listed' | 'unreadable';
export type SocketReader = () => Promise<ListedSockets>;

/** Returns the sockets that are listed now. A row may be missing from a table that changes while it is read. */
export async function readSockets(tables: readonly string[] = TABLES): Promise<ListedSockets> {
  const texts: string[] = [];
  for (const read of await Promise.allSettled(tables.map((path) => readFile(path, 'utf8')))) {
    if (read.status === 'fulfilled') texts.push(read.value);
    // A machine without IPv6 has no table of it.
    else if ((read.reason as NodeJS.ErrnoException).code !== 'ENOENT') return 'unreadable';
  }
  if (texts.length > 0) return socketsOf(texts.join('\n'));
  return process.platform === 'linux' ? 'unreadable' : 'not-listed';
}

/** Returns the sockets in the text of tables. */
export function socketsOf(tables: string): readonly ListedSocket[] {
  return tables.split('\n').flatMap((line) => {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/);
    if (inode === undefined || !/^\d+$/.test(user!)) return [];
    return [
      {
        local: withoutMapping(local!),
        remote: withoutMapping(remote!),
        state: state!,
        user: Number(user),
        inode,
      },
    ];
  });
}

/** Returns an end as the tables have it. */
export function notationOf({ address, port }: End): string {
  return `${addressNotation(address)}:${portNotation(port)}`;
}

/** Returns an IPv4 address as the tables have it: in the order of the bytes of the machine. */
export function addressNotation(address: string): string {
  const bytes = Buffer.from(address.split('.').map(Number));
  if (endianness() === 'LE') bytes.reverse();
  return bytes.toString('hex').toUpperCase();
}

export function portNotation(port: number): string {
  return port.toString(16).padStart(4, '0').toUpperCase();
}

function withoutMapping(end: string): string {
  const prefix = MAPPED[endianness()];
  return end.startsWith(prefix) ? end.slice(prefix.length) : end;
}
