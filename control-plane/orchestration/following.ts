// Following: makes the orchestrator follow the services while the control plane runs. It joins the queue, the sweep and what
// the orchestrator reports.
import type { ServiceKey } from '@svc/client';
import type { Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import { serviceId, serviceKeyOf } from '../flows/service-id.ts';
import type { FailedRequests } from './failed-requests.ts';
import type { FaultLog } from './fault-log.ts';
import { knownServices } from './known-services.ts';
import type { Observations } from './observations.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import type { Orchestrator } from './orchestrator.ts';
import { ReconcileQueue } from './reconcile-queue.ts';
import { Reconciler, restoredObservation } from './reconciler.ts';
import { ServiceSweep, type KnownServicesPage } from './service-sweep.ts';

export interface FollowingOptions {
  readonly service: Pick<Service, 'call' | 'view' | 'position'>;
  readonly orchestrator: Orchestrator;
  readonly observations: Observations;
  readonly section: OrchestratorSection;
  readonly clock: Clock;
  readonly faults: FaultLog;
  readonly failedRequests: FailedRequests;
}

/** Services of a page of the sweep. */
const PAGE_ROWS = 1000;

export class Following {
  readonly #options: FollowingOptions;
  readonly #queue: ReconcileQueue;
  readonly #sweep: ServiceSweep;
  readonly #watch: Disposable | undefined;

  constructor(options: FollowingOptions) {
    const { service, observations, section, clock, faults } = options;
    this.#options = options;
    const reconciler = new Reconciler({ ...options, call: service.call.bind(service) });
    this.#queue = new ReconcileQueue({
      section,
      clock,
      work: (key, stopping) => reconciler.work(key, stopping),
      onFailure: (key, error) =>
        faults.report('The orchestrator did not make a service as it should be', key, error),
    });
    this.#watch = this.#watched();
    this.#sweep = new ServiceSweep({
      clock,
      intervalMs: section.resyncMs,
      page: (cursor) => this.#page(cursor),
      found: (key, { end }) => {
        if (end !== undefined) {
          observations.restore(restoredObservation(key, end));
          reconciler.remember(key, end);
        }
        this.#queue.mark(key, 'observed');
      },
      onFailure: (error) => faults.report('The services cannot be listed', undefined, error),
    });
  }

  /** The queue of services, for metrics. */
  get queue(): Pick<ReconcileQueue, 'counts' | 'waitMs'> {
    return this.#queue;
  }

  /** Has a service looked at, since what is desired of it has changed. */
  mark(key: ServiceKey): void {
    this.#queue.mark(key, 'desired');
  }

  async stop(graceMs: number): Promise<void> {
    this.#sweep.stop();
    try {
      this.#watch?.[Symbol.dispose]();
    } catch (error) {
      this.#options.faults.report('The orchestrator does not end its reports', undefined, error);
    }
    await this.#queue.stop(graceMs);
  }

  /** Every service is looked at every few minutes, so an orchestrator that cannot report is only slower to be seen. */
  #watched(): Disposable | undefined {
    try {
      return this.#options.orchestrator.watch((key) => this.#report(key));
    } catch (error) {
      this.#options.faults.report('The orchestrator does not report changes', undefined, error);
      return undefined;
    }
  }

  /** A report of a service that is not known is ignored: what it is of is not the platform's, or is found by the sweep. */
  #report(key: ServiceKey): void {
    const known = serviceKeyOf(serviceId(key));
    if (this.#options.observations.knows(known)) this.#queue.mark(known, 'observed');
  }

  /** The rows have every event that was stored when the page was asked for. */
  async #page(cursor: string | undefined): Promise<KnownServicesPage> {
    const { service } = this.#options;
    const view = service.view(knownServices, { after: service.position() });
    const page = await view.all(PAGE_ROWS, cursor);
    if (!page.isOk) throw new Error(page.message);
    return page.value;
  }
}
