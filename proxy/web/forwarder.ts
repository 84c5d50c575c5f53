// Forwarder: what `svc web` needs of the forwarding. It takes requests for the service, and passes them to the process or
// to a mounted service; and it takes the process's own calls, and passes them to the services of this machine.
import type { Mount } from '@svc/client';
import type { Log } from '@svc/kit/log';

export interface ForwarderOptions {
  /** Name of the service. */
  readonly name: string;
  /** Port of the loopback interface on which it takes requests for the service; 0: a free one. */
  readonly port: number;
  /** Returns the port of the loopback interface on which the process listens now. */
  readonly processPort: () => number;
  readonly mounts: readonly Mount[];
  /** Folder in which the services of this machine register; undefined: no service can be called. */
  readonly runningFolder: string | undefined;
  readonly log: Log;
}

export interface Forwarder {
  /** URL at which it takes requests for the service. */
  readonly url: string;
  /** URL at which the process calls other services. */
  readonly servicesUrl: string;
  /** Takes no new requests, lets those in flight finish within a limit, and resolves once all connections are closed. */
  close(): Promise<void>;
}

/** Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
export type OpenForwarder = (options: ForwarderOptions) => Promise<Forwarder>;
