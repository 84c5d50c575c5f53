// ScriptedWorkload: what a ScriptedOrchestrator runs of one service. It is brought to what is desired step by step, as
// instances change their phases: new ones are started, and an old one is stopped for each new one that is ready.
import type { Clock } from '../../../kit/clock.ts';
import type {
  DesiredService,
  Rollout,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';
import { ScriptedInstance, type ImageScript } from './scripted-instance.ts';

export interface ScriptedWorkloadOptions {
  readonly clock: Clock;
  readonly scriptOf: (image: string) => ImageScript | undefined;
  readonly changed: () => void;
  /** Time without progress after which a rollout is given up; undefined: never. */
  readonly giveUpMs: number | undefined;
}

export class ScriptedWorkload {
  readonly incarnation: string;
  readonly #options: ScriptedWorkloadOptions;
  #desired: DesiredService | undefined;
  instances: ScriptedInstance[] = [];
  #made = 0;
  #progressMs = 0;
  #isComplete = false;

  constructor(incarnation: string, options: ScriptedWorkloadOptions) {
    this.incarnation = incarnation;
    this.#options = options;
  }

  get isGone(): boolean {
    return this.#desired === undefined && this.instances.length === 0;
  }

  /** Undefined: nothing of it. */
  want(desired: DesiredService | undefined): void {
    const isSame =
      this.#desired?.generation === desired?.generation &&
      this.#desired?.instances === desired?.instances;
    this.#desired = desired;
    if (isSame) return;
    this.#isComplete = false;
    this.#progressMs = this.#options.clock.nowMs();
    this.#step();
    this.#options.changed();
  }

  observe({ key }: Pick<Workload, 'key'>): Workload {
    const desired = this.#desired;
    const serving = this.instances.filter(({ isServing }) => isServing);
    const generation = desired?.generation ?? 0;
    const stuck = this.#updated().find(({ isStuck }) => isStuck);
    const down = this.#updated().find(({ phase }) => phase === 'crashed');
    return {
      kind: 'workload',
      key,
      incarnation: this.incarnation,
      generation,
      wantedInstances: desired?.instances ?? 0,
      readyInstances: serving.length,
      updatedInstances: serving.filter((one) => one.generation === generation).length,
      rollout: this.#rollout(stuck),
      ...(stuck !== undefined && { detail: whyStuck(stuck) }),
      ...(stuck === undefined && down !== undefined && { detail: `${down.name} has crashed` }),
      database: desired?.descriptor.database === undefined ? 'provisioned' : 'supplied',
    };
  }

  #rollout(stuck: ScriptedInstance | undefined): Rollout {
    if (this.#isComplete) return { kind: 'complete' };
    const { giveUpMs, clock } = this.#options;
    if (stuck !== undefined && clock.nowMs() - this.#progressMs >= (giveUpMs ?? Infinity))
      return { kind: 'failed', reason: whyStuck(stuck) };
    return { kind: 'progressing', sinceMs: this.#progressMs };
  }

  #updated(): ScriptedInstance[] {
    return this.instances.filter(
      ({ generation, phase }) => generation === this.#desired?.generation && phase !== 'stopping',
    );
  }

  #step(): void {
    this.instances = this.instances.filter(({ phase }) => phase !== 'gone');
    const wanted = this.#desired?.instances ?? 0;
    for (let missing = wanted - this.#updated().length; missing > 0; missing--) this.#start();
    for (const one of this.#updated().slice(wanted)) one.stop();
    const ready = this.#updated().filter(({ isServing }) => isServing).length;
    const old = this.instances.filter(
      ({ generation, phase }) => generation !== this.#desired?.generation && phase !== 'stopping',
    );
    // An old instance goes for each new one that is ready; those that do not serve go first.
    const served = old.toSorted((a, b) => Number(a.isServing) - Number(b.isServing));
    for (const one of served.slice(0, Math.max(0, old.length - (wanted - ready)))) one.stop();
    const isServed = this.instances.every(
      ({ generation, isServing }) => generation === this.#desired?.generation || !isServing,
    );
    if (ready >= wanted && isServed && this.#desired !== undefined) this.#isComplete = true;
  }

  #start(): void {
    const { key, generation, descriptor } = this.#desired!;
    const { clock, scriptOf } = this.#options;
    this.instances.push(
      new ScriptedInstance({
        name: `${key.service}-${generation}-${++this.#made}`,
        generation,
        image: descriptor.image,
        script: scriptOf(descriptor.image),
        clock,
        changed: () => this.#instanceChanged(),
      }),
    );
  }

  #instanceChanged(): void {
    if (this.instances.some(({ isServing }) => isServing))
      this.#progressMs = this.#options.clock.nowMs();
    this.#step();
    this.#options.changed();
  }
}

function whyStuck({ image }: ScriptedInstance): string {
  return `cannot pull ${image}: not found`;
}
