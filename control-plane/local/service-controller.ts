// ServiceController: makes what runs of one service what it should be. It looks, plans, carries out the steps, and looks again:
// soon while something is under way, seldom otherwise.
//
// Invariants
// C1  One look at a time.
// C2  The record is on disk before anything is done that follows from it.
// C3  After `close` nothing is done; what runs goes on.
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceKey } from '@svc/client';
import { ownProcessStart } from '@svc/kit/process-start';
import type { DesiredService, RemovedService, Workload } from '../orchestration/orchestrator.ts';
import { type Found, lookAt } from './found-instances.ts';
import type { BootTime } from './local-clock.ts';
import type { LocalMachine } from './local-machine.ts';
import {
  isLeaving,
  isLive,
  isOf,
  type Plan,
  type PlanInput,
  type Step,
  type Wanted,
} from './plan-types.ts';
import { type ResourceName, unlimitedInWords } from './resource-limits.ts';
import { planRollout } from './rollout-plan.ts';
import { failureOf, isOtherRollout, recordAfter, type ServiceRecord } from './service-record.ts';
import { ServiceSteps } from './service-steps.ts';
import { shownFailure } from './shown-failure.ts';
import { workloadOf } from './workload.ts';

/** Interval of the moments that all services share, in milliseconds. */
const SHARED_MOMENTS_MS = 1_000;

export class ServiceController {
  readonly key: ServiceKey;
  readonly #machine: LocalMachine;
  readonly #steps: ServiceSteps;
  #record: ServiceRecord;
  #found: readonly Found[] = [];
  /** Since when the next instance can have the data folder. This and all other times are by the clock of the boot. */
  #takeoverSinceMs: number | undefined;
  /** Since when no instance is ready; undefined if one is, or none has been yet. */
  #unservedSinceMs: number | undefined;
  /** Why the service is not as it should be. */
  #detail: string | undefined;
  /** When the rollout began, or last got on. */
  #progressMs: number;
  /** Instances of the generation that were ready at the same time. */
  #readyMax = 0;
  /** When an image that could not be read is looked for again. */
  #imageRetryAtMs = 0;
  #wake = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(machine: LocalMachine, record: ServiceRecord) {
    this.#machine = machine;
    this.#record = record;
    this.key = record.desired.key;
    this.#steps = new ServiceSteps(machine, this.key, () => this.#wake.resolve());
    const { bootId, ms } = record.progressAt;
    // Nothing got on, and nothing was late, while the machine was off.
    this.#progressMs = bootId === this.#bootTime().bootId ? ms : machine.clock.bootMs();
    this.#found = this.#look();
  }

  /** Begins to look after the service. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Stores what is desired, and wakes the controller. Throws the file system's error: nothing has changed then. */
  want(desired: DesiredService | RemovedService): void {
    const before = this.#record.desired;
    if (JSON.stringify(before) === JSON.stringify(desired)) return;
    const isNewRollout = isOtherRollout(before, desired);
    this.#store(recordAfter(this.#record, desired, this.#bootTime()));
    this.#progressMs = this.#machine.clock.bootMs();
    if (isNewRollout) {
      this.#detail = undefined;
      this.#readyMax = 0;
      this.#imageRetryAtMs = 0;
    }
    this.#machine.changed(this.key);
    this.#wake.resolve();
  }

  /** Returns what there is of the service; undefined: nothing. */
  workload(): Workload | undefined {
    const found = this.#look();
    if (this.#record.desired.kind === 'removed' && found.length === 0) return undefined;
    const { clock } = this.#machine;
    const progressMs = clock.nowMs() - (clock.bootMs() - this.#progressMs);
    return workloadOf(this.#record, found, {
      detail: this.#detail ?? unlimitedInWords(this.#record.desired, this.#limited(found)),
      progressMs,
    });
  }

  found(): readonly Found[] {
    return this.#look();
  }

  /** True: nothing is desired, and nothing is left. */
  get isDone(): boolean {
    return this.#record.desired.kind === 'removed' && this.#look().length === 0;
  }

  /** Resolves once nothing more is done. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.resolve();
    await this.#running;
  }

  /** Returns the resources that the system limits for all processes of the service. */
  #limited(found: readonly Found[]): ReadonlySet<ResourceName> {
    const running = found.filter(({ view }) => view.phase !== 'ended');
    return this.#machine.cgroups?.limited(running.map(({ folder }) => folder.spec)) ?? new Set();
  }

  #look(): readonly Found[] {
    return lookAt(this.#machine, this.key, this.#record);
  }

  #store(record: ServiceRecord): void {
    this.#machine.records.write(record);
    this.#record = record;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      let waitMs: number;
      try {
        waitMs = await this.#turn();
      } catch (error) {
        // Such as a full disk: everything is tried again, and what runs goes on.
        this.#detail = shownFailure(error);
        this.#machine.reportFailure(this.key, error);
        waitMs = this.#machine.section.imagePauseMs;
      }
      if (this.isDone) {
        this.#machine.records.remove(this.key);
        this.#machine.changed(this.key);
        this.#machine.done(this.key);
        return;
      }
      const woken = new AbortController();
      const timer = pause(untilSharedMoment(waitMs), undefined, { signal: woken.signal }).catch(
        () => {},
      );
      await Promise.race([timer, this.#wake.promise]);
      woken.abort();
    }
  }

  /** Looks once, and does what is to be done. Returns the time until the next look, in milliseconds. */
  async #turn(): Promise<number> {
    const { section, clock } = this.#machine;
    const before = JSON.stringify([this.#found.map(({ view }) => view), this.#detail]);
    this.#found = this.#look();
    this.#noteTakeover(clock.bootMs());
    this.#steps.killLate(this.#found);
    for (const { folder } of this.#found) folder.boundOutput(section.outputBytesMax);
    const hasProgressed = this.#noteProgress(clock.bootMs());
    this.#noteRefusal();
    this.#noteFailure(clock.bootMs());
    const plan = planRollout(this.#planInput());
    const { desired } = this.#record;
    // First the routes: a release lets requests go by them, and an instance that is not to run gets none while it ends.
    this.#steps.route(this.#found, desired);
    for (const step of plan.steps) {
      // Another thing may be desired since an earlier step.
      if (this.#record.desired !== desired) break;
      await this.#carryOut(
        step,
        () => this.#record.desired === desired && !this.#closing.signal.aborted,
      );
    }
    // After the steps, so that no request that is held waits for the disk.
    if (!this.#noteCompletion(plan) && hasProgressed) this.#store(this.#record);
    // What was retired, or asked to end, leaves the routes.
    this.#steps.route(this.#found, this.#record.desired);
    if (before !== JSON.stringify([this.#found.map(({ view }) => view), this.#detail]))
      this.#machine.changed(this.key);
    const usualMs = this.#intervalMs(plan);
    this.#steps.probe(this.#found, usualMs);
    const imageMs = this.#imageRetryAtMs - clock.bootMs();
    if (imageMs > 0 && plan.steps.every(({ kind }) => kind === 'create'))
      return Math.min(imageMs, usualMs);
    if (plan.steps.length > 0) return section.takeoverPollMs;
    return Math.min(usualMs, plan.lookAgainMs ?? usualMs);
  }

  #intervalMs({ isComplete }: Plan): number {
    const { section, routes, probes } = this.#machine;
    if (routes.holdOf(this.key) !== 'none') return section.takeoverPollMs;
    const isDoubtful = this.#found.some(
      ({ folder, saysReady }) => saysReady && !probes.of(folder.spec.name).isCertain,
    );
    const isSettled = isComplete || failureOf(this.#record) !== undefined;
    return isSettled && !isDoubtful ? section.idlePollMs : section.rolloutPollMs;
  }

  async #carryOut(step: Step, isDesired: () => boolean): Promise<void> {
    const { desired, image, failure } = this.#record;
    if (step.kind === 'fail') {
      const reason = this.#detail === undefined ? step.reason : `${step.reason}: ${this.#detail}`;
      this.#store({ ...this.#record, failure: reason });
      return;
    }
    if (step.kind !== 'create') {
      await this.#steps.carryOut(step, this.#found, isDesired);
      return;
    }
    if (desired.kind === 'removed' || failure !== undefined) return;
    const isKept = image !== undefined && this.#machine.images.isKept(image);
    const resolved = isKept ? image : await this.#resolve(desired);
    if (resolved === undefined || this.#noteRefusal()) return;
    // The plan may be another one, now that the cohort is known.
    if (image === undefined && this.#wanted().cohort !== undefined) return;
    await this.#steps.create(desired, resolved, isDesired);
  }

  /** Finds the image of the generation: by its name once, and later by the digest that it had. */
  async #resolve(desired: DesiredService): Promise<ServiceRecord['image']> {
    const { section, clock } = this.#machine;
    if (clock.bootMs() < this.#imageRetryAtMs) return undefined;
    const { image, formerImage: former } = this.#record;
    const result = await this.#machine.images.resolve(
      { ...desired, digest: image?.digest, former },
      this.#closing.signal,
    );
    // Something else may be desired by now.
    if (this.#record.desired !== desired) return undefined;
    if (result.kind === 'found') {
      this.#detail = undefined;
      const { formerImage: _former, ...record } = this.#record;
      this.#store({ ...record, image: result.image });
      return result.image;
    }
    this.#detail = result.reason;
    this.#machine.changed(this.key);
    if (result.isFinal) this.#store({ ...this.#record, failure: result.reason });
    else this.#imageRetryAtMs = clock.bootMs() + section.imagePauseMs;
    return undefined;
  }

  #planInput(): PlanInput {
    const { section, clock, routes } = this.#machine;
    return {
      wanted: this.#wanted(),
      instances: this.#found.map(({ view }) => view),
      hold: routes.holdOf(this.key),
      haveRoutersGathered: routes.haveRoutersGathered,
      failure: failureOf(this.#record),
      takeoverSinceMs: this.#takeoverSinceMs,
      unservedSinceMs: this.#unservedSinceMs,
      nowMs: clock.bootMs(),
      limits: {
        takeoverMs: section.takeoverTimeoutMs,
        restartHoldMs: section.restartHoldMs,
        restartPauseMinMs: section.restartPauseMs,
        restartPauseMaxMs: section.restartPauseMaxMs,
      },
    };
  }

  #wanted(): Wanted {
    const { desired } = this.#record;
    if (desired.kind === 'removed')
      return { incarnation: '', generation: 0, instances: 0, hasDataFolder: false };
    const { key, incarnation, generation, instances, descriptor } = desired;
    const { journals } = this.#machine;
    const { image, isApart } = this.#record;
    return {
      incarnation,
      generation,
      instances,
      hasDataFolder: journals.storageOf(key, descriptor) === 'folder',
      cohort: image && journals.cohortOf(key, descriptor, isApart === true),
    };
  }

  #noteTakeover(nowMs: number): void {
    const { generation, incarnation, instances, cohort } = this.#wanted();
    const others = this.#found.filter(
      ({ view }) => view.generation !== generation || view.incarnation !== incarnation,
    );
    const isFree = others.length > 0 && others.every(({ view }) => view.phase === 'ended');
    // An instance with a database takes over from its start on.
    const near = cohort === undefined ? ['prepared', 'unready'] : ['starting', 'unready'];
    const isPrepared = this.#found.some(
      (one) => !others.includes(one) && near.includes(one.view.phase),
    );
    this.#takeoverSinceMs = isFree && isPrepared ? (this.#takeoverSinceMs ?? nowMs) : undefined;
    const hasServed = this.#record.wasReady || others.length > 0;
    const isServed = this.#found.some(({ view }) => view.phase === 'ready');
    this.#unservedSinceMs =
      instances > 0 && hasServed && !isServed ? (this.#unservedSinceMs ?? nowMs) : undefined;
  }

  /** Notes that instances became ready. Nothing is wrong any more once all wanted ones are. Returns whether the record has changed, which is not stored yet. */
  #noteProgress(bootMs: number): boolean {
    const wanted = this.#wanted();
    const ready = this.#found.filter(
      ({ view }) => isOf(wanted)(view) && view.phase === 'ready',
    ).length;
    if (ready >= wanted.instances) this.#detail = undefined;
    if (ready <= this.#readyMax) return false;
    this.#readyMax = ready;
    if (this.#record.isComplete) return false;
    this.#progressMs = bootMs;
    this.#record = { ...this.#record, wasReady: true, progressAt: this.#bootTime() };
    return true;
  }

  /**
   * Stores that this installation does not start the generation, if it has to, or that nothing speaks against it any more, since another
   * version of svc is installed. Returns whether it is refused.
   */
  #noteRefusal(): boolean {
    const { refusal: before, ...record } = this.#record;
    const refusal = this.#isToBeStarted() ? this.#refusal() : undefined;
    if (refusal === before) return refusal !== undefined;
    if (refusal !== undefined) this.#store({ ...record, refusal });
    else {
      this.#progressMs = this.#machine.clock.bootMs();
      this.#store({ ...record, progressAt: this.#bootTime() });
    }
    this.#machine.changed(this.key);
    return refusal !== undefined;
  }

  #refusal(): string | undefined {
    const { desired, image } = this.#record;
    if (desired.kind === 'removed') return undefined;
    return this.#machine.refusalOf(desired.key, desired.descriptor, image?.runtime);
  }

  /** Whether fewer instances of the generation run than should; those that leave do not count. */
  #isToBeStarted(): boolean {
    const wanted = this.#wanted();
    const running = this.#found.filter(
      ({ view }) => isOf(wanted)(view) && isLive(view) && !isLeaving(view),
    );
    return running.length < wanted.instances;
  }

  /** Stores that the generation has failed, if waiting does not help, or has not helped for long. */
  #noteFailure(bootMs: number): void {
    const wanted = this.#wanted();
    const failed = this.#steps.failureOf(this.#found, wanted);
    if (failed !== undefined) this.#detail = failed.detail;
    const { isComplete, wasReady } = this.#record;
    if (isComplete || failureOf(this.#record) !== undefined || wanted.instances === 0) return;
    if (failed?.isApart === true && !wasReady) {
      // The plan is another one, and tries again.
      if (this.#record.isApart !== true) this.#store({ ...this.#record, isApart: true });
      this.#found = this.#look();
      return;
    }
    if (failed?.isFinal === true && !wasReady) {
      this.#store({ ...this.#record, failure: failed.detail });
      return;
    }
    const { progressTimeoutMs } = this.#machine.section;
    if (bootMs - this.#progressMs < progressTimeoutMs) return;
    const late = `the rollout has not got on for ${progressTimeoutMs / 1000} s`;
    const words = this.#detail === undefined ? [late] : [late, this.#detail];
    const inOrder = failed?.isFirst === true ? words.toReversed() : words;
    this.#store({ ...this.#record, failure: inOrder.join(': ') });
  }

  /** Returns whether the record was stored. */
  #noteCompletion({ isComplete }: Plan): boolean {
    if (!isComplete || this.#record.isComplete) return false;
    this.#detail = undefined;
    const { failure: _overcome, ...record } = this.#record;
    this.#store({ ...record, isComplete: true });
    this.#machine.changed(this.key);
    return true;
  }

  #bootTime(): BootTime {
    return { bootId: ownProcessStart().bootId, ms: this.#machine.clock.bootMs() };
  }
}

/** Returns a wait that ends at a shared moment, if it is long: services that are looked at together cost half the processor time. */
function untilSharedMoment(waitMs: number): number {
  if (waitMs < 2 * SHARED_MOMENTS_MS) return waitMs;
  const nowMs = performance.now();
  return Math.round((nowMs + waitMs) / SHARED_MOMENTS_MS) * SHARED_MOMENTS_MS - nowMs;
}
