// Messages between the thread of an upgrade check and its workers.
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { JournalLocation } from '../storage/journal-location.ts';
import type { Finding } from './upgrade-finding.ts';

export interface UpgradeWork {
  readonly location: JournalLocation;
  readonly now: GuestSource;
  readonly before: GuestSource | undefined;
  readonly settings: HostingSettings;
}

/** Entities of one component with `afterId < id ≤ lastId`. */
export interface EntityShare {
  readonly kind: 'entities';
  readonly component: string;
  readonly afterId: string;
  readonly lastId: string;
}

/** A view of the new version, over the whole journal. */
export interface ViewShare {
  readonly kind: 'view';
  readonly view: string;
}

/** A share of the work. When the worker reports the share as done, it is sent the next one. */
export type UpgradeShare = EntityShare | ViewShare;

/** Numbers of records since the last report. */
export interface FoldedRecords {
  /** Records that were folded into states. */
  readonly records: number;
  /** Records that were folded into rows, once for each module. */
  readonly viewRecords: number;
}

export type FromUpgradeWorker =
  /** The worker can begin. */
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'progress' } & FoldedRecords)
  | ({
      readonly kind: 'done';
      readonly entities: number;
      readonly findings: readonly Finding[];
    } & FoldedRecords)
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };
