// ServiceRelay: relays a request to a service that is being found. Its body is not read until then.
import type { ServerExchange } from '@svc/http1';
import { respondWith } from './answer-response.ts';
import { answer, type ProxyAnswer } from './answers.ts';
import type { ForwardedHead } from './forwarded-head.ts';
import type { KeptBodies } from './kept-bodies.ts';
import { Relay } from './relay.ts';
import type { ServiceTarget } from './service-targets.ts';

export interface ServiceRelayOptions {
  /** `onWait` receives the function that forgets a request that is held. */
  readonly find: (onWait: (forget: () => void) => void) => Promise<ServiceTarget | ProxyAnswer>;
  readonly headFor: (target: ServiceTarget) => ForwardedHead;
  readonly keptBodies: KeptBodies;
  /** Receives errors of the proxy itself. */
  readonly onError: (error: unknown) => void;
}

export function relayToService(
  exchange: ServerExchange,
  { find, headFor, keptBodies, onError }: ServiceRelayOptions,
): void {
  let isGone = false;
  let forget: (() => void) | undefined;
  const onGone = (): void => {
    isGone = true;
    forget?.();
  };
  exchange.onGone = onGone;
  find((whenGone) => (forget = whenGone))
    .then((target) => {
      if (isGone) return;
      if ('kind' in target) respondWith(exchange, target);
      else new Relay(exchange, headFor(target), target, keptBodies).start();
    })
    .catch((error: unknown) => {
      onError(error);
      if (!isGone) respondWith(exchange, answer('proxy-failed', {}));
    });
}
