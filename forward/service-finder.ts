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
  /** `reason`: for the log, worded to follow a colon. */
  | { readonly kind: 'not-found'; readonly reason: string };

export interface ServiceFinder {
  /** Never rejects. A finder answers within seconds, whatever happens to what it asks. */
  find(called: ServiceReference): Promise<FoundService>;
  /** Ends what the finder does in the background. */
  close(): void;
}

/** Maximum number of addresses of one service that a finder reads; further ones are ignored. */
export const ADDRESSES_MAX = 100;

export function notFound(reason: string): FoundService {
  return { kind: 'not-found', reason };
}
