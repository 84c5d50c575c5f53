// SpanExport takes the recorded spans from the shards and exports them by OTLP over HTTP, in a thread of its own
// (observability/otlp-worker.ts), so that neither a shard nor the main thread waits for a receiver. Invariants:
// I1  At most `svc.observability.export-queue-max` spans are being exported; more are left in the shards' windows.
// I2  A sampled span is taken once at most, and counted as exported or dropped. Only spans that are lost when a shard
//     ends are not counted. Spans that are not sampled are not exported; those that leave a window untaken are counted
//     as dropped like sampled ones, because only their number is known.
// I3  A receiver that is unreachable, slow or refuses spans has no other effect than a log line, metrics, and a stop
//     that takes up to LAST_EXPORT_MS longer.
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type ModuleDescriptor, routeTemplate } from '@svc/contract';
import type { ExportCounts } from './metrics-source.ts';
import { SvcError } from '@svc/kit/svc-error';
import type {
  ExportedRoute,
  FromOtlpWorker,
  OtlpSettings,
  ToOtlpWorker,
} from './observability/otlp-messages.ts';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { RecordedSpan } from '../shards/recorder/recorded-span.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import type { IntrospectionPart } from './introspection-part.ts';
import type { ServiceView } from './service-view.ts';

/** Maximum number of spans per question to a shard, and per export. */
const SPANS_AT_ONCE = 512;
/** Time limit for a shard's answer; a busy shard keeps its spans for the next time. */
const ASK_TIMEOUT_MS = 5_000;
/** How long a stop waits for the receiver, in milliseconds. */
const LAST_EXPORT_MS = 2_000;
/** Heap of the thread in MiB, without the spans that wait in the thread. */
const HEAP_MIB = 128;
/** Maximum size of a span with its messages, in KiB. */
const SPAN_KIB_MAX = 8;

/** URL to which spans are sent, and the headers of the requests. */
export type OtlpReceiver = NonNullable<ServiceView['settings']['otlp']>;

/** Position up to which a shard's spans were taken. */
interface Cursor {
  /** Id of the thread that numbers the spans; 0 before the first answer. */
  threadId: number;
  /** Number of the last span that was taken; 0 if there is none. */
  after: number;
  /** Number of spans that the shard had recorded at its last answer. */
  recorded: number;
  /** Whether the shard is being asked. A busy shard does not delay the others. */
  isTaking: boolean;
  /** Settles when the latest question to the shard has been handled. */
  taken: Promise<void>;
}

export class SpanExport implements IntrospectionPart {
  readonly #view: ServiceView;
  readonly #url: string;
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #queueMax: number;
  readonly #cursors: readonly Cursor[];
  /** Called when the number of spans in flight changes. */
  readonly #waiting = new Set<() => void>();
  /** Sum of the limits in the questions that shards have not answered yet. */
  #asked = 0;
  /** Number of spans that were sent to the thread and are not settled yet. */
  #inFlight = 0;
  #exported = 0;
  #dropped = 0;
  #isDropLogged = false;
  #hasEnded = false;

  constructor(view: ServiceView, { url, headers }: OtlpReceiver, descriptor: ModuleDescriptor) {
    this.#view = view;
    this.#url = url;
    const { settings, shards, env } = view;
    const { exportQueueMax, exportIntervalMs, exportTimeoutMs } = settings.sections.observability;
    this.#queueMax = exportQueueMax;
    this.#cursors = Array.from({ length: shards.count }, () => ({
      threadId: 0,
      after: 0,
      recorded: 0,
      isTaking: false,
      taken: Promise.resolve(),
    }));
    const workerData: OtlpSettings = {
      url,
      headers,
      timeoutMs: exportTimeoutMs,
      source: {
        service: settings.name,
        instanceId: randomUUID(),
        runtimeVersion: RUNTIME_VERSION,
        routes: routesOf(descriptor),
      },
    };
    this.#worker = new Worker(new URL('./observability/otlp-worker.ts', import.meta.url), {
      name: 'otlp',
      workerData,
      env,
      resourceLimits: {
        maxOldGenerationSizeMb: HEAP_MIB + Math.ceil((exportQueueMax * SPAN_KIB_MAX) / 1024),
      },
    });
    this.#worker.on('message', (message: FromOtlpWorker) => this.#settle(message));
    this.#worker.on('error', (error: unknown) => this.#fail(String(error)));
    this.#timer = setInterval(() => this.#take(), exportIntervalMs).unref();
    // This lets a program that embeds a service end once its own work is done.
    this.#worker.unref();
    view.metrics.exportCounts = () => this.counts();
  }

  counts(): ExportCounts {
    return { exported: this.#exported, dropped: this.#dropped };
  }

  /** Names spans after the routes of the new module from now on. */
  replaced({ descriptor }: SourceDescription): void {
    this.#post({ kind: 'routes', routes: routesOf(descriptor) });
  }

  /** Takes the remaining spans from the shards, which have answered all requests. Never rejects. */
  async finished(): Promise<void> {
    clearInterval(this.#timer);
    await this.#taken();
    this.#take();
    await this.#taken();
    const left = this.#cursors.reduce((sum, { recorded, after }) => sum + recorded - after, 0);
    if (left > 0) this.#drop(left, 'The service stopped before there was room for them.');
  }

  /** Waits for exports in progress, at most LAST_EXPORT_MS, and ends the thread. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const { exportTimeoutMs } = this.#view.settings.sections.observability;
    const waitMs = Math.min(LAST_EXPORT_MS, exportTimeoutMs);
    const settled = Promise.withResolvers<void>();
    const timer = setTimeout(settled.resolve, waitMs);
    const look = () => this.#inFlight === 0 && settled.resolve();
    this.#waiting.add(look);
    look();
    await settled.promise;
    clearTimeout(timer);
    if (this.#hasEnded) return;
    this.#end(`The service stopped, and there was no answer within ${waitMs} ms.`);
    await this.#worker.terminate();
    const { log } = this.#view;
    if (this.#dropped > 0)
      log({ level: 'info', message: 'spans exported until the end', fields: { ...this.counts() } });
  }

  #take(): void {
    for (const [shard, cursor] of this.#cursors.entries())
      if (!cursor.isTaking) cursor.taken = this.#takeFrom(shard, cursor);
  }

  async #taken(): Promise<void> {
    await Promise.all(this.#cursors.map(async ({ taken }) => taken));
  }

  /** Takes spans from one shard until it has no further ones, or there is no room for them. Never rejects. */
  async #takeFrom(shard: number, cursor: Cursor): Promise<void> {
    cursor.isTaking = true;
    try {
      while (await this.#takeSome(shard, cursor));
    } catch (bug) {
      this.#fail(bug instanceof Error ? (bug.stack ?? bug.message) : String(bug));
    } finally {
      cursor.isTaking = false;
    }
  }

  /** Takes spans of one shard. Returns whether to ask again, because the shard may have more. */
  async #takeSome(shard: number, cursor: Cursor): Promise<boolean> {
    const limit = Math.min(SPANS_AT_ONCE, this.#queueMax - this.#asked - this.#inFlight);
    if (limit === 0 || this.#hasEnded) return false;
    // Other shards are asked concurrently.
    this.#asked += limit;
    const answer = await this.#ask(shard, cursor.after, limit);
    this.#asked -= limit;
    if (answer === undefined) return false;
    const { spans, recorded, threadId } = answer;
    cursor.recorded = recorded;
    if (threadId !== cursor.threadId) {
      const isSkipped = cursor.after > 0;
      cursor.threadId = threadId;
      cursor.after = 0;
      // The question named a position in the spans of the previous thread, so it is asked again from the beginning.
      if (isSkipped) return true;
    }
    const [first] = spans;
    if (first === undefined) return false;
    const missed = first.number - cursor.after - 1;
    if (missed > 0)
      this.#drop(
        missed,
        'They left the window (svc.observability.ring-capacity) before they could be exported.',
      );
    cursor.after = spans.at(-1)!.number;
    const wanted = spans.filter(({ isSampled }) => isSampled);
    if (wanted.length > 0) this.#send(wanted);
    return spans.length === limit;
  }

  async #ask(shard: number, after: number, limit: number) {
    const { shards } = this.#view;
    try {
      return await shards.ask(shard, { kind: 'spans', after, limit }, ASK_TIMEOUT_MS);
    } catch (error) {
      // The shard is restarting or busy, and is asked again at the next interval.
      if (error instanceof SvcError) return undefined;
      throw error;
    }
  }

  #send(spans: readonly RecordedSpan[]): void {
    if (this.#hasEnded) return this.#drop(spans.length, 'The export has ended.');
    this.#inFlight += spans.length;
    this.#post({ kind: 'spans', spans });
  }

  #post(message: ToOtlpWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#worker.postMessage(message);
  }

  #settle({ spans, problem }: FromOtlpWorker): void {
    // Spans that were dropped at the end are counted already.
    if (this.#hasEnded) return;
    this.#inFlight -= spans;
    if (problem === undefined) this.#exported += spans;
    else this.#drop(spans, problem);
    for (const look of this.#waiting) look();
  }

  #fail(reason: string): void {
    if (this.#hasEnded) return;
    this.#view.log({ level: 'error', message: 'no more spans are exported', fields: { reason } });
    this.#end('The export has failed.');
    void this.#worker.terminate();
  }

  /** Ends the export; spans in progress are dropped. */
  #end(reason: string): void {
    clearInterval(this.#timer);
    this.#hasEnded = true;
    const lost = this.#inFlight;
    this.#inFlight = 0;
    if (lost > 0) this.#drop(lost, reason);
    for (const look of this.#waiting) look();
  }

  /** Counts dropped spans. Only the first ones are logged; a metric has their number. */
  #drop(spans: number, reason: string): void {
    this.#dropped += spans;
    if (this.#isDropLogged) return;
    this.#isDropLogged = true;
    const { origin, pathname } = new URL(this.#url);
    this.#view.log({
      level: 'warn',
      message: 'spans are not exported; further ones are counted only',
      fields: { endpoint: `${origin}${pathname}`, spans, reason },
    });
  }
}

function routesOf({ endpoints }: ModuleDescriptor): ExportedRoute[] {
  return endpoints.flatMap(({ name, prefix, routes }) =>
    routes.map(({ handler, method, path }) => ({
      endpoint: name,
      handler,
      method,
      path: routeTemplate(prefix, path),
    })),
  );
}
