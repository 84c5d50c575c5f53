// ServiceFinder: where the instances of a called or mounted service listen. There is one for each environment: DNS in a
// cluster, a file of a local orchestrator, and the registrations of a developer's machine.
import type { ServiceReference } from '@svc/client';

/** Address of an instance. */
export interface InstanceAddress {
  /** IPv4 or IPv6 address, never a name. */
  readonly host: string;
  readonly port: number;
}

export type FoundService =
  | {
      readonly kind: 'found';
      /** Value of `Host` for requests to the service. */
      readonly authority: string;
      /**
       * True: the service is web-hosted on a developer's machine. No connection there shows that a request is under a mount, so
       * what serves it takes the address that the mounting service states from `Host`.
       */
      readonly takesAddressFromHost?: boolean;
      /** At least one, in the order in which they should be tried. */
      readonly addresses: readonly InstanceAddress[];
    }
  /** One instance of the service takes over from another: no request is to be sent. `key`: `<project>/<service>`. */
  | { readonly kind: 'held'; readonly key: string }
  /** `reason`: for the log, worded to follow a colon. */
  | { readonly kind: 'not-found'; readonly reason: string };

export interface ServiceFinder {
  /**
   * Never rejects. A finder answers within seconds, whatever happens to what it asks. `isFresh`: what is known may be old, because an
   * instance was not reached.
   */
  find(called: ServiceReference, isFresh?: boolean): Promise<FoundService>;
  /** Calls `listener` with the key of each service that is not held any more. Absent: no service is ever held. */
  onReleased?(listener: (key: string) => void): void;
  /** Ends what the finder does in the background. */
  close(): void;
}

/** Maximum number of addresses of one service that a finder reads; further ones are ignored. */
export const ADDRESSES_MAX = 100;

export function notFound(reason: string): FoundService {
  return { kind: 'not-found', reason };
}
