// ServiceCaller sends the requests of one shard's handlers to other services, by the rules of forwarding (@svc/forward).
//
// Invariants:
// - A request reaches a socket only after it was checked, and only while there are fewer in flight than the limit.
// - Each request settles within its time, by a response or because it was cancelled; then nothing of it is left.
import { answer, type NamedService } from '@svc/forward/answers';
import { FORWARD_LIMITS } from '@svc/forward/forward-limits';
import type { ForwardedHead } from '@svc/forward/forwarded-head';
import { passedRequestFields } from '@svc/forward/request-fields';
import type { ServiceConnector } from '@svc/forward/service-connector';
import type { ServiceFinder } from '@svc/forward/service-finder';
import { type ServiceTarget, ServiceTargets } from '@svc/forward/service-targets';
import { Sweep } from '@svc/http1';
import { SvcError } from '@svc/kit/svc-error';
import { ByteBudget } from '@svc/model/byte-budget';
import type { Metadata } from '@svc/model/call';
import { KeptBytes } from '@svc/model/kept-bytes';
import type { CalledServices, ServiceRequest, ServiceResponse } from '@svc/model/service-call';
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
  readonly #responses: ByteBudget;
  #inFlight = 0;
  #isClosed = false;

  constructor(options: ServiceCallerOptions) {
    const { settings, finder, connector, project, lifetimeMs, onFailure } = options;
    this.perHandlerMax = settings.perHandlerMax;
    this.#options = options;
    this.#responses = new ByteBudget(settings.responseBytesTotalMax);
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

  /** Bytes of memory that responses take which are not complete. */
  get responseBytes(): number {
    return this.#responses.held;
  }

  /** Closes idle connections, and the others after their current response: the certificates are others now. */
  retire(): void {
    this.#services.retire();
  }

  /** Refuses further requests, and closes all connections once they have answered. */
  close(): void {
    this.#isClosed = true;
    this.#services.close();
  }

  async #send(request: OutgoingRequest, signal: AbortSignal): Promise<ServiceResponse> {
    const { project, settings } = this.#options;
    const { called } = request;
    const { timeoutMs, responseBytesMax } = settings;
    const named: NamedService = { service: called.service, project: called.project ?? project };
    const { promise: ended, resolve: done, reject } = Promise.withResolvers<ServiceResponse>();
    const timer = setTimeout(
      () => done(responseOf(answer('answer-timed-out', { answerer: named, timeoutMs }))),
      timeoutMs,
    );
    const cancel = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', cancel);
    let exchange: ServiceExchange | undefined;
    let forget: (() => void) | undefined;
    try {
      const found = this.#services.find(called, 'call', (whenOver) => (forget = whenOver));
      const target = await Promise.race([found, ended]);
      if ('headers' in target) return target;
      if ('kind' in target) return responseOf(target);
      const head = headOf(request, target);
      const { body } = request;
      const kept = new KeptBytes(this.#responses);
      exchange = new ServiceExchange({
        target,
        head,
        body,
        called: named,
        responseBytesMax,
        kept,
        done,
      });
      exchange.start();
      return await ended;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      forget?.();
      exchange?.cancel();
    }
  }
}

function headOf(
  { method, path, fields }: OutgoingRequest,
  { authority }: ServiceTarget,
): ForwardedHead {
  const passed = passedRequestFields(fields, {
    destination: 'call',
    host: authority,
    arrival: undefined,
    addressedTo: undefined,
  });
  return { method, path, fields: passed };
}
