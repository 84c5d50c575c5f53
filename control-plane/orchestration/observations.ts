// Observations: what is known of each service that runs, and how old that is.
//
// Invariants
// O1  What is known of a service is the answer to the latest question that had one: an answer to an earlier question that
//     arrives later is dropped.
// O2  A failure of the orchestrator changes nothing of what is known; from then on it is not current.
// O3  The age of a rollout goes on by the monotonic clock: a wall clock that is set makes no rollout late.
// O4  Only the orchestrator's word on a generation says anything of that generation (lifecycle.ts).
import type { ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';
import { serviceId } from '../flows/service-id.ts';
import { FalseAnswer, checkedObservation, shownText } from './checked-observation.ts';
import type { FailedRequests } from './failed-requests.ts';
import type { FaultLog } from './fault-log.ts';
import { workloadOf } from './lifecycle.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import type { DesiredService, Observation, Orchestrator } from './orchestrator.ts';
import { withRefusal, type Refusal } from './refusal.ts';
import type { Observed } from './service-status.ts';
import { withinTime } from './within-time.ts';

export interface ObservationsOptions {
  readonly orchestrator: Pick<Orchestrator, 'observe'>;
  readonly section: OrchestratorSection;
  readonly clock: Clock;
  readonly faults: FaultLog;
  readonly failedRequests: FailedRequests;
}

interface Known {
  observation?: Observation;
  /** When it was asked for, by the monotonic clock. Undefined: before a restart of the control plane. */
  askedMs?: number;
  /** Wall clock minus monotonic clock, when the observation arrived. */
  wallOffsetMs?: number;
  /** The last question that failed, unless a later one was answered. */
  failed?: { readonly askedMs: number; readonly atMs: number; readonly reason: string };
  refusal?: Refusal;
}

const NEVER_MS = Number.NEGATIVE_INFINITY;
const SILENT = 'the orchestrator does not answer';
const UNUSABLE =
  'the orchestrator answers with something that cannot be used (an operator finds the reason in the log of the control plane)';
const RESTATED = 'so this is what was last known';
const UNKNOWN = 'and nothing is known of the service';

export class Observations {
  readonly #options: ObservationsOptions;
  readonly #known = new Map<string, Known>();
  /** Questions of `of`, one for each service at a time. */
  readonly #asking = new Map<string, Promise<unknown>>();

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** Asks the orchestrator, and returns what was last known if it does not answer in time. Never rejects. */
  async of(desired: DesiredService): Promise<Observed> {
    const { section, clock } = this.#options;
    const id = serviceId(desired.key);
    const failedMs = this.#known.get(id)?.failed?.atMs ?? NEVER_MS;
    // An orchestrator that hangs delays one status a second, not every one.
    if (clock.monotonicMs() - failedMs >= section.observePauseMs) await this.#askOnce(desired.key);
    return this.last(desired);
  }

  /** Returns what is known, without asking. */
  last(desired: DesiredService): Observed {
    const known = this.#known.get(serviceId(desired.key));
    const { section, clock } = this.#options;
    const setMs = wallOffsetOf(clock) - (known?.wallOffsetMs ?? wallOffsetOf(clock));
    const observed = known?.observation && shifted(known.observation, setMs);
    const observation = withRefusal(observed, desired, known?.refusal);
    const failed = known?.failed;
    const ageMs = clock.monotonicMs() - (known?.askedMs ?? NEVER_MS);
    return {
      observation,
      isCurrent: failed === undefined && ageMs <= section.observationAgeMaxMs,
      ...(failed !== undefined && {
        problem: `${failed.reason}, ${observation === undefined ? UNKNOWN : RESTATED}`,
      }),
    };
  }

  /** Asks the orchestrator anew, whatever else is being asked. Rejects if there is no valid answer in time. */
  async ask(key: ServiceKey, stopping?: AbortSignal): Promise<Observation> {
    const { orchestrator, section, clock, faults, failedRequests } = this.#options;
    const askedMs = clock.monotonicMs();
    try {
      const limit = { clock, limitMs: section.observeTimeoutMs, ...(stopping && { stopping }) };
      const answer = await withinTime(limit, (signal) => orchestrator.observe(key, signal));
      const observation = checkedObservation(answer, key, clock.nowMs());
      this.#learn(key, observation, askedMs);
      return observation;
    } catch (error) {
      if (stopping?.aborted !== true) {
        this.#fail(key, askedMs, error instanceof FalseAnswer ? UNUSABLE : SILENT);
        failedRequests.add();
        faults.report('The orchestrator cannot say what runs of a service', key, error);
      }
      throw error;
    }
  }

  /** The orchestrator refuses to run this generation. */
  refuse({ key, incarnation, generation }: DesiredService, reason: string): void {
    this.#at(key).refusal = { incarnation, generation, reason: shownText(reason) };
  }

  /** The orchestrator has taken the service up. */
  accept(key: ServiceKey): void {
    delete this.#known.get(serviceId(key))?.refusal;
  }

  /** Gives what was known before a restart. It counts until something newer is known, and is never current. */
  restore(observation: Observation): void {
    this.#at(observation.key).observation ??= observation;
  }

  /** Whether the service was ever asked for, or restored. */
  knows(key: ServiceKey): boolean {
    return this.#known.has(serviceId(key));
  }

  /** Whether anything was observed of the service, or restored. */
  has(key: ServiceKey): boolean {
    return this.#known.get(serviceId(key))?.observation !== undefined;
  }

  /** Whether the present life of the service was observed since the start of the control plane. */
  hasSeen(desired: DesiredService): boolean {
    const known = this.#known.get(serviceId(desired.key));
    return known?.askedMs !== undefined && workloadOf(desired, known.observation) !== undefined;
  }

  /** Number of services of which the last question was not answered. */
  get failing(): number {
    return [...this.#known.values()].filter(({ failed }) => failed !== undefined).length;
  }

  /** Forgets a service of which nothing is left. */
  forget(key: ServiceKey): void {
    this.#known.delete(serviceId(key));
  }

  async #askOnce(key: ServiceKey): Promise<void> {
    const id = serviceId(key);
    let asking = this.#asking.get(id);
    if (asking === undefined) {
      asking = this.#askQuietly(id, key);
      this.#asking.set(id, asking);
    }
    await asking;
  }

  async #askQuietly(id: string, key: ServiceKey): Promise<void> {
    try {
      await this.ask(key);
    } catch {
      // The failure is recorded, and `last` returns it.
    } finally {
      this.#asking.delete(id);
    }
  }

  #learn(key: ServiceKey, observation: Observation, askedMs: number): void {
    const known = this.#at(key);
    if (askedMs < (known.askedMs ?? NEVER_MS)) return;
    known.observation = observation;
    known.askedMs = askedMs;
    known.wallOffsetMs = wallOffsetOf(this.#options.clock);
    if (known.failed !== undefined && known.failed.askedMs <= askedMs) delete known.failed;
  }

  #fail(key: ServiceKey, askedMs: number, reason: string): void {
    const known = this.#at(key);
    // A later question may have been answered while this one was waiting.
    if (askedMs < (known.askedMs ?? NEVER_MS)) return;
    known.failed = { askedMs, atMs: this.#options.clock.monotonicMs(), reason };
  }

  #at(key: ServiceKey): Known {
    const id = serviceId(key);
    const known = this.#known.get(id) ?? {};
    this.#known.set(id, known);
    return known;
  }
}

function wallOffsetOf(clock: Clock): number {
  return clock.nowMs() - clock.monotonicMs();
}

/** Returns the observation by a wall clock that was set forth by the time. */
function shifted(observation: Observation, ms: number): Observation {
  if (observation.kind !== 'workload' || observation.rollout.kind !== 'progressing')
    return observation;
  const { rollout } = observation;
  return { ...observation, rollout: { ...rollout, sinceMs: rollout.sinceMs + ms } };
}
