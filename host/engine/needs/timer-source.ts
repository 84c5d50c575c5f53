// TimerSource: where the dispatcher reads which timers are due. A journal implements it through a connection of its own.
import type { Awaitable } from '@svc/model/call';
import type { DuePosition, DueTimer } from './timers.ts';

export interface TimerSource {
  /**
   * Reads the first timers after a position whose `nextMs` is at most `nowMs`, in the order of due timers, at most `limit`;
   * fewer mean that there are no more. `after` undefined: from the first on. Throws, or rejects, when the journal cannot be
   * read.
   */
  due(nowMs: number, limit: number, after: DuePosition | undefined): Awaitable<readonly DueTimer[]>;
  /**
   * Reads the input of a timer that `due` has left out because it is long; undefined: the timer is gone or damaged. Throws as
   * `due` does.
   */
  input(number: number): Awaitable<string | undefined>;
  /** Returns the least `nextMs` that is greater than `afterMs`; undefined: there is none. Throws as `due` does. */
  earliestMs(afterMs: number): Awaitable<number | undefined>;
}
