// InstanceTarget: where one request to an exposed service goes. An instance is chosen each time that a connection is taken, so that a request
// that is held, or sent once more, goes by the table of that moment.
//
// Invariants
// - An instance that accepts no connection has received nothing, and only then another one is tried.
// - A connection to an instance that has left the table while it was opened carries no request.
import type { OwnAnswer } from '@svc/forward/own-answer';
import type { Target, TargetOutcome, TargetTaking } from '@svc/forward/target';
import type { ClientFailure, Taken } from '@svc/http1';
import { answerToFailure, gatewayAnswer } from './gateway-answers.ts';
import type { InstancePools } from './instance-pools.ts';
import type { Routed, RoutedRequests, RoutedToInstance } from './routed-requests.ts';

export interface InstanceTargetOptions {
  readonly routes: RoutedRequests;
  readonly pools: InstancePools;
  /** Time in milliseconds for an instance to begin its answer. */
  readonly answerTimeoutMs: number;
  /** Time in milliseconds for which a connection is idle and may carry a request that is not sent twice. */
  readonly unrepeatableIdleMsMax: number;
  /** Receives why an instance was not reached. */
  readonly onFailure: (to: RoutedToInstance, failure: ClientFailure) => void;
}

/** Instances that are tried before the service counts as not reachable. */
const TRIED_MAX = 3;

export class InstanceTarget implements Target {
  readonly responder = 'instance';
  readonly #hostname: string;
  readonly #options: InstanceTargetOptions;
  readonly #tried = new Set<string>();
  /** The instance that has the request, or is to have it. */
  #current: RoutedToInstance | undefined;
  #failure: ClientFailure | undefined;

  constructor(hostname: string, options: InstanceTargetOptions) {
    this.#hostname = hostname;
    this.#options = options;
  }

  take(taking: TargetTaking, taken: (outcome: TargetOutcome) => void): () => void {
    // The request that is sent once more is in flight nowhere until an instance is chosen again.
    this.#release();
    const attempt = new Attempt();
    this.#attempt(attempt, taking, taken);
    return () => attempt.cancel();
  }

  answerTo(failure: ClientFailure): OwnAnswer {
    return answerToFailure(failure, this.#options.answerTimeoutMs, 'none-reached');
  }

  ended(): void {
    this.#release();
  }

  #attempt(attempt: Attempt, taking: TargetTaking, taken: (outcome: TargetOutcome) => void): void {
    const { routes, pools, unrepeatableIdleMsMax } = this.#options;
    const routing = { hostname: this.#hostname, tried: this.#tried };
    const forget = routes.route(routing, (routed) => {
      if (routed.kind !== 'instance') {
        taken({ connection: undefined, answer: this.#answerToRoute(routed.kind) });
        return;
      }
      this.#current = routed;
      const idleMsMax = taking.canRepeat ? Infinity : unrepeatableIdleMsMax;
      const cancel = pools.of(routed).take({ fresh: taking.fresh, idleMsMax }, (outcome) => {
        if (attempt.isCancelled) outcome.connection?.retire();
        else if (this.#mayUse(routed, outcome)) taken(outcome);
        else this.#next(attempt, taking, taken);
      });
      attempt.waitsFor(cancel);
    });
    attempt.waitsFor(forget);
  }

  /** Returns whether the request may be sent on the connection; if not, another instance is tried. */
  #mayUse(
    to: RoutedToInstance,
    outcome: Taken,
  ): outcome is Extract<Taken, { readonly connection: object }> {
    if (outcome.connection === undefined) {
      this.#failure = outcome.failure;
      this.#tried.add(to.instance.name);
      this.#options.onFailure(to, outcome.failure);
      return false;
    }
    if (this.#options.routes.isCurrent(to)) return true;
    outcome.connection.retire();
    return false;
  }

  #next(attempt: Attempt, taking: TargetTaking, taken: (outcome: TargetOutcome) => void): void {
    this.#release();
    if (this.#tried.size < TRIED_MAX) this.#attempt(attempt, taking, taken);
    else taken({ connection: undefined, answer: this.#answerToRoute('none-left') });
  }

  #answerToRoute(kind: Exclude<Routed['kind'], 'instance'>): OwnAnswer {
    if (kind !== 'none-left') return gatewayAnswer(kind, {});
    return this.#failure === undefined
      ? gatewayAnswer('none-reached', {})
      : this.answerTo(this.#failure);
  }

  #release(): void {
    this.#current?.end();
    this.#current = undefined;
  }
}

/** The routing and the connections that a request waits for. */
class Attempt {
  isCancelled = false;
  readonly #cancels: (() => void)[] = [];

  /** `cancel`: does nothing once what is waited for has come. */
  waitsFor(cancel: () => void): void {
    this.#cancels.push(cancel);
  }

  cancel(): void {
    this.isCancelled = true;
    for (const cancel of this.#cancels) cancel();
  }
}
