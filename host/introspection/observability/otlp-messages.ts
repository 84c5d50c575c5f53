// Messages between the main thread and the thread that exports spans (otlp-worker.ts).
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** Start data of the thread. */
export interface OtlpSettings {
  readonly url: string;
  /** Headers of each export request. They may contain secrets, so they are never logged or shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for one export, in milliseconds. */
  readonly timeoutMs: number;
  readonly source: OtlpSource;
}

/** The service whose spans are exported. */
export interface OtlpSource {
  readonly service: string;
  /** Drawn at each start; other than the id under which a local service registers. */
  readonly instanceId: string;
  readonly runtimeVersion: string;
  /** Routes after which the spans of endpoints are named. */
  readonly routes: readonly ExportedRoute[];
}

export interface ExportedRoute {
  readonly endpoint: string;
  readonly handler: string;
  readonly method: string;
  /** The whole path template: `/carts/{cartId}`. */
  readonly path: string;
}

export type ToOtlpWorker =
  | { readonly kind: 'spans'; readonly spans: readonly RecordedSpan[] }
  /** Routes of a module that has replaced the one before. */
  | { readonly kind: 'routes'; readonly routes: readonly ExportedRoute[] };

/** Result for spans that the thread has received: all of them were exported, or all were dropped. */
export interface FromOtlpWorker {
  /** Number of the spans. Each span is counted in one result. */
  readonly spans: number;
  /** Why the spans were dropped; undefined if they were exported. */
  readonly problem: string | undefined;
}
