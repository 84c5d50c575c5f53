// DevLoop: what a service does while its developer works on it: it serves one module after the other, keeps what there
// is to say of the last build, and looks in the background whether stored events still fold. A module that is refused,
// or fails at its start, leaves the one before it in its place; one that cannot take it in the end is tried again, and
// once it serves nothing is left of its refusal.
import type { DevProblem, DevState } from '@svc/contract';
import type { FromDevHost, ToDevHost } from './dev-messages.ts';
import { checkUpgrade } from '../history/upgrade-check.ts';
import type { Finding } from '../history/upgrade-finding.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { Log } from '@svc/kit/log';
import type { ModuleSwap } from './module-swap.ts';
import { GuestFault } from '../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

export type BuiltModule = Extract<ToDevHost, { readonly kind: 'module' }>;

type RefusedAt = Extract<ToDevHost, { readonly kind: 'refused-at' }>;

const TRIED_AGAIN =
  'The module before it has made room, and serves no more: this one is started again until it serves.';

export interface ServedForDev {
  readonly url: string | undefined;
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  readonly swap: ModuleSwap;
}

export class DevLoop {
  readonly log: Log = (entry) => this.#tell({ kind: 'log', entry });
  readonly #tell: (message: FromDevHost) => void;
  #state: DevState = {
    state: 'building',
    since: now(),
    problems: [],
    upgrade: null,
    builtMs: null,
    servedAfterMs: null,
  };
  /** Not looked at yet; of several the newest. */
  #next: BuiltModule | undefined;
  /** Waits for one. */
  #wanted: ((module: BuiltModule) => void) | undefined;
  /** What is served, and how it is given another module. */
  #served: ServedForDev | undefined;
  #isSwapping = false;
  /** Of the module that was refused last. */
  #refusedFile: string | undefined;
  /** It is tried again until it serves. */
  #tried: BuiltModule | undefined;
  #check: AbortController | undefined;

  constructor(tell: (message: FromDevHost) => void) {
    this.#tell = tell;
  }

  /** What the console is told. */
  state(): DevState {
    return this.#state;
  }

  hear(message: ToDevHost): void {
    switch (message.kind) {
      case 'building':
        this.#served?.swap.prepare();
        return this.#note({ state: 'building' });
      case 'build-failed':
        return this.#note({ state: 'build-failed', problems: message.problems.map(copy) });
      case 'refused-at':
        return this.#refusedAt(message);
      case 'module':
        this.#next = message;
        if (this.#wanted === undefined) return void this.#goOn();
        this.#wanted(this.#take()!);
        this.#wanted = undefined;
        return undefined;
    }
  }

  /** The first module that is to be served, or the next when that was refused. */
  async nextModule(): Promise<BuiltModule> {
    const next = this.#take();
    if (next !== undefined) return next;
    const { promise, resolve } = Promise.withResolvers<BuiltModule>();
    this.#wanted = resolve;
    return promise;
  }

  /** The first module is served. */
  begin(served: ServedForDev, built: BuiltModule): void {
    this.#served = served;
    this.#isServed(built, served.source);
    void this.#goOn();
  }

  /** The service is served again after it was not. */
  servesAgain(): void {
    const served = this.#served;
    const again = served?.swap.servesAgain();
    if (served === undefined || again === undefined) return;
    this.#served = { ...served, source: again.source };
    // Of what was built after it something else is told by now.
    const isNews = this.#state.state === 'refused' && this.#refusedFile === again.file;
    this.#isServed(this.#tried!, again.source, isNews);
  }

  /** Nothing more is served. */
  async end(): Promise<void> {
    this.#check?.abort(new SvcError('SVC_STOPPING', 'The service is being stopped.'));
    const served = this.#served;
    this.#served = undefined;
    await served?.swap.close();
  }

  /** The module is not served. `isTriedAgain`: the one before it is gone, and it is started until it serves. */
  refused(
    { code, message, cause }: SvcError,
    file: string,
    settings: HostingSettings,
    isTriedAgain = false,
  ): void {
    const help = isTriedAgain ? TRIED_AGAIN : null;
    const problem = { file: null, line: null, column: null, source: null, help };
    this.#refusedFile = file;
    this.#note({ state: 'refused', problems: [{ ...problem, message: `${message} [${code}]` }] });
    const frames = cause instanceof GuestFault ? cause.frames : undefined;
    this.#tell({ kind: 'refused', file, code, message, frames, settings, isTriedAgain });
  }

  #refusedAt({ file, place, source }: RefusedAt): void {
    const { state, problems } = this.#state;
    // Meanwhile another one may be served, or built.
    if (state !== 'refused' || file !== this.#refusedFile) return;
    const { file: inFile, line, column } = place;
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

  async #goOn(): Promise<void> {
    // Before the first is served, the next one waits.
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
    if (built.file === swap.servedFile) return this.#isServed(built, served.source);
    this.#endCheck();
    try {
      const source = await swap.replace(built.file);
      // It was ended meanwhile.
      if (this.#served === undefined) return;
      this.#served = { ...served, source };
      this.#isServed(built, source);
    } catch (error) {
      if (this.#served === undefined) return;
      if (!(error instanceof SvcError)) throw error;
      const isTriedAgain = swap.servedFile === undefined;
      if (isTriedAgain) this.#tried = built;
      this.refused(error, built.file, served.settings, isTriedAgain);
    }
  }

  #isServed({ file, builtMs, builtAtMs }: BuiltModule, served: GuestSource, isNews = true): void {
    const afterMs = performance.timeOrigin + performance.now() - builtAtMs;
    if (isNews)
      this.#note({
        state: 'serving',
        problems: [],
        upgrade: null,
        builtMs,
        servedAfterMs: afterMs,
      });
    const { url, swap, settings } = this.#served!;
    const { dataFolder } = swap;
    const { kind, fingerprint } = served;
    const source = { kind, file, fingerprint };
    this.#tell({ kind: 'served', source, settings, url, dataFolder, afterMs, isNews });
    void this.#checkUpgrade(served);
  }

  async #checkUpgrade(source: GuestSource): Promise<void> {
    const { swap, settings } = this.#served!;
    this.#endCheck();
    const check = new AbortController();
    this.#check = check;
    let findings: readonly string[];
    try {
      const question = { dir: swap.dataFolder, now: source, settings, threads: 1 };
      const answer = await checkUpgrade({ ...question, signal: check.signal });
      findings = answer.findings.map(sentence);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      findings = [`the stored events could not be looked at: ${error.message} [${error.code}]`];
    }
    if (check.signal.aborted) return;
    this.#state = { ...this.#state, upgrade: [...findings] };
    this.#tell({ kind: 'upgrade', findings });
  }

  /** Of the module that was served until now. */
  #endCheck(): void {
    this.#check?.abort(new SvcError('SVC_STOPPING', 'Another module is there.'));
  }

  #note(news: Partial<DevState>): void {
    this.#state = { ...this.#state, since: now(), ...news };
  }
}

function now(): string {
  return new Date().toISOString();
}

function copy({ message, file, line, column, source, help }: DevProblem): DevProblem {
  return { message, file, line, column, source, help };
}

function sentence({ component, message, entities, examples }: Finding): string {
  const [first] = examples;
  if (first === undefined) return `${component}: ${message}`;
  const at = first.seq === undefined ? first.id : `${first.id}, event ${first.seq}`;
  const others = entities === 1 ? '' : ` and ${entities - 1} more`;
  return `${component}: ${message} (${at}${others}): ${first.problem}`;
}
