// PortListener: which program listens at a port of this machine, for messages. Linux shows sockets and their processes below /proc: those of
// this user, and all of them to root.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { printable } from '@svc/kit/printable';

/** State of a socket that listens. */
const LISTENING = '0A';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Returns the program in words: `the process 4711 (python3)`, or `another program`. */
export function listenerOf(port: number): string {
  const inodes = listeningSockets(port);
  for (const pid of inodes.size === 0 ? [] : namesIn('/proc').filter((name) => /^\d+$/.test(name)))
    if (namesIn(`/proc/${pid}/fd`).some((fd) => inodes.has(linkOf(`/proc/${pid}/fd/${fd}`))))
      return `the process ${pid} (${printable(textOf(`/proc/${pid}/comm`).trim())})`;
  return 'another program';
}

/** Returns the sockets that listen at the port, as links in the folders of processes show them: `socket:[1234]`. */
function listeningSockets(port: number): ReadonlySet<string> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const found = new Set<string>();
  for (const line of TABLES.flatMap((table) => textOf(table).split('\n').slice(1))) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === LISTENING && local.endsWith(wanted)) found.add(`socket:[${inode}]`);
  }
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
