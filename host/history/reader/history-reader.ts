// HistoryReader answers questions about stored entities and about faults, for introspection: what is asked, and what is
// answered. A service that runs modules asks a thread of its own (history-thread.ts).
import type { EntityList, HistoryPage, SourcePlace } from '@svc/contract';
import type { PlacedFault } from '../../hosting/wasm/places/fault-places.ts';
import type { AdmittedModule } from '../../hosting/wasm/admission/admission.ts';
import type { WasmLimits } from '../../hosting/wasm/wasm-limits.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';

/** What the thread is started with. */
export interface HistoryWork {
  /** The data folder, on which a host runs. */
  readonly dir: string;
  readonly module: AdmittedModule;
  readonly limits: WasmLimits;
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
  /** Where in the sources of that module faults were; it need not be the one that the thread runs. */
  | ({ readonly kind: 'places'; readonly faults: readonly PlacedFault[] } & ModuleSource);

export interface ModuleSource {
  /** Beside it lies the map of its sources. */
  readonly file: string;
  readonly fingerprint: string;
}

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
