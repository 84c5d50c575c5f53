// Messages between the thread of an upgrade check and its workers.
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { Finding } from './upgrade-finding.ts';

export interface UpgradeWork {
  readonly dir: string;
  readonly now: GuestSource;
  readonly before: GuestSource | undefined;
  readonly settings: HostingSettings;
}

/**
 * A share of the work: entities of one component with `afterId < id ≤ lastId`. When the worker reports the share as
 * done, it is sent the next one.
 */
export interface UpgradeShare {
  readonly component: string;
  readonly afterId: string;
  readonly lastId: string;
}

export type FromUpgradeWorker =
  /** The worker can begin. */
  | { readonly kind: 'ready' }
  /** `records`, also when a share is done: number of records since the last report. */
  | { readonly kind: 'progress'; readonly records: number }
  | {
      readonly kind: 'done';
      readonly records: number;
      readonly entities: number;
      readonly findings: readonly Finding[];
    }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };
