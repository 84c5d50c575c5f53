// ServiceTargets: the services that are called or mounted, and the connections to their instances. A pool belongs to one
// address, one identity and one protocol, so no connection is used for another service or purpose.
import { isDeepStrictEqual } from 'node:util';
import { MOUNT_PROTOCOL, type ServiceKey, type ServiceReference } from '@svc/client';
import { DEFAULT_CLIENT_LIMITS, Pool, type ClientFailure, type Sweep } from '@svc/http1';
import { answer, type NamedService, type ProxyAnswer } from './answers.ts';
import { type ForwardLimits, UNREPEATABLE_IDLE_MS_MAX } from './forward-limits.ts';
import type { ServiceConnector } from './service-connector.ts';
import { type Located, LocatedServices } from './located-services.ts';
import type { FoundService, InstanceAddress, ServiceFinder } from './service-finder.ts';
import { answerToPeer, type Target, type TargetOutcome, type TargetTaking } from './target.ts';

/** A service that was found. */
export interface ServiceTarget extends Target {
  /** Value of `Host` for requests to the service. */
  readonly authority: string;
  /** True: under a mount, `Host` is the address to which the request was sent instead. */
  readonly takesAddressFromHost: boolean;
}

export type Purpose = 'call' | 'mount';

export interface ServiceTargetsOptions {
  readonly finder: ServiceFinder;
  readonly connector: ServiceConnector;
  /** Undefined on a developer's machine. */
  readonly project: string | undefined;
  readonly limits: ForwardLimits;
  readonly sweep: Sweep;
  /** Age at which a connection is not used again, in milliseconds. */
  readonly lifetimeMs: () => number;
  /** Receives why a service was not found or reached. */
  readonly onFailure: (called: ServiceReference, reason: string) => void;
}

/** Times that a service is looked for again for one request, because it was not reached where it was. */
const SEARCHES_MAX = 3;
/** Instances of a service that are tried before it counts as not listening. */
const TRIED_MAX = 3;
/** Number of pools above which those without a connection are forgotten. */
const POOLS_MAX = 1000;

export class ServiceTargets {
  readonly #options: ServiceTargetsOptions;
  readonly #located: LocatedServices;
  readonly #pools = new Map<string, Pool>();
  /** Counts requests, so that they are spread over the instances. */
  #turn = 0;

  constructor(options: ServiceTargetsOptions) {
    this.#options = options;
    this.#located = new LocatedServices(options.finder, options.limits);
  }

  /**
   * Finds a service, once it is not held; gives the answer of the proxy if there is none. `onWait` receives the function that forgets the
   * request: then nothing is found.
   */
  find(
    called: ServiceReference,
    purpose: Purpose,
    onWait: (forget: () => void) => void,
  ): Promise<ServiceTarget | ProxyAnswer> {
    const { promise, resolve } = Promise.withResolvers<ServiceTarget | ProxyAnswer>();
    const forget = this.#located.locate(called, false, (to) =>
      resolve(
        to.kind === 'found'
          ? this.#target(called, purpose, to)
          : this.#answerToMissing(called, purpose, to),
      ),
    );
    onWait(forget);
    return promise;
  }

  /** Number of requests that wait for a service that is held. */
  get held(): number {
    return this.#located.held;
  }

  /** Closes the idle connections, and the others after their current response. */
  retire(): void {
    for (const pool of this.#pools.values()) pool.retire();
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
    this.#located.close();
  }

  #target(
    called: ServiceReference,
    purpose: Purpose,
    {
      authority,
      addresses,
      takesAddressFromHost = false,
    }: Extract<FoundService, { readonly kind: 'found' }>,
  ): ServiceTarget {
    const named = this.#named(called);
    const answerTo = (failure: ClientFailure) => this.#answerTo(failure, named, purpose);
    return {
      responder: 'service',
      authority,
      takesAddressFromHost,
      answerTo,
      take: (taking, taken) =>
        this.#take(called, purpose, addresses, taking, (outcome) => {
          if ('failure' in outcome) {
            this.#options.onFailure(called, reasonOf(outcome.failure));
            taken({ connection: undefined, answer: answerTo(outcome.failure) });
          } else taken(outcome);
        }),
    };
  }

  /** Takes a connection of one of the instances; of the next one, if the service is being replaced and accepts none. */
  #take(
    called: ServiceReference,
    purpose: Purpose,
    found: readonly InstanceAddress[],
    taking: TargetTaking,
    taken: (outcome: PoolOutcome | TargetOutcome) => void,
  ): () => void {
    const cancels: (() => void)[] = [];
    const attempt = (addresses: readonly InstanceAddress[], searches: number): void => {
      const pools = this.#inTurn(called, purpose, addresses);
      const cancelTaking = takeFirst(pools, taking, (outcome) => {
        const isFinal = !('failure' in outcome) || !isElsewherePossible(outcome.failure);
        if (isFinal || !this.#located.canHold || searches === SEARCHES_MAX) return taken(outcome);
        const forget = this.#located.locate(called, true, (to, hasWaited) => {
          if (to.kind === 'found' && (hasWaited || !isDeepStrictEqual(to.addresses, addresses)))
            attempt(to.addresses, searches + 1);
          else if (to.kind === 'found' || to.kind === 'not-found') taken(outcome);
          else taken({ connection: undefined, answer: this.#answerToMissing(called, purpose, to) });
        });
        cancels.push(forget);
      });
      cancels.push(cancelTaking);
    };
    attempt(found, 0);
    return () => {
      for (const cancel of cancels) cancel();
    };
  }

  /** The connections to the instances that are tried. */
  #inTurn(
    called: ServiceReference,
    purpose: Purpose,
    addresses: readonly InstanceAddress[],
  ): readonly Pool[] {
    const first = this.#turn++ % addresses.length;
    const tried = [...addresses.slice(first), ...addresses.slice(0, first)].slice(0, TRIED_MAX);
    return tried.map((address) => this.#poolOf(address, this.#named(called), purpose));
  }

  #named({ service, project = this.#options.project }: ServiceReference): NamedService {
    return { service, project };
  }

  #answerToMissing(
    called: ServiceReference,
    purpose: Purpose,
    to: Exclude<Located, { readonly kind: 'found' }>,
  ): ProxyAnswer {
    if (to.kind !== 'not-found') {
      this.#options.onFailure(called, 'it is being replaced');
      return answer(to.kind, { called: this.#named(called) });
    }
    this.#options.onFailure(called, to.reason);
    return purpose === 'mount'
      ? answer('mount-unavailable', { service: called.service })
      : answer('service-not-found', { called });
  }

  #answerTo(failure: ClientFailure, called: NamedService, purpose: Purpose): ProxyAnswer {
    const ofPeer = answerToPeer(failure, called, this.#options.limits.answerTimeoutMs);
    if (ofPeer !== undefined) return ofPeer;
    if (failure.kind === 'identity') return answer('another-service-answered', { called });
    return purpose === 'mount'
      ? answer('mount-unavailable', { service: called.service })
      : answer('service-not-listening', { called });
  }

  #poolOf(address: InstanceAddress, called: NamedService, purpose: Purpose): Pool {
    const { service, project = '' } = called;
    const key = `${purpose} ${project}/${service} ${address.host} ${address.port}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    if (this.#pools.size >= POOLS_MAX) this.#forgetEmpty();
    const pool = this.#openPool(address, { service, project }, purpose);
    this.#pools.set(key, pool);
    return pool;
  }

  #openPool(address: InstanceAddress, called: ServiceKey, purpose: Purpose): Pool {
    const { connector, limits, sweep, lifetimeMs } = this.#options;
    const protocol = purpose === 'mount' ? MOUNT_PROTOCOL : undefined;
    return new Pool({
      connect: connector.connectTo(address, called, protocol),
      limits: DEFAULT_CLIENT_LIMITS,
      times: {
        connectMs: limits.connectTimeoutMs,
        responseMs: limits.answerTimeoutMs,
        idleMs: limits.idleMsMax,
        lifetimeMs,
      },
      sweep,
    });
  }

  #forgetEmpty(): void {
    for (const [key, pool] of this.#pools) if (pool.isEmpty) this.#pools.delete(key);
  }
}

type PoolOutcome =
  | Extract<TargetOutcome, { readonly connection: object }>
  | { readonly failure: ClientFailure };

/** Takes a connection of the first instance that accepts one. Nothing is sent to the others. */
function takeFirst(
  pools: readonly Pool[],
  { fresh, canRepeat }: TargetTaking,
  taken: (outcome: PoolOutcome) => void,
): () => void {
  let cancel: (() => void) | undefined;
  let isCancelled = false;
  const idleMsMax = canRepeat ? Infinity : UNREPEATABLE_IDLE_MS_MAX;
  const attempt = (index: number): void => {
    cancel = pools[index]!.take({ fresh, idleMsMax }, (outcome) => {
      if (isCancelled) outcome.connection?.retire();
      else if (outcome.connection !== undefined) taken(outcome);
      else if (index + 1 < pools.length && isElsewherePossible(outcome.failure)) attempt(index + 1);
      else taken({ failure: outcome.failure });
    });
  };
  attempt(0);
  return () => {
    isCancelled = true;
    cancel?.();
  };
}

/** Returns whether another instance may do better: this one could not be reached, so it has got nothing. */
function isElsewherePossible({ kind }: ClientFailure): boolean {
  return kind === 'refused' || kind === 'unreachable' || kind === 'connect-timeout';
}

function reasonOf(failure: ClientFailure): string {
  if (failure.kind === 'identity') return failure.reason;
  return 'cause' in failure ? `${failure.kind} (${failure.cause.message})` : failure.kind;
}
