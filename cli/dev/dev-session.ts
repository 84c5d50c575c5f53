// DevSession: one run of `svc dev`: it compiles changed sources, sends the module to the service, and prints the
// results, until it is stopped.
//
// Invariants:
// - S1 Only one build runs at a time; all changes during a build lead to at most one further build.
// - S2 A change of a file that is not part of the module starts no build, unless the last build has failed.
import { relative, resolve } from 'node:path';
import type { DevProblem } from '@svc/contract';
import type { BuiltComponent, Problem } from '@svc/guest-sdk/compiler';
import { FileWatch } from '@svc/kit/file-watch';
import { type FaultLocator, type FromDevHost, sourceLocations } from '@svc/host/tools';
import { CommandFailure } from '../command.ts';
import { loadCompiler } from '../compiler.ts';
import { DevModules, type DevProject } from './dev-project.ts';
import { DevService } from './dev-service.ts';
import { DevTerminal } from './dev-terminal.ts';
import { readSourceLine } from './source-line.ts';

/** Optimisation level: fast builds with exact source locations. `svc build` builds what is deployed. */
const OPTIMIZE_LEVEL = 0;
/** Folders that contain no sources of the project, or none that its author writes. */
const LEFT_OUT = new Set(['node_modules', '.svc', '.git', 'build', 'dist']);

export interface DevSessionOptions {
  readonly project: DevProject;
  /** Arguments of the service, as for `svc run`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** A build that was sent to the service. It has no code, because all builds of a session stay in memory. */
interface SentBuild extends Pick<BuiltComponent, 'descriptor' | 'warnings'> {
  readonly fingerprint: string;
  readonly builtMs: number;
  readonly changed: readonly string[];
}

type Served = Extract<FromDevHost, { readonly kind: 'served' }>;
type Refused = Extract<FromDevHost, { readonly kind: 'refused' }>;

export class DevSession {
  readonly #project: DevProject;
  readonly #terminal: DevTerminal;
  readonly #modules: DevModules;
  readonly #service: DevService;
  readonly #watch: FileWatch;
  readonly #failed = Promise.withResolvers<never>();
  /** Files that changed since the last build began. */
  #changed: readonly string[] = [];
  #isBuilding = false;
  #isStopping = false;
  /** True until a module is served. */
  #isFirst = true;
  /** Absolute paths of the module's sources; undefined before the first build, and if the last build has failed. */
  #sources: ReadonlySet<string> | undefined;
  /** Path of a module's file → its build. */
  readonly #sentBuilds = new Map<string, SentBuild>();
  /** Resolves with the source locations of the served module's faults; undefined until a module is served. */
  #locator: (() => Promise<FaultLocator>) | undefined;
  /** Resolves when all log entries and refusals so far are printed, in the order of their arrival. */
  #shown: Promise<void> = Promise.resolve();

  constructor({ project, args, env }: DevSessionOptions) {
    this.#project = project;
    this.#terminal = new DevTerminal(project.root);
    this.#modules = new DevModules(project);
    this.#failed.promise.catch(() => {});
    this.#watch = new FileWatch(project.root, {
      leavesOut: (name) => LEFT_OUT.has(name),
      accepts: (file) => file.endsWith('.ts'),
      onChange: (files) => void this.#onChange(files),
      onFailure: (failure) => this.#failed.reject(failure),
    });
    this.#service = new DevService({
      args,
      cwd: project.root,
      env,
      onMessage: (message) => this.#onMessage(message),
      onOutput: (text) => this.#terminal.output(text),
    });
  }

  /**
   * Runs until `stopRequested` resolves, then cleans up. Rejects if the service fails, sources cannot be watched, or
   * the compiler itself fails; sources that do not compile are only reported.
   */
  async run(stopRequested: Promise<unknown>): Promise<void> {
    void this.#service.ended.then((code) => {
      this.#failed.reject(
        new CommandFailure(
          'SVC_SHARD_FAILED',
          `The service's process ended by itself (${code ?? 'by a signal'}). Start svc dev again.`,
        ),
      );
    });
    try {
      await Promise.race([this.#build(), this.#failed.promise, stopRequested]);
      await Promise.race([stopRequested, this.#failed.promise]);
      this.#terminal.stopping();
    } finally {
      this.#isStopping = true;
      this.#watch.close();
      await this.#service.stop();
      await this.#shown;
      this.#modules.remove();
    }
    this.#terminal.stopped();
  }

  /** Kills the service's process. */
  kill(): void {
    this.#service.kill();
  }

  async #onChange(files: readonly string[]): Promise<void> {
    const known = this.#sources;
    const relevant = known === undefined ? files : files.filter((file) => known.has(file));
    if (this.#isStopping) return;
    // The files of the module are known only after the build.
    this.#changed = [...new Set([...this.#changed, ...(this.#isBuilding ? files : relevant)])];
    if (this.#changed.length > 0 && !this.#isBuilding) await this.#build();
  }

  async #build(): Promise<void> {
    this.#isBuilding = true;
    try {
      do {
        const changed =
          this.#changed.length > 0 ? this.#changed : [resolve(this.#project.entryFile)];
        this.#changed = [];
        this.#terminal.building(changed);
        this.#service.send({ kind: 'building' });
        await this.#buildOnce(changed);
        this.#changed = this.#changed.filter((file) => this.#sources?.has(file) !== false);
      } while (this.#changed.length > 0 && !this.#isStopping);
    } catch (error) {
      this.#failed.reject(error);
    } finally {
      this.#isBuilding = false;
    }
  }

  async #buildOnce(changed: readonly string[]): Promise<void> {
    const { entryFile } = this.#project;
    const { buildComponent, BuildError } = await loadCompiler();
    const startedMs = performance.now();
    let built: BuiltComponent;
    try {
      built = await buildComponent({ entryFile, optimizeLevel: OPTIMIZE_LEVEL });
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      this.#sources = undefined;
      this.#terminal.failed(error.problems);
      const problems = error.problems.map((problem) => this.#sentProblem(problem));
      this.#service.send({ kind: 'build-failed', problems });
      return;
    }
    const builtAtMs = performance.timeOrigin + performance.now();
    const builtMs = performance.now() - startedMs;
    // The source map does not name files without code of their own, such as one that has only data classes.
    this.#sources = new Set(built.inputs.map(({ file }) => file));
    if (this.#isStopping) return;
    const file = await this.#modules.write(built);
    const { descriptor, warnings, sourceMap } = built;
    const fingerprint = sourceMap!.x_svc_module;
    this.#sentBuilds.set(file, { descriptor, warnings, fingerprint, builtMs, changed });
    this.#service.send({ kind: 'module', file, builtMs, builtAtMs });
  }

  #onMessage(message: FromDevHost): void {
    switch (message.kind) {
      case 'served':
        return this.#onServed(message);
      case 'refused':
        return this.#onRefused(message);
      case 'upgrade':
        return this.#terminal.upgrade(message.findings);
      case 'log':
        this.#shown = this.#shown.then(async () => {
          const hasFault =
            message.entry.frames !== undefined || message.entry.fields?.['guestMessage'];
          this.#terminal.logged(message.entry, hasFault ? await this.#locator?.() : undefined);
        });
        return undefined;
      case 'failed':
        return this.#failed.reject(new CommandFailure(message.code, message.message));
    }
  }

  #onRefused({ code, message, file, frames, settings, isRetried }: Refused): void {
    const build = this.#sentBuilds.get(file);
    this.#shown = this.#shown.then(async () => {
      const fingerprint = build?.fingerprint ?? '';
      const locator = await sourceLocations({ kind: 'wasm', file, fingerprint }, settings);
      const found = locator.locationsOf({ frames });
      this.#terminal.refused(code, message, found, isRetried);
      const [location] = found;
      if (location === undefined) return;
      const source = readSourceLine(this.#project.root, location) ?? null;
      this.#service.send({ kind: 'refused-at', file, location, source });
    });
  }

  #onServed(served: Served): void {
    const build = this.#sentBuilds.get(served.source.file);
    if (build === undefined) return;
    const { descriptor, builtMs, changed, warnings } = build;
    // The source map is read when a fault needs it.
    let locator: Promise<FaultLocator> | undefined;
    this.#locator = () => (locator ??= sourceLocations(served.source, served.settings));
    if (!served.isNewest) return;
    const details = { descriptor, builtMs, changed, warnings };
    this.#terminal.served(served, this.#project.name, details);
    if (served.url !== undefined && !process.stdout.isTTY && this.#isFirst)
      process.stdout.write(`${served.url}\n`);
    this.#isFirst = false;
  }

  /**
   * Converts a problem. The path of its file becomes relative to the project's folder, except for a file of a library
   * (`~lib/…`). A missing value becomes null.
   */
  #sentProblem({ message, file, line, column, sourceLine, help }: Problem): DevProblem {
    const isOwn = file !== undefined && !file.startsWith('~lib/');
    return {
      message,
      file: isOwn ? relative(this.#project.root, resolve(file)) : (file ?? null),
      line: line ?? null,
      column: column ?? null,
      source: sourceLine ?? null,
      help: help ?? null,
    };
  }
}
