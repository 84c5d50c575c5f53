// ProcessSettings: the bounds that the runtime puts on a process that holds the code of its service.

export interface ProcessSettings {
  /** Milliseconds for a connection to the process and its first frame. */
  readonly connectTimeoutMs: number;
  /** A process that has sent nothing for this long, although it was asked, counts as dead. */
  readonly silenceMs: number;
  /** Milliseconds for opening an entity, for its snapshot, and for folding a batch of events. */
  readonly foldTimeoutMs: number;
  /** Milliseconds for a command or a query. */
  readonly commandTimeoutMs: number;
  /** Milliseconds for a handler of an endpoint or a consumer. */
  readonly handlerTimeoutMs: number;
  /** Bytes that wait to be sent to the process, above which calls are refused. */
  readonly unsentBytesMax: number;
  /** The most calls of handlers in progress in one shard. */
  readonly hostCallsMax: number;
  /** The longest pause before the next attempt to reach the process. */
  readonly reconnectMaxMs: number;
}

export const PROCESS_SETTINGS_DEFAULT: ProcessSettings = {
  connectTimeoutMs: 5_000,
  silenceMs: 10_000,
  foldTimeoutMs: 10_000,
  commandTimeoutMs: 5_000,
  handlerTimeoutMs: 60_000,
  unsentBytesMax: 64 * 1024 * 1024,
  hostCallsMax: 4_096,
  reconnectMaxMs: 500,
};

const DURATION_MS_MAX = 1_000_000_000;

/** Minimum and maximum of each setting. */
export const PROCESS_SETTINGS_RANGE: Readonly<
  Record<keyof ProcessSettings, readonly [number, number]>
> = {
  connectTimeoutMs: [100, DURATION_MS_MAX],
  silenceMs: [100, DURATION_MS_MAX],
  foldTimeoutMs: [10, DURATION_MS_MAX],
  commandTimeoutMs: [10, DURATION_MS_MAX],
  handlerTimeoutMs: [10, DURATION_MS_MAX],
  unsentBytesMax: [1_048_576, 4_294_967_296],
  hostCallsMax: [1, 1_000_000],
  reconnectMaxMs: [50, DURATION_MS_MAX],
};
