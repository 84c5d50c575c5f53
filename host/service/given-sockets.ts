// GivenSockets: the sockets that a deployed service is given at its start (kit/listening-sockets.ts), by their names. A service in a network
// namespace of its own is reached by them.
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import { SvcError } from '@svc/kit/svc-error';
import type { ServiceCode } from './service-code.ts';

/** File descriptors; undefined: the service opens the socket itself, and has none for calls. */
export interface GivenSockets {
  readonly http?: number;
  readonly management?: number;
  /** A Unix domain socket at which services call this one that cannot reach its address. */
  readonly calls?: number;
}

const NAMES = ['http', 'management', 'calls'] as const;

/** Sockets with other names are not the service's. */
export function givenSockets(sockets: readonly ListeningSocket[]): GivenSockets {
  const named = NAMES.flatMap((name) => {
    const found = sockets.find((socket) => socket.name === name);
    return found === undefined ? [] : [[name, found.fd] as const];
  });
  return Object.fromEntries(named);
}

/**
 * Throws SVC_SETTING_INVALID if a service that runs a module is given its port: several shards cannot share one socket. Beside a process the
 * runtime may have a network of its own, and is reached by that socket alone.
 */
export function checkModuleSockets(
  { http }: GivenSockets,
  { kind }: Pick<ServiceCode, 'kind'>,
): void {
  if (http === undefined || kind === 'process') return;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    'The service was given the socket http (LISTEN_FDNAMES), and each of its shards opens one of its own: leave it out, and set ' +
      'svc.http.host and svc.http.port.',
  );
}
