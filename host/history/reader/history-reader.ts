// What the main thread asks the thread that looks into the past, and what it answers.
import type { EntityList, HistoryPage, SourcePlace } from '@svc/contract';
import type { PlacedFault } from '../../hosting/wasm/admission/fault-places.ts';
import type { AdmittedModule } from '../../hosting/wasm/admission/admission.ts';
import type { WasmLimits } from '../../hosting/wasm/wasm-limits.ts';
import type { SvcErrorCode } from '../../model/svc-error.ts';

/** What the thread is started with. */
export interface PastWork {
  /** The data folder, on which a host runs. */
  readonly dir: string;
  readonly module: AdmittedModule;
  readonly limits: WasmLimits;
}

export type PastQuestion =
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

export type PastAnswer =
  | { readonly kind: 'entities'; readonly list: EntityList }
  | { readonly kind: 'history'; readonly page: HistoryPage }
  /** Of each fault. */
  | { readonly kind: 'places'; readonly places: readonly (readonly SourcePlace[])[] };

export type FromPast =
  | { readonly kind: 'answer'; readonly answer: PastAnswer }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

export type AnswerToPast<Question extends PastQuestion> = Extract<
  PastAnswer,
  { kind: Question['kind'] }
>;
