// SlicePositions compares positions of a journal that is divided into slices. A position is the text of SliceOffsets; the end of the
// journal comes from memory that the threads that write share.
//
// Invariant: the texts that were used last are kept with their values, a bounded number of them, because the same few positions are
// compared again and again.
import { sliceOf } from '@svc/model/slice';
import type { EntityRef } from '@svc/model/entity';
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import type { SliceHeads } from './slice-heads.ts';
import { SliceOffsets } from './slice-offsets.ts';

/** Number of positions that are kept. */
const KEPT_MAX = 16;

export class SlicePositions implements Positions {
  readonly start = SliceOffsets.start.text;
  protected readonly heads: SliceHeads;
  /** The position that was used last is the last one. */
  readonly #kept = new Map<Position, SliceOffsets>();

  /** `heads`: those of the journal. */
  constructor(heads: SliceHeads) {
    this.heads = heads;
  }

  end(): Position {
    return this.positionOf(this.heads.offsets());
  }

  /** Returns a position that names the slices of these entities alone, and is after each of their records that is on disk. */
  endOf(entities: Iterable<EntityRef>): Position {
    const { offs } = this.heads.offsets();
    const slices = Array.from(entities, ({ component, id }) => sliceOf(component, id));
    return this.positionOf(SliceOffsets.start.with(slices.map((slice) => [slice, offs[slice]!])));
  }

  hasReached(position: Position, wanted: Position): boolean {
    return position === wanted || this.offsetsOf(position).hasReached(this.offsetsOf(wanted));
  }

  count(from: Position, to: Position): number {
    return from === to ? 0 : this.offsetsOf(from).countTo(this.offsetsOf(to));
  }

  parse(text: string): Position | undefined {
    const parsed = this.#kept.get(text) ?? SliceOffsets.parse(text);
    return parsed === undefined ? undefined : this.positionOf(parsed);
  }

  /** Returns the value of a position. Throws RangeError if it is none. */
  protected offsetsOf(position: Position): SliceOffsets {
    const offsets = this.#kept.get(position) ?? SliceOffsets.parse(position);
    if (offsets === undefined) throw new RangeError('a text that is no position of this journal');
    this.positionOf(offsets);
    return offsets;
  }

  /** Returns the position of a value, and keeps both. */
  protected positionOf(offsets: SliceOffsets): Position {
    const { text } = offsets;
    this.#kept.delete(text);
    this.#kept.set(text, offsets);
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return text;
  }
}
