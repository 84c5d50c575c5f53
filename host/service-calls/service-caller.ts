// ServiceCaller sends the requests of one shard's handlers to other services, by the rules of forwarding (@svc/forward).
//
// Invariants:
// - A request reaches a socket only after it was checked, and only while there are fewer in flight than the limit.
// - Each request settles within its time, by a response or because it was cancelled; then nothing of it is left.
import { answer, type NamedService } from '@svc/forward/answers';
import { FORWARD_LIMITS } from '@svc/forward/forward-limits';
import { passedRequestFields } from '@svc/forward/request-fields';
import type { ServiceConnector } from '@svc/forward/service-connector';
import type { ServiceFinder } from '@svc/forward/service-finder';
import { ServiceTargets } from '@svc/forward/service-targets';
import { Sweep } from '@svc/http1';
import { SvcError } from '@svc/kit/svc-error';
import type { Metadata } from '../model/call.ts';
import type { CalledServices, ServiceRequest, ServiceResponse } from '../model/service-call.ts';
import type { CallSettings } from './call-settings.ts';
import { type OutgoingRequest, outgoingRequest } from './outgoing-request.ts';
import { responseOf, ServiceExchange } from './service-exchange.ts';

export interface ServiceCallerOptions {
  readonly settings: CallSettings;
  readonly finder: ServiceFinder;
  readonly connector: (sweep: Sweep) => ServiceConnector;
  /** The service's own project; undefined on a developer's machine. */
  readonly project: string | undefined;
  /** Age at which a connection is not used again, in milliseconds. */
  readonly lifetimeMs: () => number;
  /** Receives why a service, as `project/service`, was not found or reached. */
  readonly onFailure: (service: string, reason: string) => void;
}

const SWEEP_EVERY_MS = 250;

export class ServiceCaller implements CalledServices {
  readonly perHandlerMax: number;
  readonly #options: ServiceCallerOptions;
  readonly #services: ServiceTargets;
  #inFlight = 0;
  #isClosed = false;

  constructor(options: ServiceCallerOptions) {
    const { settings, finder, connector, project, lifetimeMs, onFailure } = options;
    this.perHandlerMax = settings.perHandlerMax;
    this.#options = options;
    const sweep = new Sweep(SWEEP_EVERY_MS);
    const { timeoutMs, connectTimeoutMs, idleMsMax } = settings;
    this.#services = new ServiceTargets({
      finder,
      connector: connector(sweep),
      project,
      limits: { ...FORWARD_LIMITS, answerTimeoutMs: timeoutMs, connectTimeoutMs, idleMsMax },
      sweep,
      lifetimeMs,
      onFailure: ({ service, project: of = project }, reason) =>
        onFailure(of === undefined ? service : `${of}/${service}`, reason),
    });
  }

  async request(
    request: ServiceRequest,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<ServiceResponse> {
    const { settings } = this.#options;
    const outgoing = outgoingRequest(request, metadata, settings);
    if (this.#isClosed) throw new SvcError('SVC_STOPPING', 'The service is stopping.');
    if (this.#inFlight >= settings.inFlightMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${this.#inFlight} requests to other services are in flight, the most that this shard may have (svc.calls.in-flight-max).`,
      );
    signal.throwIfAborted();
    this.#inFlight++;
    try {
      return await this.#send(outgoing, signal);
    } finally {
      this.#inFlight--;
    }
  }

  /** Closes idle connections, and the others after their current response: an authority is no longer trusted. */
  retire(): void {
    this.#services.retire();
  }

  /** Refuses further requests, and closes all connections once they have answered. */
  close(): void {
    this.#isClosed = true;
    this.#services.close();
  }

  #send(request: OutgoingRequest, signal: AbortSignal): Promise<ServiceResponse> {
    const { project, settings } = this.#options;
    const { called, method, path, fields, body } = request;
    const { timeoutMs, responseBytesMax } = settings;
    const named: NamedService = { service: called.service, project: called.project ?? project };
    const { promise, resolve, reject } = Promise.withResolvers<ServiceResponse>();
    let exchange: ServiceExchange | undefined;
    let isSettled = false;
    const settle = (end: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      exchange?.cancel();
      end();
    };
    const done = (response: ServiceResponse): void => settle(() => resolve(response));
    const cancel = (): void => settle(() => reject(signal.reason as Error));
    const timer = setTimeout(
      () => done(responseOf(answer('answer-timed-out', { answerer: named, timeoutMs }))),
      timeoutMs,
    );
    signal.addEventListener('abort', cancel);
    this.#services.find(called, 'call').then(
      (target) => {
        if (isSettled) return;
        if ('kind' in target) return done(responseOf(target));
        const passed = passedRequestFields(fields, {
          destination: 'call',
          host: target.authority,
          arrival: undefined,
          addressedTo: undefined,
        });
        const head = { method, path, fields: passed };
        exchange = new ServiceExchange({
          target,
          head,
          body,
          called: named,
          responseBytesMax,
          done,
        });
        exchange.start();
      },
      (error: unknown) => settle(() => reject(error as Error)),
    );
    return promise;
  }
}
