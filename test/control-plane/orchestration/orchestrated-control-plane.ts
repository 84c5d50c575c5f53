// OrchestratedControlPlane: the entities and consumers of the control plane with an orchestrator in memory that follows them, on
// one virtual clock.
import { onTestFinished } from 'vitest';
import {
  ROUTES,
  problemLine,
  schemaProblems,
  type Problem,
  type ServiceKey,
  type ServiceStatus,
} from '@svc/client';
import { createService, type LogEntry, type Service } from '@svc/host';
import { reconcileServices } from '../../../control-plane/consumers/reconcile-services.ts';
import { settleClaims } from '../../../control-plane/consumers/settle-claims.ts';
import { suspendServices } from '../../../control-plane/consumers/suspend-services.ts';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { serviceId } from '../../../control-plane/flows/service-id.ts';
import { email } from '../../../control-plane/model/email.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { person } from '../../../control-plane/model/person.ts';
import { project } from '../../../control-plane/model/project.ts';
import type { Descriptor } from '../../../control-plane/model/service-state.ts';
import { service } from '../../../control-plane/model/service.ts';
import { workload } from '../../../control-plane/model/workload.ts';
import { knownServices } from '../../../control-plane/orchestration/known-services.ts';
import {
  Orchestration,
  type Answered,
} from '../../../control-plane/orchestration/orchestration.ts';
import {
  ORCHESTRATOR_DEFAULTS,
  type OrchestratorSection,
} from '../../../control-plane/orchestration/orchestrator-section.ts';
import type {
  InstanceLogs,
  LogQuery,
  Orchestrator,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  GOOD_IMAGE,
  ScriptedOrchestrator,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';
import { VirtualClock } from '../../../host/testing.ts';
import { accepted, actor } from '../control-plane-under-test.ts';

export const ann = actor('ann');
export const KEY: ServiceKey = { project: 'web', service: 'cart' };

export interface StartOptions {
  /** Absent: the journal is in memory. */
  readonly dataFolder?: string;
  readonly section?: Partial<OrchestratorSection>;
  /** A clock and an orchestrator that an earlier control plane had. */
  readonly earlier?: Pick<OrchestratedControlPlane, 'clock' | 'orchestrator'>;
}

export class OrchestratedControlPlane {
  readonly clock: VirtualClock;
  readonly orchestrator: ScriptedOrchestrator;
  readonly log: LogEntry[] = [];
  readonly orchestration: Orchestration;
  #running: Service | undefined;

  private constructor({ earlier, section }: StartOptions) {
    this.clock = earlier?.clock ?? new VirtualClock();
    this.orchestrator = earlier?.orchestrator ?? new ScriptedOrchestrator(this.clock);
    this.orchestration = new Orchestration({
      orchestrator: this.orchestrator satisfies Orchestrator,
      section: { ...ORCHESTRATOR_DEFAULTS, ...section },
      clock: this.clock,
      log: (entry) => this.log.push(entry),
    });
  }

  static async start(options: StartOptions = {}): Promise<OrchestratedControlPlane> {
    const control = new OrchestratedControlPlane(options);
    const { dataFolder } = options;
    control.#running = await createService({
      name: 'control-plane',
      entities: [organization, project, service, hostname, email, person, workload],
      views: [knownServices],
      consumers: [settleClaims, suspendServices, reconcileServices(control.orchestration.changed)],
      http: false,
      log: 'none',
      ...(dataFolder === undefined ? { journal: 'memory' as const } : { dataFolder }),
    });
    onTestFinished(() => control.stop());
    control.orchestration.start(control.#running);
    return control;
  }

  readonly call: Call = (entity, id) => this.#running!.call(entity, id);

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    await this.orchestration.stop(0);
    await running.stop();
  }

  /** Returns the new generation. */
  async apply(more: Partial<Descriptor> = {}, key = KEY, by = ann): Promise<number> {
    const descriptor = { name: key.service, image: GOOD_IMAGE, instances: 2, ...more };
    return accepted(await applyService(this.call, key, descriptor, by));
  }

  async state(key = KEY) {
    return accepted(await this.call(service, serviceId(key)).get());
  }

  /** Every status is checked against the schema of the table of routes. */
  async status(key = KEY, isSuspended?: boolean): Promise<ServiceStatus> {
    const state = await this.state(key);
    const query = { state, ...(isSuspended !== undefined && { isSuspended }) };
    return this.#checked(() => this.orchestration.status(key, query));
  }

  async lastStatus(key = KEY): Promise<ServiceStatus> {
    return this.orchestration.lastStatus(key, { state: await this.state(key) });
  }

  async problems(more: Partial<Descriptor> = {}): Promise<readonly Problem[]> {
    const state = accepted(await this.call(service, serviceId(KEY)).desired());
    const descriptor = { name: KEY.service, image: GOOD_IMAGE, ...more };
    return this.#passing(() => this.orchestration.problems(KEY, state, descriptor));
  }

  async logs(query: Partial<LogQuery> = {}, key = KEY): Promise<Answered<readonly InstanceLogs[]>> {
    const state = await this.state(key);
    return this.#passing(() =>
      this.orchestration.logs(key, { state }, { previous: false, ...query }),
    );
  }

  /** Waits for a status, over virtual time. */
  async until(
    condition: (status: ServiceStatus) => boolean,
    key = KEY,
    limitMs?: number,
  ): Promise<ServiceStatus> {
    let found = await this.status(key);
    await this.clock.until(async () => {
      found = await this.status(key);
      return condition(found);
    }, limitMs);
    return found;
  }

  async #checked(ask: () => Promise<ServiceStatus>): Promise<ServiceStatus> {
    const status = await this.#passing(ask);
    const problems = schemaProblems(ROUTES.getService.answer, status);
    if (problems.length > 0) throw new Error(problems.map(problemLine).join('\n'));
    return status;
  }

  /** Lets time pass until the answer is there: the orchestrator may hang. */
  async #passing<Value>(ask: () => Promise<Value>): Promise<Value> {
    let isThere = false;
    const answer = ask().finally(() => (isThere = true));
    await this.clock.until(() => isThere);
    return await answer;
  }
}

export const isReady = ({ lifecycle }: ServiceStatus): boolean => lifecycle === 'ready';

/** Returns the value of an answer, and fails if the orchestrator is unavailable. */
export function answered<Value>(answer: Answered<Value>): Value {
  if (answer.kind === 'unavailable') throw new Error(answer.reason);
  return answer.value;
}
