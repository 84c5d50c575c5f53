// DetachedAppends makes the appends that are decided without the state of an entity: changes of timers by handlers, and
// firings that have failed. Nothing depends on such an append, and it depends on nothing. Detached appends settle in any
// order.
//
// Invariant: each append counts among the unsettled bytes of the engine until it settles.
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { Journal } from '../needs/journal.ts';
import type { TimerWrites } from '../needs/timers.ts';
import { diskTooSlow, timerBytes, type UnsettledBytes } from './unsettled-bytes.ts';

export interface DetachedNeeds {
  readonly journal: Pick<Journal, 'append'>;
  readonly unsettled: UnsettledBytes;
  readonly limits: { readonly unsettledBytesMax: number };
}

export class DetachedAppends {
  readonly #needs: DetachedNeeds;
  #underWay = 0;
  /** Called when the last append under way has settled; `settled` waits for that. */
  #drained: () => void = () => {};

  constructor(needs: DetachedNeeds) {
    this.#needs = needs;
  }

  /**
   * Stores changes of timers. `entity`: the entity whose timers `changes` are about. Resolves when they are on disk, with
   * the failure if they are not; with SVC_CALL_UNCERTAIN it is not known whether they are. Throws SVC_OVERLOADED.
   */
  append(entity: EntityRef, timers: TimerWrites): Promise<SvcError | undefined> {
    const { journal, unsettled, limits } = this.#needs;
    if (unsettled.total >= limits.unsettledBytesMax) throw diskTooSlow(unsettled.total);
    const bytes = timerBytes(timers);
    unsettled.add(bytes);
    this.#underWay++;
    return new Promise((resolve) => {
      const settled = (failure?: SvcError): void => {
        unsettled.add(-bytes);
        if (--this.#underWay === 0) this.#drained();
        resolve(failure);
      };
      journal.append(entity, [], settled, { timers, isDetached: true });
    });
  }

  /** Waits until no append is under way. */
  async settled(): Promise<void> {
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
  }
}
