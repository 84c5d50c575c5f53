// BoundedOrchestrator: an orchestrator whose abandoned calls are bounded. A call is abandoned when its signal is aborted and it has not
// ended: a driver that ignores signals would otherwise gather calls, with all that they hold, for as long as it hangs.
//
// Invariants: a call of one method for one service is refused while `abandonedCallsOfServiceMax` of them have not ended, and one of a
// method while `abandonedCallsMax` have not. Methods are counted apart, so that hanging logs, which members ask for, leave the rest.
// A call is forgotten FORGOTTEN_MS after it began, so that an orchestrator that works again is asked again.
import type { Problem, ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';
import { serviceId } from '../flows/service-id.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';
import type {
  DesiredService,
  InstanceLogs,
  LogQuery,
  Observation,
  Orchestrator,
  RemovedService,
} from './orchestrator.ts';

/** Too many calls of this kind have not ended, so the orchestrator is not asked. */
export class TooManyAbandoned extends Error {
  override readonly name = 'TooManyAbandoned';

  constructor(method: string, count: number) {
    super(
      `${count} calls of ${method} have not ended after their signals were aborted, so the orchestrator is not asked: its driver has to end them`,
    );
  }
}

/** Time after which a call is not counted any more, in milliseconds. */
export const FORGOTTEN_MS = 600_000;

interface CallUnderWay {
  readonly method: string;
  /** `<project>/<name>`. */
  readonly service: string;
  /** When it began, by the monotonic clock. */
  readonly sinceMs: number;
  /** Aborted: the call is abandoned. */
  readonly signal: AbortSignal;
}

export interface BoundedOrchestratorOptions {
  readonly orchestrator: Orchestrator;
  readonly section: Pick<OrchestratorSection, 'abandonedCallsMax' | 'abandonedCallsOfServiceMax'>;
  readonly clock: Clock;
}

export class BoundedOrchestrator implements Orchestrator {
  readonly runsNothing?: true;
  readonly #options: BoundedOrchestratorOptions;
  readonly #underWay = new Set<CallUnderWay>();

  constructor(options: BoundedOrchestratorOptions) {
    this.#options = options;
    if (options.orchestrator.runsNothing === true) this.runsNothing = true;
  }

  problems(desired: DesiredService, signal: AbortSignal): Promise<readonly Problem[]> {
    const { orchestrator } = this.#options;
    return this.#bounded('problems', desired.key, signal, () =>
      orchestrator.problems(desired, signal),
    );
  }

  reconcile(wanted: DesiredService | RemovedService, signal: AbortSignal): Promise<void> {
    const { orchestrator } = this.#options;
    return this.#bounded('reconcile', wanted.key, signal, () =>
      orchestrator.reconcile(wanted, signal),
    );
  }

  observe(key: ServiceKey, signal: AbortSignal): Promise<Observation> {
    const { orchestrator } = this.#options;
    return this.#bounded('observe', key, signal, () => orchestrator.observe(key, signal));
  }

  logs(key: ServiceKey, query: LogQuery, signal: AbortSignal): Promise<readonly InstanceLogs[]> {
    const { orchestrator } = this.#options;
    return this.#bounded('logs', key, signal, () => orchestrator.logs(key, query, signal));
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    return this.#options.orchestrator.watch(changed);
  }

  /** Rejects with TooManyAbandoned, or as the call does. */
  async #bounded<Value>(
    method: string,
    key: ServiceKey,
    signal: AbortSignal,
    call: () => Promise<Value>,
  ): Promise<Value> {
    const service = serviceId(key);
    this.#check(method, service);
    const underWay = { method, service, sinceMs: this.#options.clock.monotonicMs(), signal };
    this.#underWay.add(underWay);
    try {
      return await call();
    } finally {
      this.#underWay.delete(underWay);
    }
  }

  #check(method: string, service: string): void {
    const { clock, section } = this.#options;
    const nowMs = clock.monotonicMs();
    let all = 0;
    let ofService = 0;
    for (const each of this.#underWay) {
      if (!each.signal.aborted) continue;
      if (nowMs - each.sinceMs >= FORGOTTEN_MS) this.#underWay.delete(each);
      else if (each.method === method) {
        all++;
        if (each.service === service) ofService++;
      }
    }
    if (ofService >= section.abandonedCallsOfServiceMax || all >= section.abandonedCallsMax)
      throw new TooManyAbandoned(method, all);
  }
}
