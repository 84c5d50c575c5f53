// Orchestration: makes the orchestrator follow the services, and answers endpoints what runs. Nothing waits for
// an orchestrator that does not work: changes are stored and made later, a status restates what was last known, and everything
// else is unavailable.
import type { Problem, ServiceKey, ServiceStatus } from '@svc/client';
import type { LogEntry, Metric, ReadonlyDeep, Service } from '@svc/host';
import { SYSTEM_CLOCK, type Clock } from '@svc/kit/clock';
import { serviceId } from '../flows/service-id.ts';
import type { Descriptor, Service as ServiceState } from '../model/service-state.ts';
import { workload } from '../model/workload.ts';
import { boundedLogs } from './bounded-logs.ts';
import { BoundedOrchestrator } from './bounded-orchestrator.ts';
import { FalseAnswer, checkedRecord, shownText } from './checked-observation.ts';
import { desiredService, proposedService } from './desired-service.ts';
import { FailedRequests } from './failed-requests.ts';
import { FaultLog } from './fault-log.ts';
import { Following } from './following.ts';
import { Observations } from './observations.ts';
import { orchestrationMetrics } from './orchestration-metrics.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import type { InstanceLogs, LogQuery, Orchestrator } from './orchestrator.ts';
import { restoredObservation } from './reconciler.ts';
import { statusOf, type Observed } from './service-status.ts';
import { withinTime } from './within-time.ts';

export interface OrchestrationOptions {
  readonly orchestrator: Orchestrator;
  readonly section: OrchestratorSection;
  readonly log: (entry: LogEntry) => void;
  readonly clock?: Clock;
  /** Port at which hostnames are served over HTTPS, if it is not 443. */
  readonly httpsPort?: number | undefined;
}

/** `unavailable`: the orchestrator does not answer in time, or not sensibly. Answer 503 with the reason; nothing was done. */
export type Answered<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The state of a service, for its status. */
export interface StatusQuery {
  /** The state of an entity that is alive. */
  readonly state: ReadonlyDeep<ServiceState>;
  /** Whether the organization is disabled now. Absent: as the service has it, which follows a moment later. */
  readonly isSuspended?: boolean;
}

const PROBLEMS_MAX = 1000;
const STOP_GRACE_MS = 5000;
const UNAVAILABLE = 'the orchestrator of the platform does not answer: try again later';
const UNUSABLE =
  'the orchestrator of the platform answers with something that cannot be used: an operator finds the reason in the log of the control plane';

export class Orchestration {
  readonly #orchestrator: Orchestrator;
  readonly #section: OrchestratorSection;
  readonly #clock: Clock;
  readonly #httpsPort: number | undefined;
  readonly #faults: FaultLog;
  readonly #failedRequests = new FailedRequests();
  readonly #observations: Observations;
  #following: Following | undefined;
  #call: Service['call'] | undefined;
  /** When the orchestrator last failed to judge a descriptor, by the monotonic clock. */
  #notJudgedMs = Number.NEGATIVE_INFINITY;

  constructor({
    orchestrator,
    section,
    log,
    clock = SYSTEM_CLOCK,
    httpsPort,
  }: OrchestrationOptions) {
    const bounded = new BoundedOrchestrator({ orchestrator, section, clock });
    this.#orchestrator = bounded;
    this.#section = section;
    this.#clock = clock;
    this.#httpsPort = httpsPort;
    this.#faults = new FaultLog(log, clock);
    this.#observations = new Observations({
      orchestrator: bounded,
      section,
      clock,
      faults: this.#faults,
      failedRequests: this.#failedRequests,
    });
  }

  /**
   * Begins to make the orchestrator follow. The service has the entities, `workload` among them, the view `knownServices`,
   * and the consumer `reconcileServices` with `changed`.
   */
  start(service: Pick<Service, 'call' | 'view' | 'position'>): void {
    this.#call = service.call.bind(service);
    this.#following = new Following({
      service,
      orchestrator: this.#orchestrator,
      observations: this.#observations,
      section: this.#section,
      clock: this.#clock,
      faults: this.#faults,
      failedRequests: this.#failedRequests,
    });
  }

  /** Has a service looked at, since what is desired of it has changed. */
  readonly changed = (key: ServiceKey): void => {
    // Before the start nothing is lost: every service is then looked at.
    this.#following?.mark(key);
  };

  /** Whether there is no orchestrator, so that nothing has to be judged or made. */
  get runsNothing(): boolean {
    return this.#orchestrator.runsNothing === true;
  }

  /** Services in the queue, and failures of the orchestrator. */
  get metrics(): readonly Metric[] {
    return orchestrationMetrics({
      queue: () => this.#following?.queue,
      observations: this.#observations,
      failedRequests: this.#failedRequests,
    });
  }

  /** Ends what is under way, within the grace. To be called before the service stops. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    await this.#following?.stop(graceMs);
  }

  /** Asks what runs, and returns the status: within `observeTimeoutMs`, with what was last known if need be.*/
  async status(key: ServiceKey, { state, isSuspended }: StatusQuery): Promise<ServiceStatus> {
    const desired = desiredService(key, state, isSuspended);
    if (!this.#observations.has(key)) await this.#restore(key);
    return this.#statusOf(desired, await this.#observations.of(desired));
  }

  /** Returns the status with what was last known, at once: for lists. */
  lastStatus(key: ServiceKey, { state, isSuspended }: StatusQuery): ServiceStatus {
    const desired = desiredService(key, state, isSuspended);
    return this.#statusOf(desired, this.#observations.last(desired));
  }

  /**
   * Returns what the orchestrator cannot run of a descriptor that `descriptorProblems` has found valid. To be asked
   * before the apply is stored. Empty also if the orchestrator does not answer: what it cannot run is then known when it is
   * asked to run it.
   */
  async problems(
    key: ServiceKey,
    state: ReadonlyDeep<ServiceState>,
    descriptor: Descriptor,
  ): Promise<readonly Problem[]> {
    const { problemsTimeoutMs: limitMs, problemsPauseMs } = this.#section;
    // An orchestrator that hangs delays one apply in a while, not every one.
    if (this.#clock.monotonicMs() - this.#notJudgedMs < problemsPauseMs) return [];
    const proposed = proposedService(key, state, descriptor);
    const judged = await this.#asked('judge a descriptor', key, async () => {
      const answer = await withinTime({ clock: this.#clock, limitMs }, (signal) =>
        this.#orchestrator.problems(proposed, signal),
      );
      return checkedProblems(answer);
    });
    if (judged.kind === 'answered') return judged.value;
    this.#notJudgedMs = this.#clock.monotonicMs();
    return [];
  }

  /** Returns the logs of the instances that exist; empty: answer 404. A paused or suspended service has none. */
  async logs(
    key: ServiceKey,
    { state, isSuspended }: StatusQuery,
    query: Omit<LogQuery, 'bytesMax'>,
  ): Promise<Answered<readonly InstanceLogs[]>> {
    if (desiredService(key, state, isSuspended).instances === 0)
      return { kind: 'answered', value: [] };
    const { logsTimeoutMs: limitMs, logsBytesMax: bytesMax } = this.#section;
    return await this.#asked('read the logs of a service', key, async () => {
      const answer = await withinTime({ clock: this.#clock, limitMs }, (signal) =>
        this.#orchestrator.logs(key, { ...query, bytesMax }, signal),
      );
      return boundedLogs(answer, bytesMax);
    });
  }

  /** Reads what was known before the last restart, unless something newer is known. */
  async #restore(key: ServiceKey): Promise<void> {
    if (this.#call === undefined) return;
    const last = await this.#call(workload, serviceId(key)).last();
    if (last.isOk && last.value.end !== undefined)
      this.#observations.restore(restoredObservation(key, last.value.end));
  }

  #statusOf(desired: ReturnType<typeof desiredService>, observed: Observed): ServiceStatus {
    return statusOf(desired, observed, {
      nowMs: this.#clock.nowMs(),
      progressDeadlineMs: this.#section.progressDeadlineMs,
      httpsPort: this.#httpsPort,
    });
  }

  async #asked<Value>(
    what: string,
    key: ServiceKey,
    ask: () => Promise<Value>,
  ): Promise<Answered<Value>> {
    try {
      return { kind: 'answered', value: await ask() };
    } catch (error) {
      this.#failedRequests.add();
      this.#faults.report(`The orchestrator did not ${what}`, key, error);
      return { kind: 'unavailable', reason: error instanceof FalseAnswer ? UNUSABLE : UNAVAILABLE };
    }
  }
}

/** Throws FalseAnswer. */
function checkedProblems(answer: unknown): readonly Problem[] {
  if (!Array.isArray(answer)) throw new FalseAnswer('problems are no list');
  return (answer as readonly unknown[]).slice(0, PROBLEMS_MAX).map((problem) => {
    const { path, reason } = checkedRecord(problem, 'a problem');
    return { path: shownText(path), reason: shownText(reason) };
  });
}
