// What the main thread and a shard say to each other.
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
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
  /** Everything in flight is finished. */
  | { readonly kind: 'stopped' };

export type ToShard =
  /** The port leads to the journal's writer. */
  | { readonly kind: 'serve'; readonly journal: MessagePort }
  | { readonly kind: 'stop'; readonly graceMs: number };

/** What a shard is started with. */
export interface ShardSettings {
  readonly moduleBytes: Uint8Array;
  readonly name: string;
  /** Not a run on a developer's machine. */
  readonly deployed: boolean;
  readonly dataFolder: string;
  readonly address: Address;
  readonly rooms: Pick<RoomSettings, 'http' | 'engine' | 'wasm'>;
}
