// TimerSource: where the dispatcher reads which timers are due. A journal implements it through a connection of its own.
import type { StoredTimer } from '../engine/needs/timers.ts';

/** A timer that is not dead. */
export type PendingTimer = StoredTimer & { readonly nextMs: number };

/** A place in the order of due timers, which is by `nextMs`, then by `number`. */
export type DuePosition = Pick<PendingTimer, 'nextMs' | 'number'>;

export interface TimerSource {
  /**
   * Reads the first timers after a position whose `nextMs` is at most `nowMs`, in the order of due timers, at most `limit`;
   * fewer mean that there are no more. `after` undefined: from the first on. Throws when the journal cannot be read.
   */
  due(nowMs: number, limit: number, after: DuePosition | undefined): readonly PendingTimer[];
  /** Returns the least `nextMs` that is greater than `afterMs`; undefined: there is none. Throws as `due` does. */
  earliestMs(afterMs: number): number | undefined;
}
