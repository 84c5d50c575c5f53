// LocalOrchestrator: runs the services of an installation as processes of this machine. All that lasts is on disk: what is desired
// (services/), what runs (instances/), the data (data/). The instances outlive this process, and the next one finds them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_PORT, MANAGEMENT_PORT, READINESS_PORT, REMOTING_PORT } from '@svc/client';
import { hostingKind, problemsText } from '@svc/client';
import type { Problem, ServiceDescriptor, ServiceKey } from '@svc/client';
import type { Log } from '@svc/kit/log';
import { ownProcessStart } from '@svc/kit/process-start';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { FaultLog } from '../orchestration/fault-log.ts';
import {
  type DesiredService,
  type InstanceLogs,
  type LogQuery,
  type Observation,
  type Orchestrator,
  type RemovedService,
  WorkloadRefused,
} from '../orchestration/orchestrator.ts';
import { lookAt } from './found-instances.ts';
import { InstanceAddresses, type InstancePorts } from './instance-addresses.ts';
import type { InstanceCgroups } from './instance-cgroups.ts';
import { InstanceFolder } from './instance-folder.ts';
import { logsOf } from './instance-logs.ts';
import { InstanceNotes } from './instance-notes.ts';
import { makeSocketsFolder } from './instance-sockets.ts';
import type { LaunchCommand } from './launch-command.ts';
import { killStrays } from './instance-process.ts';
import { LOCAL_CLOCK, type LocalClock } from './local-clock.ts';
import type { ImageSource, InstanceIdentities, LocalMachine } from './local-machine.ts';
import type { LocalSection } from './local-section.ts';
import type { MachineLock } from './machine-lock.ts';
import { ImageSweep } from './image-sweep.ts';
import { sweepLeftOvers } from './machine-sweep.ts';
import { ReadinessProbes } from './readiness-probes.ts';
import type { RequestRoutes } from './request-routes.ts';
import { ServiceController } from './service-controller.ts';
import type { Journals } from './service-databases.ts';
import type { RolloutSection } from './rollout-section.ts';
import { recordOf, ServiceRecords, type ServiceRecord } from './service-record.ts';

export interface LocalOrchestratorOptions {
  /** The folder of all files, locked. It is released when the orchestrator is disposed, or cannot be made. */
  readonly lock: MachineLock;
  readonly section: LocalSection;
  readonly rollout: RolloutSection;
  /** First two numbers of the loopback addresses of instances, such as `127.83`, or `ports` (instance-addresses.ts). */
  readonly network: string;
  readonly images: ImageSource;
  readonly routes: RequestRoutes;
  readonly log: Log;
  /** Undefined: instances have no identity. */
  readonly identities?: InstanceIdentities | undefined;
  /** Undefined: the system limits no process. */
  readonly cgroups?: InstanceCgroups | undefined;
  /** Default: the clocks of the system. */
  readonly clock?: LocalClock;
  readonly commandOf: (folder: InstanceFolder) => LaunchCommand;
  readonly journals: Journals;
  /** Returns the parts of a descriptor that this machine cannot run. `imageRuntime`: the version of svc in the label of the image. */
  readonly problemsOf: (
    key: ServiceKey,
    descriptor: ServiceDescriptor,
    imageRuntime?: string,
  ) => readonly Problem[];
}

export class LocalOrchestrator implements Orchestrator, AsyncDisposable {
  readonly #machine: LocalMachine;
  readonly #controllers = new Map<string, ServiceController>();
  readonly #watches = new Set<(key: ServiceKey) => void>();
  readonly #problemsOf: LocalOrchestratorOptions['problemsOf'];
  readonly #lock: MachineLock;
  readonly #orphans: NodeJS.Timeout;
  readonly #sweep: ImageSweep;
  #isClosed = false;

  /** Throws the file system's error. */
  constructor(options: LocalOrchestratorOptions) {
    const { section, rollout, network, images, routes, log, commandOf, journals } = options;
    this.#problemsOf = options.problemsOf;
    this.#lock = options.lock;
    const { folder } = this.#lock;
    const instancesFolder = join(folder, 'instances');
    mkdirSync(instancesFolder, { recursive: true, mode: 0o700 });
    const strays = killStrays(instancesFolder, InstanceFolder.readAll(instancesFolder));
    if (strays > 0)
      log({
        level: 'warn',
        message: 'processes of instances were killed of which nothing was known',
        fields: { processes: strays },
      });
    const faults = new FaultLog(log, SYSTEM_CLOCK);
    const { clock = LOCAL_CLOCK } = options;
    const addresses = new InstanceAddresses(
      network,
      () => InstanceFolder.readAll(instancesFolder).map(({ spec }) => spec),
      () => clock.bootMs(),
    );
    this.#machine = {
      section,
      rollout,
      clock,
      records: new ServiceRecords(join(folder, 'services')),
      images: {
        resolve: (desired, signal) => this.#sweep.hold(() => images.resolve(desired, signal)),
        isKept: (image) => images.isKept(image),
      },
      routes,
      notes: new InstanceNotes(),
      identities: options.identities,
      cgroups: options.cgroups,
      instancesFolder,
      socketsFolder: makeSocketsFolder(folder),
      commandOf,
      refusalOf: (key, descriptor, imageRuntime) => {
        const problems = options.problemsOf(key, descriptor, imageRuntime);
        return problems.length === 0 ? undefined : problemsText(problems);
      },
      journals,
      probes: new ReadinessProbes(section, clock),
      addressFor: (descriptor, present) => addresses.find(portsOf(descriptor), present),
      changed: (key) => {
        for (const changed of this.#watches) changed(key);
      },
      done: (key) => {
        this.#controllers.delete(textOf(key));
        this.#sweep.request();
      },
      reportFailure: (key, error) =>
        faults.report('A service cannot be looked after, which is tried again', key, error),
    };
    this.#sweep = new ImageSweep(
      folder,
      () => this.#machine.records.readAll(),
      (error) =>
        log({
          level: 'error',
          message: 'Images that nothing uses cannot be removed',
          fields: { error: (error as Error).message },
        }),
    );
    sweepLeftOvers(folder);
    options.cgroups?.sweep(InstanceFolder.readAll(instancesFolder).map(({ spec }) => spec));
    for (const record of this.#machine.records.readAll()) this.#control(record);
    this.#sweep.request();
    this.#orphans = setTimeout(() => this.#endOrphans(), section.orphanMs).unref();
  }

  problems(desired: DesiredService): Promise<readonly Problem[]> {
    return Promise.resolve(this.#problemsOf(desired.key, desired.descriptor));
  }

  async reconcile(desired: DesiredService | RemovedService): Promise<void> {
    if (this.#isClosed) throw new Error('the orchestrator is closed');
    const { key } = desired;
    // What is paused, suspended or removed can always be ended.
    const isToRun = desired.kind === 'desired' && desired.instances > 0;
    const problems = isToRun ? this.#problemsOf(key, desired.descriptor) : [];
    if (problems.length > 0) throw new WorkloadRefused(problemsText(problems));
    const controller = this.#controllers.get(textOf(key));
    if (controller !== undefined) {
      controller.want(desired);
      return;
    }
    if (desired.kind === 'removed' && lookAt(this.#machine, key).length === 0) return;
    const { bootId } = ownProcessStart();
    const record = recordOf(desired, { bootId, ms: this.#machine.clock.bootMs() });
    this.#machine.records.write(record);
    this.#control(record);
    this.#machine.changed(key);
  }

  observe(key: ServiceKey): Promise<Observation> {
    const workload = this.#controllers.get(textOf(key))?.workload();
    return Promise.resolve(workload ?? { kind: 'none', key });
  }

  logs(key: ServiceKey, query: LogQuery): Promise<readonly InstanceLogs[]> {
    const found = lookAt(this.#machine, key).filter(
      ({ folder }) => query.instance === undefined || query.instance === folder.spec.name,
    );
    const bytesMax = Math.floor(query.bytesMax / Math.max(1, found.length));
    return Promise.resolve(found.map(({ folder }) => logsOf(folder, { ...query, bytesMax })));
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    // Two watches may have the same function.
    const watch = (key: ServiceKey) => changed(key);
    this.#watches.add(watch);
    return { [Symbol.dispose]: () => this.#watches.delete(watch) };
  }

  /** Ends all work of this process; the instances go on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#orphans);
    await Promise.all([...this.#controllers.values()].map((one) => one.close()));
    await this.#sweep.close();
    this.#machine.cgroups?.close();
    this.#lock[Symbol.dispose]();
  }

  /** Ends instances of services whose record was lost, and that nobody has asked for since. */
  #endOrphans(): void {
    const { instancesFolder, records, clock } = this.#machine;
    for (const { spec } of InstanceFolder.readAll(instancesFolder)) {
      if (this.#isClosed || this.#controllers.has(textOf(spec.key))) continue;
      const { bootId } = ownProcessStart();
      const removed = { kind: 'removed', key: spec.key } as const;
      const record = recordOf(removed, { bootId, ms: clock.bootMs() });
      records.write(record);
      this.#control(record);
    }
  }

  #control(record: ServiceRecord): void {
    const controller = new ServiceController(this.#machine, record);
    this.#controllers.set(textOf(record.desired.key), controller);
    controller.start();
  }
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}

function portsOf(descriptor: ServiceDescriptor): InstancePorts {
  const { port = HTTP_PORT, http } = descriptor;
  if (hostingKind({ ...descriptor }) === 'web') return { http: port, management: READINESS_PORT };
  const ports = { management: MANAGEMENT_PORT, remoting: REMOTING_PORT };
  return http === false ? ports : { http: port, ...ports };
}
