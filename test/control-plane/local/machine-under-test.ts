// MachineUnderTest: a local orchestrator in a folder of its own, whose services are small programs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { LocalOrchestrator } from '../../../control-plane/local/local-orchestrator.ts';
import { NobodyRoutes } from '../../../control-plane/local/request-routes.ts';
import type { ServiceKey } from '@svc/client';
import { until } from './until.ts';

const PROGRAM = join(import.meta.dirname, 'small-program.ts');
export const IMAGES = {
  good: 'svc.test/good:1',
  other: 'svc.test/good:2',
  missing: 'svc.test/missing:1',
  crashing: 'svc.test/crashing:1',
  /** Never ready with its data. */
  stuck: 'svc.test/stuck:1',
  /** Ignores SIGTERM. */
  stubborn: 'svc.test/stubborn:1',
};

export class MachineUnderTest {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-local-'));
  orchestrator: LocalOrchestrator;
  readonly #hasDataFolder: boolean;

  constructor(hasDataFolder = false) {
    this.#hasDataFolder = hasDataFolder;
    this.orchestrator = this.#open();
  }

  /** Ends the orchestrator as a crash would, and starts another one. */
  async restart(): Promise<void> {
    await this.orchestrator[Symbol.asyncDispose]();
    this.orchestrator = this.#open();
  }

  /** Process ids of all instances. */
  pids(): readonly number[] {
    return InstanceFolder.readAll(join(this.folder, 'instances')).map(
      (folder) => folder.lastRun!.pid,
    );
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

  #open(): LocalOrchestrator {
    return new LocalOrchestrator({
      folder: this.folder,
      section: {
        ...LOCAL_DEFAULTS,
        rolloutPollMs: 20,
        idlePollMs: 50,
        takeoverTimeoutMs: 500,
        imagePauseMs: 50,
        killAfterMs: 300,
        drainMs: 100,
      },
      network: '127.84',
      images: {
        async resolve({ image }) {
          return image === IMAGES.missing
            ? { kind: 'failed', reason: `cannot pull ${image}: not found`, isFinal: false }
            : { kind: 'found', image: { digest: `sha256:${'0'.repeat(64)}`, moduleFile: image } };
        },
      },
      routes: new NobodyRoutes(),
      log: () => {},
      problemsOf: () => [],
      hasDataFolder: () => this.#hasDataFolder,
      commandOf: ({ stateFile, spec }) => ({
        file: process.execPath,
        args: [
          PROGRAM,
          stateFile,
          /\/(\w+):/.exec(spec.moduleFile)![1]!,
          this.#hasDataFolder ? join(this.folder, 'data', spec.key.service) : '-',
        ],
        env: {},
      }),
    });
  }
}
