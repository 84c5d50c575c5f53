// SlicePositions compares positions of a journal that is divided into slices. A position is the text of SliceOffsets; the end of the
// journal comes from memory that the threads that write share.
//
// The values of the last positions are kept, because the same few positions are compared again and again.
import { sliceOf } from '@svc/model/slice';
import type { EntityRef } from '@svc/model/entity';
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import { RecentPositions } from './recent-positions.ts';
import type { SliceHeads } from './slice-heads.ts';
import { SliceOffsets } from './slice-offsets.ts';

export class SlicePositions implements Positions {
  readonly start = SliceOffsets.start.text;
  protected readonly heads: SliceHeads;
  readonly catchUp: (() => Promise<void>) | undefined;
  readonly #recent = new RecentPositions<SliceOffsets>();

  /** `heads`: those of the journal. `catchUp`: absent if nothing waits for what other nodes store. */
  constructor(heads: SliceHeads, catchUp?: () => Promise<void>) {
    this.heads = heads;
    this.catchUp = catchUp;
  }

  end(): Position {
    return this.positionOf(this.endOffsets());
  }

  /** The position names the slices of these entities, and those that `after` names. */
  endOf(entities: readonly EntityRef[], after: Position): Position {
    const { offs } = this.heads.offsets();
    const from = this.offsetsOf(after);
    const ends = entities.map(({ component, id }): readonly [slice: number, off: number] => {
      const slice = sliceOf(component, id);
      return [slice, Math.max(offs[slice]!, from.offs[slice]!)];
    });
    return this.positionOf(from.with(ends));
  }

  hasReached(position: Position, wanted: Position): boolean {
    return position === wanted || this.offsetsOf(position).hasReached(this.offsetsOf(wanted));
  }

  count(from: Position, to: Position): number {
    return from === to ? 0 : this.offsetsOf(from).countTo(this.offsetsOf(to));
  }

  parse(text: string): Position | undefined {
    return this.#find(text)?.text;
  }

  /** Returns the end of the journal. */
  protected endOffsets(): SliceOffsets {
    return this.heads.offsets();
  }

  /** Returns the value of a position. Throws RangeError if it is none. */
  protected offsetsOf(position: Position): SliceOffsets {
    const offsets = this.#find(position);
    if (offsets === undefined) throw new RangeError('a text that is no position of this journal');
    return offsets;
  }

  /** Returns the position of a value, and keeps both. */
  protected positionOf(offsets: SliceOffsets): Position {
    const { text } = offsets;
    this.#recent.add(text, offsets);
    return text;
  }

  #find(text: string): SliceOffsets | undefined {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const parsed = SliceOffsets.parse(text);
    if (parsed !== undefined) this.#recent.add(text, parsed);
    return parsed;
  }
}
