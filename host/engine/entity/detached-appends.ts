// DetachedAppends makes the appends that are decided without the state of an entity: changes of timers by handlers, and
// firings that have failed. Nothing depends on such an append, and it depends on nothing. Detached appends settle in any
// order.
//
// Invariant: each append counts among the unsettled bytes of the engine until it settles.
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { EntitySelection } from './entity-drain.ts';
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
  /** The appends under way, each with the entity that it is about. */
  readonly #underWay = new Map<Promise<SvcError | undefined>, EntityRef>();

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
    const append = new Promise<SvcError | undefined>((resolve) => {
      const settled = (failure?: SvcError): void => {
        unsettled.add(-bytes);
        this.#underWay.delete(append);
        resolve(failure);
      };
      journal.append(entity, [], settled, { timers, isDetached: true });
    });
    this.#underWay.set(append, entity);
    return append;
  }

  /** Waits until the appends that are under way, or those of the selected entities, have settled. */
  async settled(selects: EntitySelection = () => true): Promise<void> {
    const underWay = [...this.#underWay].filter(([, entity]) => selects(entity));
    await Promise.all(underWay.map(([append]) => append));
  }
}
