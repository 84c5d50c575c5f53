// SliceOffsets is a place in the journal: for each slice, the number of the last record before it. It is the value that the text of a
// position stands for.
//
// The text is a list of numbers in base 36, separated by dots: `0:5.7.c:4` is record 5 of slice 0, record 7 of slice 1 and record
// 4 of slice 12. A slice that is not named is at 0, and `0` alone is the start. A number without a slice belongs to the slice after
// the one before it. The first slice of a block that is not at 0 is always named, so that the texts of blocks are independent.
//
// Invariants
// - A place has one text, and `parse` takes no other. The text is printable ASCII, and may stand in a header of HTTP.
// - The value never changes. Another place that is made of it shares the texts of the blocks in which both are equal.
import { SLICE_COUNT } from '@svc/model/slice';

/** How many slices a block has, whose text is kept. */
export const BLOCK_SLICES = 32;
export const BLOCK_COUNT = SLICE_COUNT / BLOCK_SLICES;
/** Digits of the largest number of a record, which is a safe integer. */
const OFF_DIGITS_MAX = Number.MAX_SAFE_INTEGER.toString(36).length;
/** The longest text: each slice has a number and a dot, and of each two at least one is not named. */
export const POSITION_UNITS_MAX =
  SLICE_COUNT * (OFF_DIGITS_MAX + 1) + (SLICE_COUNT / 2 + BLOCK_COUNT) * 3;
const START = '0';
const DOT = 46;
const COLON = 58;

export class SliceOffsets {
  /** The place before the first record. */
  static readonly start = new SliceOffsets(
    new Float64Array(SLICE_COUNT),
    Array.from({ length: BLOCK_COUNT }, () => ''),
  );

  /** The number of the last record of each slice before the place. Read it only. */
  readonly offs: Float64Array;
  /** The text of each block; empty if all of its slices are at 0. */
  readonly #blocks: readonly string[];
  #text: string | undefined;

  private constructor(offs: Float64Array, blocks: readonly string[]) {
    this.offs = offs;
    this.#blocks = blocks;
  }

  /** Returns the place that a text stands for; undefined if it stands for none. The text may come from anybody. */
  static parse(text: string): SliceOffsets | undefined {
    if (text === START) return SliceOffsets.start;
    const offs = text.length <= POSITION_UNITS_MAX ? parsedOffs(text) : undefined;
    if (offs === undefined) return undefined;
    const parsed = new SliceOffsets(
      offs,
      Array.from({ length: BLOCK_COUNT }, (_, block) => blockText(offs, block)),
    );
    return parsed.text === text ? parsed : undefined;
  }

  /** Returns a place that differs in these slices. */
  with(changes: Iterable<readonly [slice: number, off: number]>): SliceOffsets {
    const offs = this.offs.slice();
    const changed = new Set<number>();
    for (const [slice, off] of changes) {
      if (offs[slice] === off) continue;
      offs[slice] = off;
      changed.add(Math.floor(slice / BLOCK_SLICES));
    }
    if (changed.size === 0) return this;
    const blocks = this.#blocks.slice();
    for (const block of changed) blocks[block] = blockText(offs, block);
    return new SliceOffsets(offs, blocks);
  }

  get text(): string {
    this.#text ??= this.#blocks.filter((block) => block !== '').join('.') || START;
    return this.#text;
  }

  /** Whether everything before `wanted` is also before this place. */
  hasReached(wanted: SliceOffsets): boolean {
    const { offs } = this;
    for (let slice = 0; slice < SLICE_COUNT; slice++)
      if (offs[slice]! < wanted.offs[slice]!) return false;
    return true;
  }

  /** Returns how many records are after this place and before another one. */
  countTo(to: SliceOffsets): number {
    const { offs } = this;
    let count = 0;
    for (let slice = 0; slice < SLICE_COUNT; slice++)
      count += Math.max(0, to.offs[slice]! - offs[slice]!);
    return count;
  }
}

function blockText(offs: Float64Array, block: number): string {
  const first = block * BLOCK_SLICES;
  let text = '';
  for (let slice = first; slice < first + BLOCK_SLICES; slice++) {
    const off = offs[slice]!;
    if (off === 0) continue;
    const isNamed = slice === first || offs[slice - 1] === 0;
    if (text !== '') text += '.';
    if (isNamed) text += `${slice.toString(36)}:`;
    text += off.toString(36);
  }
  return text;
}

/** Returns the numbers that a text names in ascending order of slices; undefined if it is no such text. It may have other forms of them. */
function parsedOffs(text: string): Float64Array | undefined {
  const offs = new Float64Array(SLICE_COUNT);
  let slice = -1;
  let named = -1;
  let value = 0;
  for (let at = 0; at <= text.length; at++) {
    const unit = at === text.length ? DOT : text.charCodeAt(at);
    if (unit === DOT) {
      const next = named === -1 ? slice + 1 : named;
      if (value === 0 || next <= slice || next >= SLICE_COUNT) return undefined;
      offs[next] = value;
      slice = next;
      named = -1;
      value = 0;
    } else if (unit === COLON) {
      if (named !== -1) return undefined;
      named = value;
      value = 0;
    } else {
      const digit = digitOf(unit);
      value = value * 36 + digit;
      if (digit === -1 || value > Number.MAX_SAFE_INTEGER) return undefined;
    }
  }
  return offs;
}

function digitOf(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  return unit >= 97 && unit <= 122 ? unit - 87 : -1;
}
