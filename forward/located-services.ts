// LocatedServices: where called services are, and the requests that wait for one that is being replaced.
import type { ServiceReference } from '@svc/client';
import { HeldRequests, type HoldLimits } from './held-requests.ts';
import type { FoundService, ServiceFinder } from './service-finder.ts';

export type Located =
  | Exclude<FoundService, { readonly kind: 'held' }>
  | { readonly kind: 'held-too-long' | 'too-many-held' };

export class LocatedServices {
  readonly #finder: ServiceFinder;
  readonly #held: HeldRequests;

  constructor(finder: ServiceFinder, limits: HoldLimits) {
    this.#finder = finder;
    this.#held = new HeldRequests(limits);
    finder.onReleased?.((key) => this.#held.release(key));
  }

  /** Number of requests that wait. */
  get held(): number {
    return this.#held.count;
  }

  /** Whether a service that was not reached may be found elsewhere at once, or be held. */
  get canHold(): boolean {
    return this.#finder.onReleased !== undefined;
  }

  /**
   * Calls `located` once, later. `isFresh`: see `ServiceFinder.find`; `hasWaited`: whether the service was held. Returns the function that
   * forgets the request.
   */
  locate(
    called: ServiceReference,
    isFresh: boolean,
    located: (to: Located, hasWaited: boolean) => void,
  ): () => void {
    let isForgotten = false;
    let forget: (() => void) | undefined;
    const look = async (fresh: boolean, hasWaited: boolean): Promise<void> => {
      const found = await this.#finder.find(called, fresh);
      if (isForgotten) return;
      if (found.kind !== 'held') {
        located(found, hasWaited);
        return;
      }
      forget = this.#held.add(found.key, (end) => {
        if (end === 'released') void look(false, true);
        else located({ kind: end === 'full' ? 'too-many-held' : 'held-too-long' }, true);
      });
    };
    void look(isFresh, false);
    return () => {
      isForgotten = true;
      forget?.();
    };
  }

  close(): void {
    this.#finder.close();
  }
}
