// Messages between the main thread and the thread that exports spans (otlp-worker.ts).
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** Start data of the thread. */
export interface OtlpSettings {
  readonly url: string;
  /** They may be secrets, and are never shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for one export, in milliseconds. */
  readonly timeoutMs: number;
  readonly source: OtlpSource;
}

/** The service whose spans are exported. */
export interface OtlpSource {
  readonly service: string;
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

/** Result for a number of the spans that the thread was given: exported or dropped. Each span is settled once. */
export interface FromOtlpWorker {
  readonly spans: number;
  /** Why they were not exported; undefined if they were. */
  readonly problem: string | undefined;
}
