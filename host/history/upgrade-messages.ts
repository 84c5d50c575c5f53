// What the thread of an upgrade check and those that fold for it say to one another.
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { Finding } from './upgrade-finding.ts';

export interface UpgradeWork {
  readonly dir: string;
  readonly now: GuestSource;
  readonly before: GuestSource | undefined;
  readonly settings: HostingSettings;
}

/** Entities of one component, `afterId < id ≤ lastId`. The thread asks for the next ones by its answer. */
export interface UpgradeShare {
  readonly component: string;
  readonly afterId: string;
  readonly lastId: string;
}

export type FromUpgradeWorker =
  /** It can begin. */
  | { readonly kind: 'ready' }
  /** Records since it said so last. */
  | { readonly kind: 'progress'; readonly records: number }
  | {
      readonly kind: 'done';
      readonly records: number;
      readonly entities: number;
      readonly findings: readonly Finding[];
    }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };
