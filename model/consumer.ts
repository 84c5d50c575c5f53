// Verdict: what a consumer decides about an event.

/** A consumer's decision about an event. */
export type Verdict =
  /** The event is settled. */
  | { readonly kind: 'done' }
  /** The event is to be handled again. */
  | {
      readonly kind: 'retry';
      /** For the operator. */
      readonly reason: string;
      /** Milliseconds until the next attempt; undefined: as the back-off says. */
      readonly afterMs: number | undefined;
    }
  /** The event is settled without having been handled. `reason` is for the operator. */
  | { readonly kind: 'skip'; readonly reason: string };
