// ConvergenceTrial: one machine whose control plane, router, or an instance, is killed at a step of each change. After the next start
// everything has to be as desired, soon, the router has to know it, and nothing may be left over or have been replaced without need.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { InstanceFolder } from '../../../../control-plane/local/instance-folder.ts';
import { killAll, processesOfRuns } from '../../../../control-plane/local/run-processes.ts';
import type {
  DesiredService,
  RemovedService,
} from '../../../../control-plane/orchestration/orchestrator.ts';
import { Random } from '../../../support/random.ts';
import { CART, cart } from '../cart.ts';
import { IMAGES } from '../machine-under-test.ts';
import { RouterProcess } from './router-process.ts';

const PROGRAM = join(import.meta.dirname, 'orchestrator-program.ts');
const EFFECTS = join(import.meta.dirname, 'interrupted-effects.ts');
/** Steps of the longest change, about. Beyond the last step nothing is killed. */
const STEPS_MAX = 160;
/** Time in which the router knows what runs, in milliseconds. */
const ROUTED_WITHIN_MS = 5000;
const VICTIMS = [
  'control-plane',
  'control-plane',
  'control-plane',
  'router',
  'oldest',
  'newest',
] as const;
const CHANGES = ['apply', 'apply', 'restart', 'pause', 'delete'] as const;
/** Files of the machine itself. */
const OWN = new Set([
  'lock',
  'lock-journal',
  'owner.json',
  'owner.json.new',
  'routes.sock',
  'routes.json',
  'routes.json.new',
  'sockets',
]);

/** A folder of the sockets of a project, which goes at the next start. */
const SOCKETS_OF_PROJECT = /\/sockets\/[0-9a-f]{16}$/;

export interface TrialResult {
  readonly what: string;
  readonly settledMs: number;
  readonly complaints: readonly string[];
}

export class ConvergenceTrial {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-converge-')));
  readonly #router = new RouterProcess(join(this.#folder, 'routes.sock'));
  #generation = 1;
  #desired: DesiredService | RemovedService = cart(IMAGES.good, 1);
  #isFirst = true;

  /** Makes one change that is interrupted, starts the control plane again, and looks. */
  async change(seed: number): Promise<TrialResult> {
    const random = new Random(seed);
    if (this.#isFirst) await this.#run(this.#desired, undefined);
    this.#isFirst = false;
    const started = this.#started();
    const kind = random.pick(CHANGES);
    const victim = random.pick(VICTIMS);
    const step = random.below(STEPS_MAX) + 1;
    this.#desired = this.#next(kind);
    await this.#run(this.#desired, `${step}:${victim === 'router' ? this.#router.pid : victim}`);
    const sinceMs = performance.now();
    const complaints: string[] = [];
    let settledMs = 0;
    await this.#run(this.#desired, undefined, async () => {
      settledMs = performance.now() - sinceMs;
      complaints.push(...(await this.#unrouted()));
    });
    complaints.push(...this.#leftOver());
    if (victim === 'control-plane' || victim === 'router')
      complaints.push(...this.#needless(started));
    return {
      what: `seed ${seed}: ${kind}, ${victim} killed at step ${step}`,
      settledMs,
      complaints,
    };
  }

  /** Ends all processes, and removes the folder. */
  async discard(): Promise<void> {
    await this.#router.end();
    killAll(processesOfRuns(`${this.#folder}/`));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #next(kind: (typeof CHANGES)[number]): DesiredService | RemovedService {
    if (this.#desired.kind === 'desired' && kind === 'delete')
      return { kind: 'removed', key: CART };
    if (this.#desired.kind === 'desired' && kind === 'pause')
      return { ...this.#desired, instances: 0, isPaused: true };
    this.#generation++;
    const image = kind === 'restart' ? IMAGES.good : IMAGES.other;
    return cart(image, this.#generation, { incarnation: `life${this.#generation}` });
  }

  /** Resolves once the program has said that all is as desired and was killed then, or was killed at its step. */
  async #run(
    desired: object,
    interruption: string | undefined,
    settled: () => Promise<void> = async () => {},
  ): Promise<void> {
    const program = spawn(
      process.execPath,
      [
        ...(interruption === undefined ? [] : ['--import', EFFECTS]),
        PROGRAM,
        this.#folder,
        JSON.stringify(desired),
      ],
      {
        env: { ...process.env, SVC_TEST_INTERRUPT: interruption },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    program.stdout.on('data', () => void settled().finally(() => program.kill('SIGKILL')));
    const { promise, resolve } = Promise.withResolvers<void>();
    program.once('close', () => resolve());
    await promise;
  }

  /** Names of instances in the order of their starts. */
  #started(): readonly string[] {
    const file = join(this.#folder, 'data', 'cart.starts');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  /** The router sends requests to the instances that run, and to no other. */
  async #unrouted(): Promise<readonly string[]> {
    const all = InstanceFolder.readAll(join(this.#folder, 'instances'));
    const serves = this.#desired.kind === 'desired' && this.#desired.instances > 0;
    const wanted = serves ? all.map(({ spec }) => spec.name) : [];
    const routed = await this.#router.instancesWithin(ROUTED_WITHIN_MS, wanted);
    return routed.join() === wanted.join()
      ? []
      : [`the router has ${routed.join() || 'no instance'} instead of ${wanted.join() || 'none'}`];
  }

  *#leftOver(): Generator<string> {
    const instances = InstanceFolder.readAll(join(this.#folder, 'instances'));
    const sockets = new Set(instances.map(({ spec }) => `${spec.address}-${spec.ports.http}.sock`));
    const noted = new Set(instances.map((folder) => folder.lastRun?.process?.pid));
    for (const { start } of processesOfRuns(`${this.#folder}/`))
      if (!noted.has(start.pid)) yield `the process ${start.pid} is left over`;
    const known = instances.map(({ path }) => path);
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const isOfInstance = known.some((one) => path.startsWith(one) || one.startsWith(path));
      if (
        path.startsWith(join(this.#folder, 'data')) ||
        OWN.has(entry.name) ||
        SOCKETS_OF_PROJECT.test(path) ||
        sockets.has(entry.name)
      )
        continue;
      if (isOfInstance ? path.endsWith('.new') : !this.#isOfService(path))
        yield `${path} is left over`;
    }
  }

  #isOfService(path: string): boolean {
    if (
      [this.#folder, join(this.#folder, 'services'), join(this.#folder, 'instances')].includes(path)
    )
      return true;
    const isOfRecord = path.startsWith(join(this.#folder, 'services', 'web'));
    return isOfRecord && this.#desired.kind === 'desired' && !path.endsWith('.new');
  }

  /** With the control plane killed alone, every instance is started once, and only instances of what is desired now are. */
  *#needless(before: readonly string[]): Generator<string> {
    const started = this.#started()
      .slice(before.length)
      .map((path) => basename(path));
    const starts = this.#desired.kind === 'desired' ? this.#desired.instances : 0;
    if (started.length !== starts)
      yield `${started.length} starts instead of ${starts}: ${started.join(', ')}`;
  }
}
