// MachineUnderTest: a local orchestrator in a folder of its own, whose services are small programs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InstanceCgroups } from '../../../control-plane/local/instance-cgroups.ts';
import { LOCAL_CLOCK, type LocalClock } from '../../../control-plane/local/local-clock.ts';
import { LOCAL_DEFAULTS, type LocalSection } from '../../../control-plane/local/local-section.ts';
import { MachineLock } from '../../../control-plane/local/machine-lock.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { LocalOrchestrator } from '../../../control-plane/local/local-orchestrator.ts';
import { problemsHere } from '../../../control-plane/local/local-problems.ts';
import { NobodyRoutes, type RequestRoutes } from '../../../control-plane/local/request-routes.ts';
import type { Problem, ServiceKey } from '@svc/client';
import { until } from './until.ts';

const PROGRAM = join(import.meta.dirname, 'small-program.ts');
export const IMAGES = {
  good: 'svc.test/good:1',
  other: 'svc.test/good:2',
  missing: 'svc.test/missing:1',
  crashing: 'svc.test/crashing:1',
  /** Never ready with its data. */
  stuck: 'svc.test/stuck:1',
  /** Takes a while with its data, and to end. */
  slow: 'svc.test/slow:1',
  /** Ignores SIGTERM. */
  stubborn: 'svc.test/stubborn:1',
  /** Ends at once, and reports that its module is refused. */
  refused: 'svc.test/fails_SVC_MODULE_MALFORMED:1',
  /** Ends at once, and reports something that may go by itself. */
  unreadable: 'svc.test/fails_SVC_MODULE_UNREADABLE:1',
  /** Says in its state file that it is ready, and does not listen. */
  deaf: 'svc.test/deaf:1',
  /** Says in its state file that it is ready, and at /ready that it is not. */
  unready: 'svc.test/unready:1',
  /** Ends at once without a report, but with a line of output. */
  silent: 'svc.test/silent:1',
};

export interface MachineOptions {
  /** Whether one instance at a time has the data of its service. */
  readonly hasDataFolder?: boolean;
  readonly section?: Partial<LocalSection>;
  readonly clock?: LocalClock;
  readonly network?: string;
  /** Awaited by each read of an image. */
  readonly whileReading?: () => Promise<void>;
  /** Default: nobody routes. */
  readonly routes?: RequestRoutes;
  /** Opens the control groups of the machine in a folder. Default: there are none. */
  readonly cgroups?: (machineFolder: string) => InstanceCgroups | undefined;
  /** What the machine cannot run of any descriptor. */
  readonly problems?: readonly Problem[];
  /** Version of svc that is installed when it is asked for. Default: it runs everything. */
  readonly version?: () => string;
  /** Version of svc in the labels of images that have one, by their names. */
  readonly labels?: Readonly<Record<string, string>>;
}

export class MachineUnderTest {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-local-'));
  orchestrator: LocalOrchestrator;
  readonly #options: MachineOptions;

  constructor(options: MachineOptions = {}) {
    this.#options = options;
    this.orchestrator = this.open();
  }

  /** Ends the orchestrator as a crash would, and starts another one. */
  async restart(): Promise<void> {
    await this.orchestrator[Symbol.asyncDispose]();
    this.orchestrator = this.open();
  }

  instances(): readonly InstanceFolder[] {
    return InstanceFolder.readAll(join(this.folder, 'instances'));
  }

  /** Process ids of all instances. */
  pids(): readonly number[] {
    return this.instances().map((folder) => folder.lastRun!.process!.pid);
  }

  async discard(): Promise<void> {
    for (const key of this.#keys()) await this.orchestrator.reconcile({ kind: 'removed', key });
    for (const key of this.#keys())
      await until(async () => (await this.orchestrator.observe(key)).kind === 'none');
    await this.orchestrator[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #keys(): readonly ServiceKey[] {
    return ['cart', 'shop'].map((service) => ({ project: 'web', service }));
  }

  /** Opens a further orchestrator of the folder. */
  open(): LocalOrchestrator {
    return openMachine(this.folder, this.#options);
  }
}

/** Opens an orchestrator of small programs. */
export function openMachine(folder: string, options: MachineOptions = {}): LocalOrchestrator {
  const { whileReading, problems = [], version, labels = {}, hasDataFolder = false } = options;
  return new LocalOrchestrator({
    lock: new MachineLock(folder),
    section: {
      ...LOCAL_DEFAULTS,
      rolloutPollMs: 20,
      idlePollMs: 50,
      takeoverTimeoutMs: 500,
      imagePauseMs: 50,
      killAfterMs: 300,
      ...options.section,
    },
    rollout: { drainMs: 100 },
    network: options.network ?? '127.84',
    images: {
      isKept: () => true,
      async resolve({ descriptor: { image } }) {
        await whileReading?.();
        if (image === IMAGES.missing)
          return { kind: 'failed', reason: `cannot pull ${image}: not found`, isFinal: false };
        const { [image]: runtime } = labels;
        const label = runtime === undefined ? {} : { protocol: '0.2.0', runtime };
        const digest = `sha256:${'0'.repeat(64)}`;
        return { kind: 'found', image: { digest, moduleFile: image, ...label } };
      },
    },
    routes: options.routes ?? new NobodyRoutes(),
    log: () => {},
    clock: options.clock ?? LOCAL_CLOCK,
    cgroups: options.cgroups?.(folder),
    problemsOf: (_key, descriptor, imageRuntime) =>
      version === undefined
        ? problems
        : problemsHere(
            descriptor,
            { version: version(), noPrograms: undefined, hasServiceAudience: false },
            imageRuntime,
          ),
    journals: {
      storageOf: () => (hasDataFolder ? 'folder' : 'none'),
      cohortOf: () => undefined,
      provide: () => Promise.resolve(),
    },
    commandOf: ({ stateFile, spec }) => ({
      file: process.execPath,
      args: [
        PROGRAM,
        stateFile,
        /\/(\w+):/.exec(spec.moduleFile!)![1]!,
        hasDataFolder ? join(folder, 'data', spec.key.service) : '-',
        spec.address,
        String(spec.ports.management),
      ],
      env: {},
      sockets: { calls: 'calls' },
    }),
  });
}
