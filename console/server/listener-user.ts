// ListenerUser: the users of the machine who listen at an address of its loopback interface. A service that ended leaves its port to
// everybody.
import type { LoopbackAddress } from '@svc/kit/loopback-address';
import {
  LISTENS,
  type ListedSocket,
  addressNotation,
  portNotation,
  READS_MAX,
  readSockets,
  type SocketReader,
} from './socket-tables.ts';

const ROOT = 0;
/** The notations of ::1, for machines of either order of bytes. */
const LOOPBACK_6 = [`${'0'.repeat(24)}01000000`, `${'0'.repeat(31)}1`];
const ALL_INTERFACES_4 = '0'.repeat(8);
/** A socket that listens there may take connections of IPv4, too. */
const ALL_INTERFACES_6 = '0'.repeat(32);

/** 'own': the user who runs the console, or root. 'unreadable': the system does not say who listens. */
export type Listener = 'own' | 'another' | 'nobody' | 'unreadable';

/** Returns who listens at the address; 'own' where the system does not list sockets with their users. */
export async function listenerAt(
  address: LoopbackAddress,
  sockets: SocketReader = readSockets,
): Promise<Listener> {
  const ownUser = process.getuid?.();
  if (ownUser === undefined) return 'own';
  let found: Listener = 'nobody';
  for (let read = 1; read <= READS_MAX; read += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a further read is needed if this one finds nothing
    const listed = await sockets();
    if (listed === 'not-listed') return 'own';
    const users = listed === 'unreadable' ? [] : listenersAt(listed, address);
    if (users.length > 0)
      return users.every((user) => user === ownUser || user === ROOT) ? 'own' : 'another';
    found = listed === 'unreadable' ? listed : 'nobody';
  }
  return found;
}

/** Returns the users whose sockets may accept connections to the address. */
export function listenersAt(
  sockets: readonly ListedSocket[],
  { host, port }: LoopbackAddress,
): readonly number[] {
  const suffix = `:${portNotation(port)}`;
  const addresses = host === '::1' ? LOOPBACK_6 : [addressNotation(host), ALL_INTERFACES_4];
  const ends = new Set([...addresses, ALL_INTERFACES_6].map((end) => `${end}${suffix}`));
  return sockets
    .filter(({ local, state }) => state === LISTENS && ends.has(local))
    .map(({ user }) => user);
}
