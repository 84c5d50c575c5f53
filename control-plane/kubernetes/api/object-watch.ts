// ObjectWatch follows the objects of a path of the API: it lists them, and then receives what changes, for as long as it is open.
//
// Invariants
// W1  Callbacks come one after the other. A list is the whole truth at its version: what it lacks does not exist. Changes follow it in
//     the order of the server.
// W2  A watch goes on from the last version that it has received, and lists again when the server no longer has that version, says
//     something that cannot be understood, or is silent: a list cannot miss anything. With `isListedAnew` every watch begins with a list, so that
//     a server which leaves out changes is found out after `watchMs`.
// W3  After a failure it pauses, twice as long after each further one, up to `pauseMaxMs`; a server that asks for more time gets it, up to
//     that limit. Only a watch that has lasted ends the series. So neither a server that fails nor one that ends every watch at once is
//     asked in a loop.
// W4  No callback follows once it is being disposed of.
// W5  `isLive` is true only while an answer to a watch is open, from its beginning, and it was not silent for `silentMs`; and for BETWEEN_MS after it has
//     ended as it should, unless something fails. So what is not known yet has changed within this time.
import { type Clock, SYSTEM_CLOCK } from '@svc/kit/clock';
import { type KubeClient, METADATA } from './kube-client.ts';
import { KubeError, statusError } from './kube-error.ts';
import { checkedObject, type KubeObject, versionOf } from './kube-object.ts';
import type { JsonObject } from './kube-transport.ts';
import { transportError } from './transport-error.ts';
import { readEvents } from './watch-lines.ts';

export type ObjectChange = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface WatchCallbacks {
  /** All objects that there are now. */
  readonly onList: (objects: readonly KubeObject[]) => void;
  readonly onChange: (change: ObjectChange, object: KubeObject) => void;
  /** A list or a watch has failed, and is tried again. Must not throw. */
  readonly onFailure?: (error: KubeError) => void;
}

export interface WatchLimits {
  /** Time after which the server is asked to end a watch, so that another one begins. */
  readonly watchMs: number;
  /** A watch without any event or bookmark for this time is ended. The server sends bookmarks about once a minute. */
  readonly silentMs: number;
  readonly pauseMinMs: number;
  readonly pauseMaxMs: number;
  readonly eventBytesMax: number;
}

export interface ObjectWatchOptions extends WatchCallbacks {
  readonly client: KubeClient;
  readonly path: string;
  readonly labelSelector?: string;
  /** True: objects have their metadata alone. */
  readonly metadataOnly?: boolean;
  /** True: each watch begins with a list, also after one that has ended as it should. */
  readonly isListedAnew?: boolean;
  readonly limits?: Partial<WatchLimits>;
  readonly clock?: Clock;
  /** Returns a number from 0 to 1, by which pauses of several watches differ. */
  readonly random?: () => number;
}

export const WATCH_LIMITS_DEFAULT: WatchLimits = {
  watchMs: 240_000,
  silentMs: 120_000,
  pauseMinMs: 100,
  pauseMaxMs: 30_000,
  eventBytesMax: 8 * 1024 * 1024,
};

const CHANGES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED']);
/** `Gone`, and `Gateway Timeout` for a version that the server has not reached, as after a restore. */
const OTHER_HISTORY: ReadonlySet<number | undefined> = new Set([410, 504]);
/** A watch that has lasted this long was none that the server refuses by ending it. */
const LASTING_MS = 5000;
/** Time in which the next watch begins after one that has ended as it should. */
const BETWEEN_MS = 5000;

export class ObjectWatch implements AsyncDisposable {
  readonly #options: ObjectWatchOptions;
  readonly #limits: WatchLimits;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  /** Version to go on from; undefined: the objects have to be listed. */
  #version: string | undefined;
  /** Failures in a row, and watches that have ended at once. */
  #failures = 0;
  /** When the answer to the present watch has begun, by the monotonic clock. */
  #openedMs: number | undefined;
  /** When the server last said something in the present watch, by the monotonic clock; undefined: no watch is open. */
  #heardMs: number | undefined;
  /** When the last watch has ended as it should, by the monotonic clock, unless something has failed since. */
  #endedMs = -Infinity;

  constructor(options: ObjectWatchOptions) {
    this.#options = options;
    this.#limits = { ...WATCH_LIMITS_DEFAULT, ...options.limits };
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#ended = this.#run();
  }

  /** Whether the server says what changes now: a watch is open, and was not silent for too long. */
  get isLive(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return this.#heardMs === undefined
      ? nowMs - this.#endedMs < BETWEEN_MS
      : nowMs - this.#heardMs < this.#limits.silentMs;
  }

  /** Ends the watch. Resolves once its request has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#openedMs = undefined;
      let failure: KubeError | undefined;
      try {
        if (this.#version === undefined) await this.#list();
        await this.#watch();
        if (this.#options.isListedAnew === true) this.#version = undefined;
      } catch (error) {
        if (signal.aborted) return;
        failure = transportError(error);
        this.#endedMs = -Infinity;
        const isOther = failure.kind === 'invalid' || OTHER_HISTORY.has(failure.status);
        if (isOther || this.#options.isListedAnew === true) this.#version = undefined;
        this.#options.onFailure?.(failure);
      }
      const hasLasted = this.#clock.monotonicMs() - (this.#openedMs ?? Infinity) >= LASTING_MS;
      if (hasLasted) this.#failures = 0;
      if (failure !== undefined || !hasLasted) await this.#pause(failure);
    }
  }

  async #list(): Promise<void> {
    const { client, path, labelSelector, metadataOnly = false, onList } = this.#options;
    const { signal } = this.#stopping;
    const { items, version } = await client.list(path, { labelSelector, metadataOnly, signal });
    signal.throwIfAborted();
    called(() => onList(items));
    this.#version = version;
  }

  async #watch(): Promise<void> {
    const { client, path, labelSelector, metadataOnly = false } = this.#options;
    const silence = new AbortController();
    let cancel = this.#afterSilence(silence);
    try {
      await client.transport.stream(
        {
          method: 'GET',
          path,
          query: {
            watch: true,
            allowWatchBookmarks: true,
            resourceVersion: this.#version,
            timeoutSeconds: Math.ceil(this.#limits.watchMs / 1000),
            labelSelector,
          },
          signal: AbortSignal.any([this.#stopping.signal, silence.signal]),
          ...(metadataOnly ? { accept: METADATA } : {}),
          endsInTime: false,
        },
        (pieces) => {
          this.#openedMs = this.#heardMs = this.#clock.monotonicMs();
          return readEvents(pieces, this.#limits.eventBytesMax, (event) => {
            this.#stopping.signal.throwIfAborted();
            cancel();
            cancel = this.#afterSilence(silence);
            this.#take(event);
            this.#heardMs = this.#clock.monotonicMs();
          });
        },
      );
      this.#endedMs = this.#clock.monotonicMs();
    } finally {
      this.#heardMs = undefined;
      cancel();
    }
  }

  #afterSilence(silence: AbortController): () => void {
    const { silentMs } = this.#limits;
    const { path } = this.#options;
    return this.#clock.after(silentMs, () =>
      silence.abort(new KubeError('invalid', `the watch of ${path} is silent for ${silentMs} ms`)),
    );
  }

  #take({ type, object }: JsonObject): void {
    const where = `an event of the watch ${this.#options.path}`;
    if (type === 'ERROR') throw watchError(object as JsonObject | undefined);
    if (type === 'BOOKMARK') {
      this.#version = versionOf(object as JsonObject, where);
      return;
    }
    if (!CHANGES.has(type))
      throw new KubeError('invalid', `${where} has the unknown type ${JSON.stringify(type)}`);
    const changed = checkedObject(object, where);
    const version = versionOf(changed, where);
    called(() => this.#options.onChange(type as ObjectChange, changed));
    this.#version = version;
  }

  async #pause(failure: KubeError | undefined): Promise<void> {
    const { pauseMinMs, pauseMaxMs } = this.#limits;
    // A version that is gone is no failure of the server: the list follows at once, unless that goes on.
    const isExpired = failure?.status === 410 && this.#failures === 0;
    const doubled = pauseMinMs * 2 ** Math.min(this.#failures++, 30);
    if (isExpired) return;
    const wantedMs = Math.max(doubled, failure?.retryAfterMs ?? 0);
    const spread = 0.8 + 0.4 * (this.#options.random ?? Math.random)();
    const { signal } = this.#stopping;
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      const cancel = this.#clock.after(Math.min(pauseMaxMs, wantedMs) * spread, () => {
        signal.removeEventListener('abort', end);
        resolve();
      });
      const end = () => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

function watchError(status: JsonObject | undefined): KubeError {
  if (status === null || typeof status !== 'object')
    return new KubeError('invalid', 'a watch reports an error without a status');
  const error = statusError(status);
  if (error.status === 410) return error;
  return new KubeError('invalid', error.message, { reason: error.reason, status: error.status });
}

/** A callback that throws is a failure like any other: the objects are listed again. */
function called(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    throw new KubeError('invalid', `a callback of a watch has failed: ${String(error)}`, {
      cause: error,
    });
  }
}
