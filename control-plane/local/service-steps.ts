// ServiceSteps: carries out the steps of a plan for one service.
import { randomBytes } from 'node:crypto';
import type { ServiceKey } from '@svc/client';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';
import type { Found } from './found-instances.ts';
import { InstanceFolder } from './instance-folder.ts';
import { endInWords, isFinalFailure } from './instance-end.ts';
import { killLeftOver, signalRun, startRun } from './instance-process.ts';
import type { LocalMachine } from './local-machine.ts';
import { isOf, type Step, type Wanted } from './plan-types.ts';
import type { ServiceRoute } from './request-routes.ts';
import type { ResolvedImage } from './service-record.ts';

export class ServiceSteps {
  readonly #machine: LocalMachine;
  readonly #key: ServiceKey;
  readonly #onEnd: () => void;

  /** `onEnd` is called when an instance that this process has started ends. */
  constructor(machine: LocalMachine, key: ServiceKey, onEnd: () => void) {
    this.#machine = machine;
    this.#key = key;
    this.#onEnd = onEnd;
  }

  /**
   * Makes and starts an instance, unless it is no longer desired once it has an address. Rejects if there is no address.
   */
  async create(
    desired: DesiredService,
    image: ResolvedImage,
    isDesired: () => boolean,
  ): Promise<void> {
    const { instancesFolder, clock } = this.#machine;
    const { key, incarnation, generation, descriptor } = desired;
    const address = await this.#machine.addressFor(descriptor);
    if (!isDesired()) return;
    const last = InstanceFolder.readOf(instancesFolder, key).at(-1);
    const folder = InstanceFolder.create(instancesFolder, {
      version: 1,
      name: `${key.service}-${generation}-${randomBytes(4).toString('hex')}`,
      key,
      incarnation,
      generation,
      descriptor,
      imageDigest: image.digest,
      moduleFile: image.moduleFile,
      address,
      createdAtMs: Math.max(clock.nowMs(), (last?.spec.createdAtMs ?? 0) + 1),
    });
    this.#start(folder, { restarts: 0, failures: 0 });
  }

  carryOut(step: Exclude<Step, { kind: 'create' | 'fail' }>, found: readonly Found[]): void {
    const { routes, notes, clock } = this.#machine;
    if (step.kind === 'hold') return routes.hold(this.#key);
    if (step.kind === 'release') return routes.release(this.#key);
    const { folder, view } = found.find((one) => one.view.name === step.name)!;
    switch (step.kind) {
      case 'restart':
        return this.#start(folder, {
          restarts: (folder.lastRun?.restarts ?? 0) + 1,
          failures: view.failures,
        });
      case 'retire':
        return notes.retire(step.name);
      case 'stop':
        notes.askedToStop(step.name, clock.bootMs());
        return signalRun(folder, 'SIGTERM');
      case 'remove':
        killLeftOver(folder);
        notes.forget(step.name);
        return folder.remove();
      default:
        step satisfies never;
    }
  }

  /** Kills instances that do not end though they were asked to, and those that never get on with their start. */
  killLate(found: readonly Found[]): void {
    const { notes, section, clock } = this.#machine;
    for (const { folder, view } of found) {
      const startedMs = folder.lastRun?.startedAt.ms ?? clock.bootMs();
      if (view.phase === 'starting' && clock.bootMs() - startedMs >= section.progressTimeoutMs)
        signalRun(folder, 'SIGKILL');
      if (view.phase !== 'stopping') continue;
      const sinceMs = notes.seenStopping(view.name, clock.bootMs());
      if (clock.bootMs() - sinceMs > section.drainMs + section.killAfterMs)
        signalRun(folder, 'SIGKILL');
    }
  }

  /** Sends those who route where the requests of the service go. */
  route(found: readonly Found[], desired: DesiredService | RemovedService): void {
    const { routes, notes } = this.#machine;
    if (desired.kind === 'removed') {
      routes.withdraw(this.#key);
      return;
    }
    const serving = found.filter(
      ({ view, folder }) =>
        view.phase === 'ready' &&
        notes.of(view.name).isRetired !== true &&
        folder.spec.descriptor.http !== false,
    );
    routes.route(this.#key, {
      state: routedState(desired),
      hostnames: desired.descriptor.http === false ? [] : desired.hostnames,
      instances: serving.map(({ folder: { spec } }) => ({
        name: spec.name,
        address: spec.address,
        // An instance of another generation may have another port.
        port: this.#machine.portOf(spec.descriptor),
      })),
    });
  }

  /** Returns why an instance of the wanted generation has ended by itself; undefined if none has. */
  failureOf(
    found: readonly Found[],
    wanted: Wanted,
  ): { readonly detail: string; readonly isFinal: boolean } | undefined {
    const isWanted = isOf(wanted);
    const ended = found.findLast(
      ({ view }) => view.phase === 'ended' && view.failures > 0 && isWanted(view),
    );
    if (ended === undefined) return undefined;
    return {
      detail: `${ended.view.name} has ended: ${endInWords(ended)}`,
      isFinal: isFinalFailure(ended.end?.exit?.error),
    };
  }

  #start(folder: InstanceFolder, counts: { restarts: number; failures: number }): void {
    const { notes, clock } = this.#machine;
    notes.forget(folder.spec.name);
    const command = this.#machine.commandOf(folder);
    startRun(folder, command, counts, clock, this.#onEnd);
  }
}

function routedState({ isSuspended, isPaused }: DesiredService): ServiceRoute['state'] {
  if (isSuspended) return 'suspended';
  return isPaused ? 'paused' : 'serving';
}
