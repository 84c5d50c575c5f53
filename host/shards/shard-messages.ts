// Messages between the main thread and a shard.
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { CallerRules } from '@svc/identity/caller';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { ConfigurationTexts } from '@svc/model/configuration';
import type { SharedLimits } from '@svc/model/declared-limits';
import type { FaultEntry } from '@svc/model/fault-entry';
import type { GuestSource } from '../hosting/guest-source.ts';
import type { WasmFrame } from '@svc/model/guest-fault';
import type { SharedRequestBudgets } from '@svc/model/request-budgets';
import type { SharedViews } from '@svc/model/view';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { ClusterNode } from '../storage/cluster-nodes.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';
import type { PeerLink } from './peer-link.ts';
import type { WorkKind } from './work-link.ts';
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
  /** The shard serves. Without an address the service has no HTTP server. */
  | { readonly kind: 'listening'; readonly address: Address | undefined }
  /** The shard cannot start, or cannot continue. */
  | {
      readonly kind: 'failed';
      readonly code: SvcErrorCode;
      readonly message: string;
      /** Code positions of the module's fault that caused the failure. */
      readonly frames?: readonly WasmFrame[] | undefined;
    }
  | { readonly kind: 'log'; readonly entry: FaultEntry }
  /** Answers the `ask` with this number. */
  | { readonly kind: 'answer'; readonly number: number; readonly answer: ShardAnswer }
  /** The answer to `are-you-alive`. */
  | { readonly kind: 'alive' }
  /** Numbers of the nodes of the cluster that the shard cannot reach. Sent whenever they change. */
  | { readonly kind: 'unreachable'; readonly nodes: readonly number[] }
  /**
   * The shard serves no requests any more, but still calls and requests of other shards. `hasCut`: the connections of
   * some requests were cut when the grace period was over.
   */
  | { readonly kind: 'finished'; readonly hasCut: boolean }
  /** Everything in flight has finished, and the engine is closed. */
  | { readonly kind: 'stopped' };

export type ToShard =
  /** The source to run; none of its code has run. */
  | { readonly kind: 'run'; readonly source: GuestSource }
  /**
   * `peers`: links to the other shards. `views`: memory of the module's views; undefined if it has none. `certificates`: those
   * in use; undefined if the service listens without TLS. `configuration`: undefined if the module has none. `limits`: buckets of its
   * limits; undefined if it has none.
   */
  | {
      readonly kind: 'serve';
      readonly journal: JournalConnection;
      readonly peers: readonly Peer[];
      readonly numbers: SharedNumbers;
      readonly views: SharedViews | undefined;
      readonly certificates: CertificateTexts | undefined;
      readonly configuration: ConfigurationTexts | undefined;
      readonly limits: SharedLimits | undefined;
    }
  /** New certificates. May be sent at any time. */
  | { readonly kind: 'certificates'; readonly texts: CertificateTexts }
  /** New values, which handlers read from their next request on. May be sent at any time. */
  | { readonly kind: 'configuration'; readonly texts: ConfigurationTexts }
  /** The nodes of the cluster. May be sent at any time once the shard serves. */
  | { readonly kind: 'nodes'; readonly nodes: readonly ClusterNode[] }
  /** This node has changed which node owns what: the others should look. */
  | { readonly kind: 'owners-changed' }
  /** May be sent at any time once the shard serves. */
  | { readonly kind: 'ask'; readonly number: number; readonly question: ShardQuestion }
  /** The shard's end of the link for work of this kind. It replaces an earlier one. */
  | { readonly kind: 'work'; readonly work: WorkKind; readonly port: MessagePort }
  /** Another shard was started, for the first time or again. May be sent at any time. */
  | { readonly kind: 'peer'; readonly peer: Peer }
  /** Another shard has ended, and is started again after `pauseMs`. */
  | { readonly kind: 'peer-away'; readonly index: number; readonly pauseMs: number }
  /**
   * Sent at intervals while the shard serves. `loggedBytes`: how much of its log was written (log-rate.ts), in bytes.
   */
  | { readonly kind: 'are-you-alive'; readonly loggedBytes: number }
  | { readonly kind: 'stop'; readonly graceMs: number }
  /** No shard serves requests any more. */
  | { readonly kind: 'close' };

/** The link to another shard of the service. */
export interface Peer extends PeerLink {
  readonly index: number;
}

/** The identities by which a shard recognises callers. */
export interface ShardIdentity {
  /** The service's own project. */
  readonly project: string;
  readonly rules: CallerRules;
}

/** How a shard finds the services that its handlers call. */
export type CalledNetwork =
  /** On a developer's machine: by the registrations in the folder; undefined: there is none. */
  | { readonly kind: 'local'; readonly runningFolder: string | undefined }
  | {
      /** With the identity of the service. */
      readonly kind: 'installation';
      /** File in which services are found; undefined: by DNS. */
      readonly servicesFile: string | undefined;
      /** Folder of the sockets at which they are called; undefined: they are called at their addresses. */
      readonly socketsFolder: string | undefined;
    };

/** Start data of a shard. */
export interface ShardSettings {
  readonly name: string;
  /** Index of the shard in the service, from 0. */
  readonly index: number;
  readonly count: number;
  /** False for a run on a developer's machine. */
  readonly deployed: boolean;
  /** Address of the service, on which all shards listen. */
  readonly address: Address;
  /** Whether the service has an HTTP server. */
  readonly http: boolean;
  /** Address at which all shards take calls of other nodes, and whether with mutual TLS; absent: the service has one node. */
  readonly remoting?: (Address & { readonly tls: boolean }) | undefined;
  /** Absent: the service listens without TLS. */
  readonly identity?: ShardIdentity | undefined;
  /** Whether the main thread verifies access tokens. Absent: routes that ask for one are closed. */
  readonly verifiesTokens?: boolean;
  /** Absent: the handlers call no other services. */
  readonly network?: CalledNetwork | undefined;
  /** Memory of the LimitCounters. */
  readonly counters: SharedArrayBuffer;
  /** Budgets that all shards share. */
  readonly budgets: SharedRequestBudgets;
  /** Sections of the settings with the shard's share of the service's limits (shard-limits.ts). */
  readonly sections: ShardSections;
}
