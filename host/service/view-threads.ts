// ViewThreads own the threads that fold events into the rows of a service's views: one that follows the journal, and, while
// rows are being built, one that builds them. Both run on the main thread's behalf, which runs no code of a module itself. A
// service without views has none of them.
//
// Invariants
// T1  Only the threads of one source run at a time: those of the former one have ended before those of the next start.
// T2  A view is with one thread at a time: it is built before it is followed.
// T3  After `stop` no thread is started, and none is left.
import assert from 'node:assert';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { SharedViewMemory, SharedViews } from '@svc/model/view';
import type { ViewLimits } from '@svc/model/view-limits';
import { RestartPauses } from '../shards/restart-pauses.ts';
import type { SupervisorLimits } from '../shards/supervisor-limits.ts';
import type { FollowerConnection } from '../storage/follower-connection.ts';
import { systemClock } from '../system.ts';
import { SharedView } from '../views/shared-view.ts';
import { declaredViews } from '../views/view-definitions.ts';
import type { ViewChange, ViewProblem, ViewReport } from '../views/view-report.ts';
import type { StoppedAt } from '../views/view-stopped.ts';
import type {
  AskedChange,
  FailedChange,
  FromViewThread,
  ToViewThread,
  ViewRole,
  ViewThreadSettings,
} from './view-messages.ts';

export interface ViewThreadsOptions {
  /** Resolves once the journal is open; may stay pending. */
  readonly connection: Promise<FollowerConnection>;
  readonly hosting: HostingSettings;
  readonly limits: ViewLimits;
  readonly supervision: SupervisorLimits;
  /** The whole environment of the threads. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Code of the threads. */
  readonly file?: URL;
}

/** How long a start waits for views, in milliseconds. */
const ANSWER_WAIT_MS = 10_000;
/** The longest reason for which an event is skipped, in UTF-16 units. */
export const SKIP_REASON_UNITS_MAX = 1_000;

export class ViewThreads {
  readonly #options: ViewThreadsOptions;
  #current: SourceViews | undefined;
  /** Settles when the threads of former sources have ended; never rejects. */
  #formerEnded: Promise<void> = Promise.resolve();

  constructor(options: ViewThreadsOptions) {
    this.#options = options;
  }

  /**
   * Returns the memory of the source's views, and keeps them up to date from now on instead of those of the former
   * source. Returns undefined if the source has no views. May be called again with the same source.
   */
  serve(source: GuestSource): SharedViews | undefined {
    if (this.#current?.source === source) return this.#current.shared;
    const former = this.#current;
    if (former !== undefined) {
      this.#current = undefined;
      this.#formerEnded = Promise.all([this.#formerEnded, former.stop()]).then(() => {});
    }
    if (source.descriptor.views === undefined) return undefined;
    this.#current = new SourceViews(source, this.#options);
    void this.#current.start(this.#formerEnded);
    return this.#current.shared;
  }

  /**
   * Resolves once each view of the present source answers its queries, or is known not to do so soon: it has stopped, fails, or has
   * many events to fold. Resolves after ANSWER_WAIT_MS and with the signal as well.
   */
  async answering(signal: AbortSignal): Promise<void> {
    await this.#current?.answering(signal);
  }

  /** Returns how the views of the present source fare. */
  report(): readonly ViewReport[] {
    return this.#current?.report() ?? [];
  }

  /**
   * Leaves an event out of the rows of a view that has stopped at it, for good or until the view has another definition, and
   * lets the view go on. `reason`: why, up to SKIP_REASON_UNITS_MAX UTF-16 units. Rejects with SVC_VIEW_IN_USE,
   * SVC_VIEW_CORRUPT, SVC_DATA_UNUSABLE and SVC_DISK_FULL, and then nothing is skipped.
   */
  async skip(view: string, { entity, seq }: StoppedAt, reason: string): Promise<ViewChange> {
    assert(reason.length <= SKIP_REASON_UNITS_MAX, 'a reason that is too long');
    const skip = { entity, seq, reason, timeMs: systemClock.nowMs() };
    return (await this.#current?.change({ view, skip })) ?? 'unknown-view';
  }

  /**
   * Builds the rows of a view again from all events, except those that were skipped. Resolves once that has begun.
   */
  async rebuild(view: string): Promise<ViewChange> {
    return (await this.#current?.change({ view, skip: undefined })) ?? 'unknown-view';
  }

  /** Ends the threads, after the events that are being folded. */
  async stop(): Promise<void> {
    await Promise.all([this.#formerEnded, this.#current?.stop()]);
  }
}

/** The views of one source, and the threads that they are with. */
class SourceViews {
  readonly source: GuestSource;
  readonly shared: SharedViews;
  readonly #options: ViewThreadsOptions;
  readonly #pauses: Readonly<Record<ViewRole, RestartPauses>>;
  readonly #threads: Partial<Record<ViewRole, Worker>> = {};
  /** All threads that have not ended, including those that are about to. */
  readonly #running = new Set<Worker>();
  /** Ids of the views that are being built, or wait for it. */
  readonly #toBuild = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The reasons why views do not follow, by their ids. */
  readonly #problems = new Map<string, ViewProblem>();
  readonly #skips = new Map<string, readonly SkippedEvent[]>();
  /** Called once a view is known not to answer soon, by their ids. */
  readonly #delayed = new Map<string, () => void>();
  /** The changes that are under way, by their numbers. */
  readonly #changes = new Map<number, PendingChange>();
  #changeCount = 0;
  #connection: FollowerConnection | undefined;
  #isStopping = false;

  constructor(source: GuestSource, options: ViewThreadsOptions) {
    this.source = source;
    this.#options = options;
    const views = source.descriptor.views ?? [];
    this.shared = Object.fromEntries(
      views.map(({ id }): [string, SharedViewMemory] => [id, new SharedView().memory]),
    );
    const { supervision } = options;
    this.#pauses = {
      follow: new RestartPauses(supervision),
      build: new RestartPauses(supervision),
    };
  }

  async start(formerEnded: Promise<void>): Promise<void> {
    [this.#connection] = await Promise.all([this.#options.connection, formerEnded]);
    this.#startThread('follow');
  }

  async answering(signal: AbortSignal): Promise<void> {
    const untilMs = performance.now() + ANSWER_WAIT_MS;
    const delays = Object.keys(this.shared).map(async (id) => {
      if (this.#toBuild.has(id) || this.#problems.has(id)) return;
      const delayed = Promise.withResolvers<void>();
      this.#delayed.set(id, delayed.resolve);
      const shared = new SharedView(this.shared[id]);
      await Promise.race([delayed.promise, shared.reached(isDecided, untilMs)]);
    });
    await Promise.race([Promise.all(delays), once(signal, 'abort')]);
  }

  report(): readonly ViewReport[] {
    const { descriptor, fingerprint } = this.source;
    return declaredViews(descriptor, fingerprint).map(({ folded: { id, stored } }) => {
      const { state, position } = new SharedView(this.shared[id]);
      const problem = this.#problems.get(id);
      const skips = this.#skips.get(id) ?? [];
      return { id, definition: stored.definition, state, position, problem, skips };
    });
  }

  async change(asked: AskedChange): Promise<ViewChange> {
    const { view } = asked;
    if (!Object.hasOwn(this.shared, view)) return 'unknown-view';
    const thread = this.#threads[this.#toBuild.has(view) ? 'build' : 'follow'];
    if (thread === undefined) return 'unavailable';
    const number = this.#changeCount++;
    const { promise, resolve } = Promise.withResolvers<ViewChange | FailedChange>();
    this.#changes.set(number, { thread, resolve });
    post(thread, { kind: 'change', number, asked });
    const outcome = await promise;
    if (typeof outcome === 'object') throw new SvcError(outcome.code, outcome.message);
    return outcome;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const { stopMarginMs } = this.#options.supervision;
    await Promise.all(
      [...this.#running].map(async (thread) => {
        post(thread, { kind: 'stop' });
        const timer = setTimeout(() => void thread.terminate(), stopMarginMs);
        await ended(thread);
        clearTimeout(timer);
      }),
    );
  }

  #startThread(role: ViewRole): void {
    if (this.#isStopping || this.#threads[role] !== undefined) return;
    const { hosting, limits, env, supervision, file } = this.#options;
    const { source, shared } = this;
    const views =
      role === 'build'
        ? [...this.#toBuild]
        : Object.keys(shared).filter((view) => !this.#toBuild.has(view));
    const settings: ViewThreadSettings = {
      role,
      source,
      hosting,
      connection: this.#connection!,
      limits,
      shared,
      views,
    };
    const thread = new Worker(file ?? new URL('./view-thread.ts', import.meta.url), {
      name: `views ${role}`,
      workerData: settings,
      env,
      resourceLimits: { maxOldGenerationSizeMb: supervision.shardHeapMib },
    });
    this.#threads[role] = thread;
    this.#running.add(thread);
    const sinceMs = performance.now();
    let reason = 'the thread ended without saying why';
    thread.on('message', (message: FromViewThread) => this.#receive(message));
    thread.on('error', (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    thread.on('exit', () => {
      this.#running.delete(thread);
      for (const [number, { thread: asked, resolve }] of this.#changes)
        if (asked === thread) {
          this.#changes.delete(number);
          resolve('unavailable');
        }
      if (this.#threads[role] !== thread) return;
      delete this.#threads[role];
      this.#startAgain(role, reason, performance.now() - sinceMs);
    });
  }

  #startAgain(role: ViewRole, reason: string, servedMs: number): void {
    if (this.#isStopping) return;
    const pauseMs = this.#pauses[role].next(servedMs);
    this.#options.log({
      level: 'error',
      message: 'the thread that folds views ended by itself and is started again',
      fields: { code: 'SVC_SHARD_FAILED', reason, pauseMs },
    });
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#startThread(role);
    }, pauseMs);
    this.#timers.add(timer);
  }

  #receive(message: FromViewThread): void {
    switch (message.kind) {
      case 'log':
        return this.#options.log(message.entry);
      case 'problem':
        if (message.problem === undefined) this.#problems.delete(message.view);
        else this.#problems.set(message.view, message.problem);
        return this.#delayed.get(message.view)?.();
      case 'skips':
        this.#skips.set(message.view, message.skips);
        return;
      case 'changed':
        this.#changes.get(message.number)?.resolve(message.outcome);
        this.#changes.delete(message.number);
        return;
      case 'to-build':
        return this.#build(message.view);
      case 'built':
        return this.#built(message.view);
    }
  }

  #build(view: string): void {
    const fields = { view };
    this.#options.log({ level: 'info', message: 'the rows of a view are being built', fields });
    this.#toBuild.add(view);
    this.#delayed.get(view)?.();
    const thread = this.#threads.build;
    if (thread === undefined) this.#startThread('build');
    else post(thread, { kind: 'take', view });
  }

  #built(view: string): void {
    this.#toBuild.delete(view);
    const { follow, build } = this.#threads;
    // A thread that is started again later begins with all views that are not being built.
    if (follow !== undefined) post(follow, { kind: 'take', view });
    if (this.#toBuild.size > 0 || build === undefined) return;
    delete this.#threads.build;
    post(build, { kind: 'stop' });
  }
}

function isDecided({ state }: SharedView): boolean {
  return state === 'live' || state === 'stopped';
}

interface PendingChange {
  readonly thread: Worker;
  readonly resolve: (outcome: ViewChange | FailedChange) => void;
}

function post(thread: Worker, message: ToViewThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  thread.postMessage(message);
}

function ended(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    thread.once('exit', () => resolve());
  });
}
