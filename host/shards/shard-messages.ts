// What the main thread and a shard say to each other.
import type { ModuleDescriptor } from '@svc/contract';
import type { FaultEntry } from '../model/fault-entry.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import type { WasmFrame } from '../model/guest-fault.ts';
import type { SharedRequestBudgets } from '../model/request-budgets.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { JournalConnection } from '../storage/journal-connection.ts';
import type { PeerLink } from './peer-link.ts';
import type { ShardSections } from './shard-sections.ts';
import type { SharedNumbers } from './shard-numbers.ts';
import type { ShardAnswer, ShardQuestion } from './shard-questions.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export type FromShard =
  /** The module passed admission and started under its start-up limits; nothing on disk was touched. */
  | { readonly kind: 'admitted'; readonly descriptor: ModuleDescriptor }
  /** It serves. Without an address: the service has no HTTP server. */
  | { readonly kind: 'listening'; readonly address: Address | undefined }
  | {
      readonly kind: 'failed';
      readonly code: SvcErrorCode;
      readonly message: string;
      /** Of the module's fault that it comes of. */
      readonly frames?: readonly WasmFrame[] | undefined;
    }
  | { readonly kind: 'log'; readonly entry: FaultEntry }
  /** To the `ask` of that number. */
  | { readonly kind: 'answer'; readonly number: number; readonly answer: ShardAnswer }
  /** The answer to `are-you-alive`. */
  | { readonly kind: 'alive' }
  /** It serves no request any more, and still calls and requests of other shards. `hasCut`: some had to be cut. */
  | { readonly kind: 'finished'; readonly hasCut: boolean }
  /** Everything in flight is finished, and the engine closed. */
  | { readonly kind: 'stopped' };

export type ToShard =
  /** What to run; none of its code has run. */
  | { readonly kind: 'run'; readonly source: GuestSource }
  /** The connection leads to the journal; `peers`, to other shards. */
  | {
      readonly kind: 'serve';
      readonly journal: JournalConnection;
      readonly peers: readonly Peer[];
      readonly numbers: SharedNumbers;
    }
  /** It may come at any time once it serves. */
  | { readonly kind: 'ask'; readonly number: number; readonly question: ShardQuestion }
  /** Another shard is there now, or there again. It may come at any time. */
  | { readonly kind: 'peer'; readonly peer: Peer }
  /** Another shard has ended, and is started again after so long. */
  | { readonly kind: 'peer-away'; readonly index: number; readonly pauseMs: number }
  /** Asked now and then while it serves. With it comes how much of its log is written (log-rate.ts). */
  | { readonly kind: 'are-you-alive'; readonly loggedBytes: number }
  | { readonly kind: 'stop'; readonly graceMs: number }
  /** No shard serves a request any more. */
  | { readonly kind: 'close' };

/** The link to another shard of the service. */
export interface Peer extends PeerLink {
  readonly index: number;
}

/** What a shard is started with. */
export interface ShardSettings {
  readonly name: string;
  /** Which of the service's shards it is, from 0 on. */
  readonly index: number;
  readonly count: number;
  /** Not a run on a developer's machine. */
  readonly deployed: boolean;
  /** That of the service: all its shards listen there. */
  readonly address: Address;
  /** Whether there is an HTTP server. */
  readonly http: boolean;
  /** What LimitCounters share. */
  readonly counters: SharedArrayBuffer;
  /** What all shards share. */
  readonly budgets: SharedRequestBudgets;
  /** The share of a shard in what the service may have (shard-limits.ts). */
  readonly sections: ShardSections;
}
