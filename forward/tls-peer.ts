// TlsPeer: what a connection of mutual TLS proves: who calls, and whether the protocol of mounts was negotiated.
import { MOUNT_PROTOCOL } from '@svc/client';
import type { ServerExchange } from '@svc/http1';
import type { ServerTls } from '@svc/identity/server-tls';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './admission.ts';

/** Protocols that the service port offers. A client that names none sends ordinary requests. */
export const SERVICE_PROTOCOLS: readonly string[] = ['http/1.1', MOUNT_PROTOCOL];

/** Returns the peer of an exchange on a connection that `tls` has accepted. */
export function tlsPeer(tls: ServerTls, { socket }: ServerExchange): Peer {
  const { caller, protocol } = tls.peerOf(socket as TLSSocket);
  return { caller, isMount: protocol === MOUNT_PROTOCOL };
}
