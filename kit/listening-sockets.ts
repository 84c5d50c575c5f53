// ListeningSockets: sockets that a program is given at its start, by systemd or by a program that does as systemd (sd_listen_fds(3)), and
// the variables by which they are given. The sockets go on listening while the program is started again, so no connection is refused meanwhile.

/** The first file descriptor that is given. */
const FIRST_FD = 3;
const SOCKETS_MAX = 16;

/** The variables by which sockets are given. */
export interface SocketVariables {
  readonly LISTEN_PID?: string | undefined;
  readonly LISTEN_FDS?: string | undefined;
  readonly LISTEN_FDNAMES?: string | undefined;
}

export interface ListeningSocket {
  readonly fd: number;
  /** Name that the supervisor has given to the socket; empty: none. */
  readonly name: string;
}

/** Returns the variables for a child of the process `pid` that has a socket for each name, from file descriptor 3 on. */
export function socketVariables(
  names: readonly string[],
  pid: number,
): Readonly<Record<keyof SocketVariables, string>> {
  return {
    LISTEN_PID: String(pid),
    LISTEN_FDS: String(names.length),
    LISTEN_FDNAMES: names.join(':'),
  };
}

/** Takes the sockets that were given to this process out of its environment, so that a child does not take them for its own. */
export function takeListeningSockets(
  env: Record<string, string | undefined>,
  pids: readonly number[],
): readonly ListeningSocket[] {
  const sockets = listeningSockets(env, pids);
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name];
  return sockets;
}

/**
 * Returns the sockets that were given to this process. `pids`: ids of processes to which sockets may have been given: this one, and the
 * one that has started it and passes its sockets on.
 */
export function listeningSockets(
  variables: SocketVariables,
  pids: readonly number[],
): readonly ListeningSocket[] {
  const { LISTEN_PID, LISTEN_FDS = '', LISTEN_FDNAMES = '' } = variables;
  if (!pids.some((pid) => String(pid) === LISTEN_PID)) return [];
  const count = /^\d{1,2}$/.test(LISTEN_FDS) ? Math.min(Number(LISTEN_FDS), SOCKETS_MAX) : 0;
  const names = LISTEN_FDNAMES.split(':');
  return Array.from({ length: count }, (_none, index) => ({
    fd: FIRST_FD + index,
    name: names[index] ?? '',
  }));
}
