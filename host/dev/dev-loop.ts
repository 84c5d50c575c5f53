// DevLoop runs the modules of `svc dev` one after the other: it serves each new build, keeps the state of the latest
// build for the console, and checks in the background whether stored events can still be folded. If a module is
// refused or fails to start, the previous one keeps serving. If a module fails only when it takes over, its
// start is retried, and its refusal is cleared once it serves.
import type { DevProblem, DevState } from '@svc/contract';
import type { FromDevHost, ToDevHost } from './dev-messages.ts';
import { checkUpgrade } from '../history/upgrade-check.ts';
import type { Finding } from '../history/upgrade-finding.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { Log } from '@svc/kit/log';
import type { ModuleSwap } from './module-swap.ts';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { locationName } from '../storage/journal-location.ts';

export type BuiltModule = Extract<ToDevHost, { readonly kind: 'module' }>;

type RefusedAt = Extract<ToDevHost, { readonly kind: 'refused-at' }>;

const RETRY_HELP =
  'The module before it has made room, and serves no more: this one is started again until it serves.';

export interface ServedForDev {
  readonly url: string | undefined;
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  readonly swap: ModuleSwap;
}

export class DevLoop {
  readonly log: Log = (entry) => this.#send({ kind: 'log', entry });
  readonly #send: (message: FromDevHost) => void;
  #state: DevState = {
    state: 'building',
    since: now(),
    problems: [],
    upgrade: null,
    builtMs: null,
    servedAfterMs: null,
  };
  /** The newest build that was not tried yet. */
  #next: BuiltModule | undefined;
  /** Resolves the pending promise of `nextModule`; undefined if none is pending. */
  #resolveNext: ((module: BuiltModule) => void) | undefined;
  /** The module that is served, and the means to replace it. */
  #served: ServedForDev | undefined;
  #isSwapping = false;
  /** File of the module that was refused last. */
  #refusedFile: string | undefined;
  /** The latest build whose start had to be retried; it is kept after it serves. */
  #tried: BuiltModule | undefined;
  /** Aborts the check of stored events against the module that is served. */
  #check: AbortController | undefined;

  constructor(send: (message: FromDevHost) => void) {
    this.#send = send;
  }

  /** The state that the console shows. */
  state(): DevState {
    return this.#state;
  }

  onMessage(message: ToDevHost): void {
    switch (message.kind) {
      case 'building':
        this.#served?.swap.prepare();
        return this.#setState({ state: 'building' });
      case 'build-failed':
        return this.#setState({ state: 'build-failed', problems: message.problems.map(copy) });
      case 'refused-at':
        return this.#refusedAt(message);
      case 'module':
        this.#next = message;
        if (this.#resolveNext === undefined) return void this.#swapPending();
        this.#resolveNext(this.#take()!);
        this.#resolveNext = undefined;
        return undefined;
    }
  }

  /** Resolves with the first module to serve, or with the next build if that module was refused. */
  async nextModule(): Promise<BuiltModule> {
    const next = this.#take();
    if (next !== undefined) return next;
    const { promise, resolve } = Promise.withResolvers<BuiltModule>();
    this.#resolveNext = resolve;
    return promise;
  }

  /** Notes that the first module is served. */
  begin(served: ServedForDev, built: BuiltModule): void {
    this.#served = served;
    this.#reportServed(built, served.source);
    void this.#swapPending();
  }

  /** Called when the shard serves again. Reports the retried module as served; does nothing if none is retried. */
  recovered(): void {
    const served = this.#served;
    const again = served?.swap.recovered();
    if (served === undefined || again === undefined) return;
    this.#served = { ...served, source: again.source };
    // A newer build may have been reported since.
    const isNewest = this.#state.state === 'refused' && this.#refusedFile === again.file;
    this.#reportServed(this.#tried!, again.source, isNewest);
  }

  /** Stops serving and checking. */
  async end(): Promise<void> {
    this.#check?.abort(new SvcError('SVC_STOPPING', 'The service is being stopped.'));
    const served = this.#served;
    this.#served = undefined;
    await served?.swap.close();
  }

  /**
   * Reports a refused module. `isRetried`: the previous module has stopped, so the start of this one is retried
   * until it serves.
   */
  refused(
    { code, message, cause }: SvcError,
    file: string,
    settings: HostingSettings,
    isRetried = false,
  ): void {
    const help = isRetried ? RETRY_HELP : null;
    const problem = { file: null, line: null, column: null, source: null, help };
    this.#refusedFile = file;
    this.#setState({
      state: 'refused',
      problems: [{ ...problem, message: `${message} [${code}]` }],
    });
    const frames = cause instanceof GuestFault ? cause.frames : undefined;
    this.#send({ kind: 'refused', file, code, message, frames, settings, isRetried });
  }

  #refusedAt({ file, location, source }: RefusedAt): void {
    const { state, problems } = this.#state;
    // Another module may be built or served by now.
    if (state !== 'refused' || file !== this.#refusedFile) return;
    const { file: inFile, line, column } = location;
    this.#state = {
      ...this.#state,
      problems: problems.map((problem) => ({ ...problem, file: inFile, line, column, source })),
    };
  }

  #take(): BuiltModule | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  async #swapPending(): Promise<void> {
    // Later modules wait until the first one is served.
    if (this.#isSwapping || this.#served === undefined) return;
    this.#isSwapping = true;
    try {
      for (let built = this.#take(); built !== undefined; built = this.#take())
        await this.#swapTo(built);
    } finally {
      this.#isSwapping = false;
    }
  }

  async #swapTo(built: BuiltModule): Promise<void> {
    const served = this.#served;
    if (served === undefined) return;
    const { swap } = served;
    if (built.file === swap.servedFile) return this.#reportServed(built, served.source);
    this.#endCheck();
    try {
      const source = await swap.replace(built.file);
      // The loop was ended meanwhile.
      if (this.#served === undefined) return;
      this.#served = { ...served, source };
      this.#reportServed(built, source);
    } catch (error) {
      if (this.#served === undefined) return;
      if (!(error instanceof SvcError)) throw error;
      const isRetried = swap.servedFile === undefined;
      if (isRetried) this.#tried = built;
      this.refused(error, built.file, served.settings, isRetried);
    }
  }

  /** Reports a served build, and begins to check it. `isNewest`: false if a newer build has been reported since. */
  #reportServed(
    { file, builtMs, builtAtMs }: BuiltModule,
    served: GuestSource,
    isNewest = true,
  ): void {
    const afterMs = performance.timeOrigin + performance.now() - builtAtMs;
    if (isNewest)
      this.#setState({
        state: 'serving',
        problems: [],
        upgrade: null,
        builtMs,
        servedAfterMs: afterMs,
      });
    const { url, swap, settings } = this.#served!;
    const { location } = swap;
    const dataFolder = location.kind === 'folder' ? location.dir : undefined;
    const journal = locationName(location);
    const { kind, fingerprint } = served;
    const source = { kind, file, fingerprint };
    this.#send({ kind: 'served', source, settings, url, dataFolder, journal, afterMs, isNewest });
    void this.#checkUpgrade(served);
  }

  async #checkUpgrade(source: GuestSource): Promise<void> {
    const { swap, settings } = this.#served!;
    this.#endCheck();
    const check = new AbortController();
    this.#check = check;
    let findings: readonly string[];
    try {
      const question = { location: swap.location, now: source, settings, threads: 1 };
      const answer = await checkUpgrade({ ...question, signal: check.signal });
      findings = answer.findings.map(sentence);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (check.signal.aborted) return;
      const { code, message: reason } = error;
      const message = 'the stored events could not be looked at';
      return this.log({ level: 'warn', message, fields: { code, reason } });
    }
    if (check.signal.aborted) return;
    this.#state = { ...this.#state, upgrade: [...findings] };
    this.#send({ kind: 'upgrade', findings });
  }

  /** Aborts the check of the module that was served until now. */
  #endCheck(): void {
    this.#check?.abort(new SvcError('SVC_STOPPING', 'Another module is there.'));
  }

  #setState(news: Partial<DevState>): void {
    this.#state = { ...this.#state, since: now(), ...news };
  }
}

function now(): string {
  return new Date().toISOString();
}

function copy({ message, file, line, column, source, help }: DevProblem): DevProblem {
  return { message, file, line, column, source, help };
}

/** Returns a finding of the check as one sentence, with its first example if it has one. */
function sentence({ component, message, entities, examples }: Finding): string {
  const [first] = examples;
  if (first === undefined) return `${component}: ${message}`;
  const at = first.seq === undefined ? first.id : `${first.id}, event ${first.seq}`;
  const others = entities === 1 ? '' : ` and ${entities - 1} more`;
  return `${component}: ${message} (${at}${others}): ${first.problem}`;
}
