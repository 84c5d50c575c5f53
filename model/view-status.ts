// ViewStatus: how a view fares, as operators see it in commands, in the console and in metrics.

export interface ViewStatus {
  readonly view: string;
  /** Hash of its definition, which names the file of its rows. */
  readonly definition: string;
  /**
   * - `missing`: it has no rows yet.
   * - `building`: its rows are being built.
   * - `live`: its queries are answered.
   * - `stopped`: its code failed at an event, and nothing is tried again. Its queries are answered from the rows that it has.
   */
  readonly state: 'missing' | 'building' | 'live' | 'stopped';
  /** Records of the journal that are not folded. */
  readonly lagRecords: number;
  /** Seconds since the oldest of the view's own events that is not folded was stored; 0 if there is none. */
  readonly lagSeconds: number;
  /** Share of the records that are folded, from 0 to 1. */
  readonly progress: number;
  /** Why it does not follow; null: nothing is known that keeps it from that. */
  readonly problem: ViewStatusProblem | null;
  /** Events that are left out of its rows. */
  readonly skipped: readonly {
    readonly component: string;
    readonly id: string;
    readonly seq: number;
    readonly reason: string;
    /** Milliseconds since 1970-01-01T00:00:00Z. */
    readonly timeMs: number;
  }[];
}

export interface ViewStatusProblem {
  /** Code of docs/errors; null if there is none. */
  readonly code: string | null;
  readonly reason: string;
  /** The event at which it has stopped; null if it has not. */
  readonly event: { readonly component: string; readonly id: string; readonly seq: number } | null;
}
