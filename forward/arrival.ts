// Arrival: where a request came from, as far as its connection proves it. Nothing in a request can change it.
import type { Caller } from '@svc/identity/caller';

/** The service beside which the proxy runs. */
export interface OwnService {
  readonly service: string;
  /** Undefined on a developer's machine. */
  readonly project: string | undefined;
  /** Port on which the proxy takes requests. */
  readonly port: number;
  /** Domain of derived hostnames, which may have a port; undefined: the installation has none. */
  readonly baseDomain: string | undefined;
  /**
   * Custom hostnames in lower case. If there are any, a request of the internet was addressed to one of them or to the derived
   * hostname, whatever its `Host` says; without any, what `Host` says is believed.
   */
  readonly hostnames?: readonly string[];
}

/** An admitted request. */
export interface Arrival {
  /** The caller of whom the process is informed. */
  readonly caller: Caller;
  /**
   * True: the proxy of another service of the project passed the request, which is under a mount of that service. Its
   * `X-Forwarded-*` are believed.
   */
  readonly isMounted: boolean;
}
