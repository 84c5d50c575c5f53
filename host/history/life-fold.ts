// LifeFold: one life of an entity folded by one module, from its first event to its deletion or to the last
// that is stored. As in a replay, events are folded some at a time; what a module cannot fold so is folded
// one by one, in an instance of its own, which tells which event it is. After a fault it folds no more.
import type { GuestEntities, GuestEntity } from '../engine/needs/guest.ts';
import type { EntityRef, StoredEvent } from '../model/entity.ts';
import { GuestFault } from '../model/guest-fault.ts';

export interface SequencedEvent {
  readonly seq: number;
  readonly event: StoredEvent;
}

export type FoldFault = {
  /** The codec's refusal, or a fault of the module's code. */
  readonly kind: 'refused' | 'trapped';
  /** Undefined: before the first event, or after the last, or it was not looked for. */
  readonly at: SequencedEvent | undefined;
  readonly problem: string;
};

/** Reads events of this life again, with `afterSeq < seq ≤ lastSeq`, some at a time. */
export type Reread = (afterSeq: number, lastSeq: number) => Iterable<readonly SequencedEvent[]>;

const BATCH_EVENTS = 512;
/** UTF-16 units of JSON text after which a batch ends. */
const BATCH_UNITS = 128 * 1024;

export interface FoldNeeds {
  readonly entities: GuestEntities;
  readonly entity: EntityRef;
  /** Before the life's first event. */
  readonly afterSeq: number;
  readonly reread: Reread;
  /** Whether the event is looked for at which the module's code faulted: each time costs an instance. */
  mayLocate(): boolean;
}

type Failure =
  | { readonly refusal: string }
  /** `opening`: it has folded nothing yet. */
  | { readonly fault: GuestFault; readonly opening: boolean };

export class LifeFold {
  readonly #needs: FoldNeeds;
  #guest: GuestEntity | undefined;
  /** Events after this one are folded one by one. */
  #singlyAfter = Infinity;
  #seq: number;
  #fault: FoldFault | undefined;

  constructor(needs: FoldNeeds) {
    this.#needs = needs;
    this.#seq = needs.afterSeq;
  }

  get fault(): FoldFault | undefined {
    return this.#fault;
  }

  /** The events that follow those before. */
  async apply(events: readonly SequencedEvent[]): Promise<void> {
    if (this.#fault !== undefined) return;
    const failed = await this.#applied(events, false);
    if (failed === undefined) return;
    if ('fault' in failed && failed.opening) {
      this.#fault = faultOf(undefined, failed);
      return;
    }
    const before = this.#seq;
    const last = events.at(-1)!.seq;
    // First as far as it went, then from the beginning.
    for (const singlyAfter of [before, this.#needs.afterSeq]) {
      if ('fault' in failed && !this.#needs.mayLocate()) break;
      if (await this.#refolded(singlyAfter, last)) return;
    }
    this.#fault ??= faultOf(undefined, failed);
  }

  /** Its JSON; undefined when it has faulted. */
  async state(): Promise<string | undefined> {
    if (this.#fault !== undefined) return undefined;
    try {
      this.#guest ??= await this.#open(false);
      return await this.#guest.snapshot();
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
      this.#fault = faultOf(undefined, { fault: error, opening: this.#guest === undefined });
      return undefined;
    }
  }

  close(): void {
    this.#guest?.close();
    this.#guest = undefined;
  }

  /** Folds all again. True: that is settled, well or with a fault whose event is known. */
  async #refolded(singlyAfter: number, lastSeq: number): Promise<boolean> {
    this.close();
    this.#seq = this.#needs.afterSeq;
    this.#singlyAfter = singlyAfter;
    for (const events of this.#needs.reread(this.#seq, lastSeq)) {
      const failed = await this.#applied(events, true);
      if (failed === undefined) continue;
      if (this.#seq < singlyAfter) return false;
      const at = events.find(({ seq }) => seq === this.#seq + 1);
      this.#fault = faultOf(at, failed);
      this.close();
      return true;
    }
    return true;
  }

  /** `#seq` is then the last event that was folded. */
  async #applied(events: readonly SequencedEvent[], alone: boolean): Promise<Failure | undefined> {
    try {
      const guest = (this.#guest ??= await this.#open(alone));
      for (let from = 0; from < events.length;) {
        const batch = this.#batchOf(events, from);
        const refusal = await guest.apply(batch, undefined);
        if (refusal !== undefined) return { refusal };
        from += batch.length;
        this.#seq += batch.length;
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
      return { fault: error, opening: this.#guest === undefined };
    }
  }

  async #open(alone: boolean): Promise<GuestEntity> {
    return this.#needs.entities.open(this.#needs.entity, undefined, alone);
  }

  #batchOf(events: readonly SequencedEvent[], from: number): StoredEvent[] {
    const batch: StoredEvent[] = [];
    const count = this.#seq >= this.#singlyAfter ? 1 : BATCH_EVENTS;
    for (let at = from, units = 0; at < events.length && batch.length < count; at++) {
      const { event } = events[at]!;
      batch.push(event);
      units += event.json.length;
      if (units >= BATCH_UNITS) break;
    }
    return batch;
  }
}

function faultOf(at: SequencedEvent | undefined, failure: Failure): FoldFault {
  if ('refusal' in failure)
    // The place in a batch of one says nothing.
    return { kind: 'refused', at, problem: failure.refusal.replace(/^event 1 of 1: /, '') };
  const { message, guestMessage } = failure.fault;
  const where = failure.opening ? 'it cannot be opened: ' : '';
  const words = guestMessage === undefined ? '' : ` ${guestMessage}`;
  return { kind: 'trapped', at, problem: `${where}${message}${words}` };
}
