// What the main thread and the thread that exports spans (otlp-worker.ts) say to one another.
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** With what the thread is started. */
export interface OtlpSettings {
  readonly url: string;
  /** They may be secrets, and are never told. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one export. */
  readonly timeoutMs: number;
  readonly source: OtlpSource;
}

/** Whose spans they are. */
export interface OtlpSource {
  readonly service: string;
  readonly instanceId: string;
  readonly runtimeVersion: string;
  /** What endpoints' spans are named by. */
  readonly routes: readonly ExportedRoute[];
}

export interface ExportedRoute {
  readonly endpoint: string;
  readonly handler: string;
  readonly method: string;
  /** The whole template: `/carts/{cartId}`. */
  readonly path: string;
}

export type ToOtlpWorker =
  | { readonly kind: 'spans'; readonly spans: readonly RecordedSpan[] }
  /** Those of a module that is served in the place of the one before. */
  | { readonly kind: 'routes'; readonly routes: readonly ExportedRoute[] };

/** Of spans that it was given: they have arrived, or it has given them up. Each is settled once. */
export interface FromOtlpWorker {
  readonly spans: number;
  /** Why they were not exported; undefined: they were. */
  readonly problem: string | undefined;
}
