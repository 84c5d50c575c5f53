// HistoryReader answers questions of introspection about stored entities and about faults. This file defines the
// questions and answers. A service that runs modules asks a separate thread (history-thread.ts).
import type {
  ConsumerList,
  EntityList,
  HistoryPage,
  LaneList,
  SourceLocation,
  TimerList,
  ViewRows,
} from '@svc/contract';
import type { Refusal } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { RowQuery } from '@svc/model/view';
import type { GuestSource, HostingSettings, SourceFile } from '../../hosting/guest-source.ts';
import type { JournalLocation } from '../../storage/journal-location.ts';
import type { LocatableFault } from '../../hosting/source-locations.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';

/** Start data of the thread. */
export interface HistoryWork {
  /** The journal; a host may be writing it. */
  readonly location: JournalLocation;
  readonly source: GuestSource;
  readonly settings: HostingSettings;
}

export type HistoryQuestion =
  | {
      readonly kind: 'entities';
      readonly component: string;
      /** Beginning of the ids that are listed; empty: all ids. */
      readonly prefix: string;
      /** Id of the last entity of the previous page; empty: the first page. */
      readonly afterId: string;
      readonly limit: number;
    }
  | {
      readonly kind: 'history';
      readonly component: string;
      readonly id: string;
      /** Sequence number of the first record of the page. */
      readonly from: number;
      readonly limit: number;
    }
  /** Asks for timers, in the order in which they were set, with a number after `after`. */
  | {
      readonly kind: 'timers';
      /** Undefined: of all owners; 'service': the schedules of the service. */
      readonly owner: EntityRef | 'service' | undefined;
      readonly state: 'pending' | 'dead' | undefined;
      readonly after: number;
      readonly limit: number;
    }
  | { readonly kind: 'rows'; readonly query: RowQuery }
  | { readonly kind: 'consumers' }
  /** Asks for the entities whose events wait for a consumer, with a number after `after`. */
  | {
      readonly kind: 'lanes';
      readonly consumer: string;
      readonly state: 'retrying' | 'parked' | undefined;
      readonly after: number;
      readonly limit: number;
    }
  /** Asks for the source locations of faults of a source, which need not be the source that the thread folds with. */
  | {
      readonly kind: 'locations';
      readonly of: SourceFile;
      readonly faults: readonly LocatableFault[];
    };

export type HistoryAnswer =
  | { readonly kind: 'entities'; readonly list: EntityList }
  | { readonly kind: 'history'; readonly page: HistoryPage }
  | { readonly kind: 'timers'; readonly list: TimerList }
  | { readonly kind: 'rows'; readonly found: ViewRows | Refusal }
  | { readonly kind: 'consumers'; readonly list: ConsumerList }
  | { readonly kind: 'lanes'; readonly list: LaneList }
  /** Source locations of each fault, in the order of the question. */
  | { readonly kind: 'locations'; readonly locations: readonly (readonly SourceLocation[])[] };

export type FromHistoryWorker =
  | { readonly kind: 'answer'; readonly answer: HistoryAnswer }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

export type AnswerToQuestion<Question extends HistoryQuestion> = Extract<
  HistoryAnswer,
  { kind: Question['kind'] }
>;

export interface HistoryReader {
  /** Rejects with SVC_ANSWER_TIMED_OUT, SVC_OVERLOADED, SVC_STOPPING, and the error of the question itself. */
  ask<Question extends HistoryQuestion>(question: Question): Promise<AnswerToQuestion<Question>>;
  /** Rejects the unanswered questions, and every further question, with SVC_STOPPING. May be called again. */
  close(): Promise<void>;
}
