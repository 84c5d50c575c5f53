// Orchestration: what endpoints ask of the orchestrator. None of it depends on the orchestrator working: a status then restates
// what was last known, and everything else is unavailable.
import type { Problem, ServiceKey, ServiceStatus } from '@svc/client';
import type { LogEntry, ReadonlyDeep } from '@svc/host';
import { SYSTEM_CLOCK, type Clock } from '../clock.ts';
import type { Descriptor, Service as ServiceState } from '../model/service-state.ts';
import { boundedLogs } from './bounded-logs.ts';
import { FalseAnswer, checkedRecord, shownText } from './checked-observation.ts';
import { desiredService, proposedService } from './desired-service.ts';
import { FaultLog } from './fault-log.ts';
import { Observations } from './observations.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import type { InstanceLogs, LogQuery, Orchestrator } from './orchestrator.ts';
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
const UNAVAILABLE = 'the orchestrator of the platform does not answer: try again later';

export class Orchestration {
  readonly #orchestrator: Orchestrator;
  readonly #section: OrchestratorSection;
  readonly #clock: Clock;
  readonly #httpsPort: number | undefined;
  readonly #faults: FaultLog;
  readonly #observations: Observations;

  constructor({
    orchestrator,
    section,
    log,
    clock = SYSTEM_CLOCK,
    httpsPort,
  }: OrchestrationOptions) {
    this.#orchestrator = orchestrator;
    this.#section = section;
    this.#clock = clock;
    this.#httpsPort = httpsPort;
    this.#faults = new FaultLog(log, clock);
    this.#observations = new Observations({ orchestrator, section, clock, faults: this.#faults });
  }

  /** Asks what runs, and returns the status: within `observeTimeoutMs`, with what was last known if need be. Never rejects. */
  async status(key: ServiceKey, { state, isSuspended }: StatusQuery): Promise<ServiceStatus> {
    const desired = desiredService(key, state, isSuspended);
    return this.#statusOf(desired, await this.#observations.of(desired));
  }

  /** Returns the status with what was last known, at once: for lists. */
  lastStatus(key: ServiceKey, { state, isSuspended }: StatusQuery): ServiceStatus {
    const desired = desiredService(key, state, isSuspended);
    return this.#statusOf(desired, this.#observations.last(desired));
  }

  /**
   * Returns what the orchestrator cannot run of a descriptor that `descriptorProblems` has found valid. To be asked
   * before the apply is stored.
   */
  async problems(
    key: ServiceKey,
    state: ReadonlyDeep<ServiceState>,
    descriptor: Descriptor,
  ): Promise<Answered<readonly Problem[]>> {
    const proposed = proposedService(key, state, descriptor);
    return await this.#asked('judge a descriptor', key, async () => {
      const limitMs = this.#section.problemsTimeoutMs;
      const answer = await withinTime({ clock: this.#clock, limitMs }, (signal) =>
        this.#orchestrator.problems(proposed, signal),
      );
      return checkedProblems(answer);
    });
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
      this.#faults.report(`The orchestrator did not ${what}`, key, error);
      return { kind: 'unavailable', reason: UNAVAILABLE };
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
