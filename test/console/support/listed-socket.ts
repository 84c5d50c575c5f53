// ListedSocket: a socket that listens, as the system would list it for a test.
import { LISTENS, type ListedSocket, notationOf } from '../../../console/server/socket-tables.ts';

/** Returns a user of the machine who is neither root nor the one who runs the test. */
export function anotherUser(): number {
  return ownUser() + 1;
}

export function ownUser(): number {
  return process.getuid!();
}

/** `address`: a URL. */
export function listening(address: string, user = ownUser()): ListedSocket {
  const { hostname, port } = new URL(address);
  const local = notationOf({ address: hostname, port: Number(port) });
  return { local, remote: '00000000:0000', state: LISTENS, user, inode: '7' };
}
