// ServiceSteps: carries out the steps of a plan for one service.
import { randomBytes } from 'node:crypto';
import { PROCESS_PORT, type ServiceKey } from '@svc/client';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';
import type { Found } from './found-instances.ts';
import { isProcessHosted, isWebHosted } from './instance-commands.ts';
import { InstanceFolder } from './instance-folder.ts';
import { endInWords, isFinalFailure, isRefusedBeside, startInWords } from './instance-end.ts';
import { InstanceSockets, removeCallSocket } from './instance-sockets.ts';
import { killLeftOver, signalRun, startRun } from './instance-process.ts';
import type { LocalMachine } from './local-machine.ts';
import { isLive, isOf, type Step, type Wanted } from './plan-types.ts';
import type { ServiceRoute } from './request-routes.ts';
import type { ResolvedImage } from './service-record.ts';

export interface InstanceFailure {
  readonly detail: string;
  /** True: another start has the same end. */
  readonly isFinal: boolean;
  /** True: it cannot run beside the instances of other images that run. */
  readonly isApart?: boolean;
  /** True: it is said before the words of the rollout, and not after them. */
  readonly isFirst?: boolean;
}

export class ServiceSteps {
  readonly #machine: LocalMachine;
  readonly #key: ServiceKey;
  readonly #wake: () => void;

  /** `wake` is called when an instance that this process has started ends, or answers otherwise than before, and when requests are held. */
  constructor(machine: LocalMachine, key: ServiceKey, wake: () => void) {
    this.#machine = machine;
    this.#key = key;
    this.#wake = wake;
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
    await this.#machine.journals.provide(key, descriptor);
    const { address, ports } = await this.#machine.addressFor(descriptor);
    const identity = await this.#newIdentity();
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
      ...filesOf(image),
      address,
      ports,
      createdAtMs: Math.max(clock.nowMs(), (last?.spec.createdAtMs ?? 0) + 1),
    });
    this.#start(folder, identity, { restarts: 0, failures: 0 });
  }

  /** `isDesired`: whether what the plan was made for is still desired. Rejects if an instance cannot have its address or another one. */
  async carryOut(
    step: Exclude<Step, { kind: 'create' | 'fail' }>,
    found: readonly Found[],
    isDesired: () => boolean,
  ): Promise<void> {
    const { routes, notes, probes, clock, socketsFolder, cgroups } = this.#machine;
    if (step.kind === 'hold') return routes.hold(this.#key, this.#wake);
    if (step.kind === 'release') return routes.release(this.#key);
    const { folder, view } = found.find((one) => one.view.name === step.name)!;
    switch (step.kind) {
      case 'restart':
        return await this.#restart(folder, view.failures, isDesired);
      case 'retire':
        return notes.retire(step.name);
      case 'stop':
        notes.askedToStop(step.name, clock.bootMs());
        return signalRun(folder, 'SIGTERM');
      case 'remove':
        killLeftOver(folder);
        notes.forget(step.name);
        probes.forget(step.name);
        removeCallSocket(socketsFolder, folder.spec);
        // Before the folder, so that no group is left of which nothing is known.
        cgroups?.remove(folder.spec);
        return folder.remove();
      default:
        step satisfies never;
    }
  }

  /** Asks the instances whether they are ready that say so in their files. */
  probe(found: readonly Found[], intervalMs: number): void {
    const { probes, section } = this.#machine;
    for (const { folder, saysReady } of found) {
      if (!saysReady) continue;
      const { name } = folder.spec;
      const isCertain = probes.of(name).isCertain;
      const everyMs = isCertain ? intervalMs : Math.min(intervalMs, section.rolloutPollMs);
      probes.ask(name, folder.spec, everyMs, this.#wake);
    }
  }

  /** Kills instances that do not end though they were asked to, that never get on with their start, or that do not answer. */
  killLate(found: readonly Found[]): void {
    const { notes, section, rollout, clock } = this.#machine;
    for (const one of found) {
      const { folder, view } = one;
      if (view.phase === 'stopping') {
        const sinceMs = notes.seenStopping(view.name, clock.bootMs());
        if (clock.bootMs() - sinceMs > rollout.drainMs + section.killAfterMs)
          signalRun(folder, 'SIGKILL');
        continue;
      }
      const reason = this.#stuck(one);
      if (reason === undefined) continue;
      notes.killedFor(view.name, reason);
      signalRun(folder, 'SIGKILL');
    }
  }

  /** Returns why the instance has to be killed; undefined if it need not be. */
  #stuck({ folder, view, saysReady }: Found): string | undefined {
    const { probes, section, clock } = this.#machine;
    const nowMs = clock.bootMs();
    const startedMs = folder.lastRun?.startedAt.ms ?? nowMs;
    if (view.phase === 'starting' && nowMs - startedMs >= section.progressTimeoutMs)
      return `it was killed, because it had not started after ${section.progressTimeoutMs / 1000} s`;
    const { silentSinceMs = nowMs } = probes.of(view.name);
    if (saysReady && nowMs - silentSinceMs >= section.silenceMs)
      return `it was killed, because it had not answered at /ready for ${section.silenceMs / 1000} s`;
    return undefined;
  }

  /** Sends those who route where the requests of the service go. */
  route(found: readonly Found[], desired: DesiredService | RemovedService): void {
    const { routes, notes } = this.#machine;
    if (desired.kind === 'removed') {
      routes.withdraw(this.#key);
      return;
    }
    const serving = found.filter(({ view }) => {
      const { isRetired, stopAskedMs } = notes.of(view.name);
      // Those who route close their idle connections while the instance ends, which waits for that.
      return view.phase === 'ready' && isRetired !== true && stopAskedMs === undefined;
    });
    routes.route(this.#key, {
      state: routedState(desired),
      hostnames: desired.descriptor.http === false ? [] : desired.hostnames,
      instances: serving.flatMap(({ folder: { spec } }) => {
        // An instance of another generation may have another port.
        const { http: port } = spec.ports;
        return port === undefined ? [] : [{ name: spec.name, address: spec.address, port }];
      }),
    });
  }

  /** Returns why an instance of the wanted generation has ended by itself, has not started, or is not ready; undefined if none has, or is. */
  failureOf(found: readonly Found[], wanted: Wanted): InstanceFailure | undefined {
    const isWanted = isOf(wanted);
    const ended = found.findLast(
      ({ view }) => view.phase === 'ended' && view.failures > 0 && isWanted(view),
    );
    if (ended !== undefined) {
      const why =
        this.#machine.notes.of(ended.view.name).killedFor ??
        this.#outOfMemory(ended) ??
        endInWords(ended);
      const { error } = ended.end?.exit ?? {};
      const images = found.filter(({ view }) => isLive(view)).map(imageOf);
      const others = new Set(images).difference(new Set([imageOf(ended)]));
      return {
        detail: `${ended.view.name} has ended: ${why}`,
        isFinal: isFinalFailure(error),
        isApart: wanted.cohort !== undefined && isRefusedBeside(error, others.size),
      };
    }
    const unready = found.find(({ view }) => view.phase === 'unready' && isWanted(view));
    if (unready === undefined) return this.#unstarted(found.filter(({ view }) => isWanted(view)));
    const { silentSinceMs } = this.#machine.probes.of(unready.view.name);
    const { descriptor } = unready.folder.spec;
    if (silentSinceMs === undefined && isWebHosted(descriptor)) {
      const { processPort = PROCESS_PORT } = descriptor;
      const detail = `the process is not listening on port ${processPort}`;
      return { detail, isFinal: false, isFirst: true };
    }
    // The first answer comes soon after the state file.
    const how = silentSinceMs === undefined ? 'is not ready' : 'does not answer at /ready';
    return { detail: `${unready.view.name} ${how}`, isFinal: false };
  }

  /** Returns that an instance waits for its process, as far as its log shows that; undefined if none does. */
  #unstarted(found: readonly Found[]): InstanceFailure | undefined {
    const starting = found.find(
      ({ folder, view }) => view.phase === 'starting' && isProcessHosted(folder.spec.descriptor),
    );
    const words = starting && startInWords(starting.folder);
    return words === undefined
      ? undefined
      : { detail: `${starting!.view.name} ${words}`, isFinal: false };
  }

  /** Returns that the instance was killed at its limit of memory; undefined if it was not. */
  #outOfMemory({ folder, end }: Found): string | undefined {
    // What the process has reported itself says more.
    if (end?.exit !== undefined || end?.refusal !== undefined) return undefined;
    if (this.#machine.cgroups?.wasOutOfMemory(folder.spec) !== true) return undefined;
    const { memory } = folder.spec.descriptor.resources ?? {};
    return `it was killed, because it needed more memory than it may have (resources.memory: ${memory})`;
  }

  /** Starts the instance again at its address, or at another one if a program has taken that. */
  async #restart(
    folder: InstanceFolder,
    failures: number,
    isDesired: () => boolean,
  ): Promise<void> {
    const { spec } = folder;
    killLeftOver(folder);
    await this.#machine.journals.provide(spec.key, spec.descriptor);
    const address = await this.#machine.addressFor(spec.descriptor, spec);
    const identity = await this.#newIdentity();
    if (!isDesired()) return;
    const restarts = (folder.lastRun?.restarts ?? -1) + 1;
    const moved = folder.at(address);
    if (moved !== folder) removeCallSocket(this.#machine.socketsFolder, spec);
    this.#start(moved, identity, { restarts, failures });
  }

  async #newIdentity(): Promise<CertificateTexts | undefined> {
    return await this.#machine.identities?.issueTo(this.#key);
  }

  /** An instance has its identity before it is started. */
  #start(
    folder: InstanceFolder,
    identity: CertificateTexts | undefined,
    counts: { readonly restarts: number; readonly failures: number },
  ): void {
    const { notes, probes, clock, identities, socketsFolder, cgroups } = this.#machine;
    if (identity !== undefined) identities?.write(folder.identityFolder, identity);
    notes.forget(folder.spec.name);
    probes.begin(folder.spec.name);
    const command = this.#machine.commandOf(folder);
    using inherited = InstanceSockets.open(socketsFolder, folder.spec, command.sockets);
    const enclosed = cgroups?.enclosed(folder.spec, command) ?? command;
    startRun(folder, { ...enclosed, inherited }, counts, clock, this.#wake);
  }
}

const imageOf = ({ folder }: Found): string => folder.spec.imageDigest;

function filesOf({ moduleFile, imageFolder, runtime }: ResolvedImage) {
  if (imageFolder !== undefined) return { imageFolder };
  const label = runtime === undefined ? {} : { imageRuntime: runtime };
  return moduleFile === undefined ? {} : { moduleFile, ...label };
}

function routedState({ isSuspended, isPaused }: DesiredService): ServiceRoute['state'] {
  if (isSuspended) return 'suspended';
  return isPaused ? 'paused' : 'serving';
}
