// PurityFinding is a fold that comes to another state than that of a fresh instance, and the variants of folding that are compared.
import type { EntityRef } from '@svc/model/entity';
import type { Folded } from './folded-state.ts';

/** For each variant of folding, a description of it as the end of a sentence. */
export const FOLD_VARIANTS = {
  'fresh-instance': 'a second time in a fresh instance',
  batches: 'in batches of another size',
  'other-entities': 'while other entities were folded in the same instance',
  'used-instance': 'in an instance in which commands and queries had run',
  snapshot: 'and its state was written, read and written again',
  'after-snapshot': 'on from a snapshot of its state',
} as const;
export type FoldVariant = keyof typeof FOLD_VARIANTS;

export interface PurityFinding {
  readonly way: FoldVariant;
  readonly entity: EntityRef;
  /** Sequence number of the first event after which the states differ; `afterSeq`: the empty states differ. */
  readonly seq: number;
  /** Path of the first difference; empty: the whole state; undefined: there is no state to compare. */
  readonly path: string | undefined;
  /** State that a fresh instance yields, as JSON text. */
  readonly expected: string;
  /** The other state, or the reason why there is none. */
  readonly found: Folded;
}
