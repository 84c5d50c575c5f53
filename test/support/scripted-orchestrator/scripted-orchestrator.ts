// ScriptedOrchestrator: a whole orchestrator in memory. What it runs goes through its phases (pulling, starting, ready,
// crashing, stopping) by the scripts of images and a clock, and survives the control plane. It can be made to fail, to hang, and
// to answer falsely.
import type { Problem, ServiceKey } from '@svc/client';
import type { Clock } from '../../../kit/clock.ts';
import {
  WorkloadRefused,
  type DesiredService,
  type InstanceLogs,
  type LogQuery,
  type Observation,
  type Orchestrator,
  type RemovedService,
} from '../../../control-plane/orchestration/orchestrator.ts';
import type { ImageScript, ScriptedInstance } from './scripted-instance.ts';
import { ScriptedWorkload } from './scripted-workload.ts';

export type Method = 'problems' | 'reconcile' | 'observe' | 'logs';

/** `fails`: rejects. `throws`: throws before there is a promise. `hangs`: never settles, whatever its signal says. */
export type Fault = 'fails' | 'throws' | 'hangs' | { readonly answers: unknown };

export const GOOD_IMAGE = 'registry.example/good:1';
export const OTHER_IMAGE = 'registry.example/other:1';
export const MISSING_IMAGE = 'registry.example/missing:1';
export const CRASHING_IMAGE = 'registry.example/crashing:1';

const GOOD: ImageScript = { pullMs: 200, startMs: 100, stopMs: 300 };
const IMAGES: readonly (readonly [string, ImageScript])[] = [
  [GOOD_IMAGE, GOOD],
  [OTHER_IMAGE, { ...GOOD, output: ['the other one', 'is ready'] }],
  [MISSING_IMAGE, { ...GOOD, pullMs: undefined }],
  [CRASHING_IMAGE, { ...GOOD, crashAfterMs: 2000 }],
];

export class ScriptedOrchestrator implements Orchestrator {
  readonly #clock: Clock;
  readonly images = new Map(IMAGES);
  /** The fault of each method; absent: it works. */
  readonly faults = new Map<Method, Fault>();
  /** Names `<project>/<service>` that something else has. */
  readonly foreign = new Set<string>();
  /** Every reconcile that it was sent, whatever became of it. */
  readonly reconciled: (DesiredService | RemovedService)[] = [];
  readonly asked = new Map<Method, number>();
  /** Time that a reconcile takes. */
  reconcileMs = 0;
  /** Time without progress after which it gives a rollout up; undefined: never. */
  giveUpMs: number | undefined;
  /** The reconciles under way, by service. */
  readonly #underWay = new Map<string, number>();
  maxUnderWay = 0;
  maxUnderWayOfOne = 0;
  readonly #workloads = new Map<string, ScriptedWorkload[]>();
  readonly #watchers = new Set<(key: ServiceKey) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes every method fail in this way, or none. */
  failAll(fault: Fault | undefined): void {
    for (const method of ['problems', 'reconcile', 'observe', 'logs'] as const)
      if (fault === undefined) this.faults.delete(method);
      else this.faults.set(method, fault);
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Instances that there are, of any incarnation. */
  instancesOf(key: ServiceKey): readonly ScriptedInstance[] {
    return (this.#workloads.get(nameOf(key)) ?? []).flatMap(({ instances }) => instances);
  }

  /** Loses everything of a service, without a report. */
  lose(key: ServiceKey): void {
    this.#workloads.delete(nameOf(key));
  }

  /** Reports a change, of whatever key. */
  report(key: ServiceKey): void {
    for (const changed of this.#watchers) changed(key);
  }

  problems(desired: DesiredService): Promise<readonly Problem[]> {
    return this.#call('problems', async () => {
      const { database, instances = 1 } = desired.descriptor;
      return database === undefined && instances > 2
        ? [{ path: '/instances', reason: 'is more than a provisioned database takes: 2' }]
        : [];
    });
  }

  reconcile(desired: DesiredService | RemovedService, signal: AbortSignal): Promise<void> {
    this.reconciled.push(desired);
    return this.#call('reconcile', async () => {
      const name = nameOf(desired.key);
      this.#count(name, 1);
      if (this.reconcileMs > 0)
        await new Promise<void>((resolve) => {
          this.#clock.after(this.reconcileMs, resolve);
        });
      this.#count(name, -1);
      if (signal.aborted) return;
      if (this.foreign.has(name))
        throw new WorkloadRefused(`${name} exists, and is not the platform's`);
      this.#reconcile(desired);
    });
  }

  observe(key: ServiceKey): Promise<Observation> {
    return this.#call('observe', async () => {
      // The oldest incarnation is shown as long as something is left of it.
      const [workload] = this.#workloads.get(nameOf(key)) ?? [];
      return workload === undefined ? { kind: 'none', key } : workload.observe({ key });
    });
  }

  logs(key: ServiceKey, query: LogQuery): Promise<readonly InstanceLogs[]> {
    return this.#call('logs', async () =>
      this.instancesOf(key)
        .filter(({ name }) => query.instance === undefined || name === query.instance)
        .map((instance) => this.#logsOf(instance, query)),
    );
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => this.#watchers.delete(changed) };
  }

  #reconcile(desired: DesiredService | RemovedService): void {
    const { key } = desired;
    const name = nameOf(key);
    const workloads = this.#workloads.get(name) ?? [];
    this.#workloads.set(name, workloads);
    const incarnation = desired.kind === 'desired' ? desired.incarnation : undefined;
    let found = workloads.find((one) => one.incarnation === incarnation);
    if (incarnation !== undefined && found === undefined) {
      found = new ScriptedWorkload(incarnation, {
        clock: this.#clock,
        scriptOf: (image) => this.images.get(image),
        changed: () => this.#workloadChanged(key),
        giveUpMs: this.giveUpMs,
      });
      workloads.push(found);
    }
    for (const one of workloads.slice())
      one.want(one === found && desired.kind === 'desired' ? desired : undefined);
  }

  #workloadChanged(key: ServiceKey): void {
    const name = nameOf(key);
    const left = (this.#workloads.get(name) ?? []).filter(({ isGone }) => !isGone);
    if (left.length === 0) this.#workloads.delete(name);
    else this.#workloads.set(name, left);
    this.report(key);
  }

  #logsOf(instance: ScriptedInstance, { previous, tail, sinceS }: LogQuery): InstanceLogs {
    const { name, unreadable } = instance;
    if (unreadable !== undefined) return { instance: name, output: '', error: unreadable };
    const sinceMs = sinceS === undefined ? 0 : this.#clock.nowMs() - sinceS * 1000;
    const lines = instance.lines(previous, sinceMs);
    if (lines === undefined)
      return { instance: name, output: '', error: `${name} was never restarted` };
    const shown =
      tail === undefined ? lines : lines.slice(lines.length - Math.min(tail, lines.length));
    return { instance: name, output: shown.map((line) => `${line}\n`).join(''), error: null };
  }

  #count(name: string, by: number): void {
    this.#underWay.set(name, (this.#underWay.get(name) ?? 0) + by);
    const counts = [...this.#underWay.values()];
    this.maxUnderWayOfOne = Math.max(this.maxUnderWayOfOne, ...counts);
    this.maxUnderWay = Math.max(
      this.maxUnderWay,
      counts.reduce((sum, count) => sum + count, 0),
    );
  }

  #call<Value>(method: Method, answer: () => Promise<Value>): Promise<Value> {
    this.asked.set(method, (this.asked.get(method) ?? 0) + 1);
    const fault = this.faults.get(method);
    if (fault === undefined) return answer();
    if (fault === 'throws') throw new Error('the orchestrator is broken');
    if (fault === 'fails') return Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:6443'));
    if (fault === 'hangs') return new Promise<Value>(() => {});
    return Promise.resolve(fault.answers as Value);
  }
}

function nameOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
