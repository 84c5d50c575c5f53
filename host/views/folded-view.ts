// FoldedView is a view as its fold needs it: its sources, how its keys are found, and the definition that its rows belong to.
import type { StoredView } from '../engine/needs/views.ts';

export interface FoldedView {
  readonly id: string;
  /** Components whose events are folded. */
  readonly sources: ReadonlySet<string>;
  /** Whether the guest names the keys. If not, the key of an event is the id of its entity, and a deletion removes the row. */
  readonly hasKeys: boolean;
  readonly stored: StoredView;
}
