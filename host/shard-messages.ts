// What the main thread and a shard say to each other.
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { AdmittedModule } from './hosting/wasm/admission.ts';
import type { RoomSettings } from './room-settings.ts';
import type { SvcErrorCode } from './model/svc-error.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export type FromShard =
  /** The module passed admission and started under its start-up limits; nothing on disk was touched. */
  | { readonly kind: 'admitted'; readonly descriptor: ModuleDescriptor }
  | { readonly kind: 'listening'; readonly address: Address }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string }
  | { readonly kind: 'log'; readonly entry: LogEntry }
  /** The answer to `are-you-alive`. */
  | { readonly kind: 'alive' }
  /** Everything in flight is finished. */
  | { readonly kind: 'stopped' };

export type ToShard =
  /** What to run: it was admitted, and none of its code has run. */
  | { readonly kind: 'run'; readonly module: AdmittedModule }
  /** The port leads to the journal's writer. */
  | { readonly kind: 'serve'; readonly journal: MessagePort }
  /** Asked now and then while it serves. With it comes how much of its log is written (log-rate.ts). */
  | { readonly kind: 'are-you-alive'; readonly loggedBytes: number }
  | { readonly kind: 'stop'; readonly graceMs: number };

/** What a shard is started with. */
export interface ShardSettings {
  readonly name: string;
  /** Not a run on a developer's machine. */
  readonly deployed: boolean;
  readonly dataFolder: string;
  readonly address: Address;
  /** What LimitCounters share. */
  readonly counters: SharedArrayBuffer;
  readonly rooms: Pick<RoomSettings, 'http' | 'engine' | 'wasm' | 'log'>;
}
