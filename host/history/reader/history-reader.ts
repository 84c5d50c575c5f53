// HistoryReader answers questions about stored entities and about faults, for introspection: what is asked, and what is
// answered. A service that runs modules asks a thread of its own (history-thread.ts).
import type { EntityList, HistoryPage, SourcePlace } from '@svc/contract';
import type { GuestSource, HostingSettings, SourceFile } from '../../hosting/guest-source.ts';
import type { PlacedFault } from '../../hosting/source-locations.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';

/** What the thread is started with. */
export interface HistoryWork {
  /** The data folder, on which a host runs. */
  readonly dir: string;
  readonly source: GuestSource;
  readonly settings: HostingSettings;
}

export type HistoryQuestion =
  | {
      readonly kind: 'entities';
      readonly component: string;
      readonly prefix: string;
      readonly afterId: string;
      readonly limit: number;
    }
  | {
      readonly kind: 'history';
      readonly component: string;
      readonly id: string;
      readonly from: number;
      readonly limit: number;
    }
  /** Where the faults of a source were; it need not be the source that the thread runs. */
  | {
      readonly kind: 'places';
      readonly of: SourceFile;
      readonly faults: readonly PlacedFault[];
    };

export type HistoryAnswer =
  | { readonly kind: 'entities'; readonly list: EntityList }
  | { readonly kind: 'history'; readonly page: HistoryPage }
  /** Of each fault. */
  | { readonly kind: 'places'; readonly places: readonly (readonly SourcePlace[])[] };

export type FromHistoryWorker =
  | { readonly kind: 'answer'; readonly answer: HistoryAnswer }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

export type AnswerToQuestion<Question extends HistoryQuestion> = Extract<
  HistoryAnswer,
  { kind: Question['kind'] }
>;

export interface HistoryReader {
  /** Rejects with SVC_ANSWER_TIMED_OUT, SVC_OVERLOADED, SVC_STOPPING, and whatever the question fails with. */
  ask<Question extends HistoryQuestion>(question: Question): Promise<AnswerToQuestion<Question>>;
  /** Ends what is under way; every further question is rejected with SVC_STOPPING. May be called again. */
  close(): Promise<void>;
}
