// SliceOffsets is a position of the feed as numbers: for each slice, the number of the last record before the position.
//
// The text is a list of numbers in base 36, separated by dots: `0:5.7.c:4` is record 5 of slice 0, record 7 of slice 1 and record
// 4 of slice 12. A slice that is not named is at 0, and `0` alone is the start. A number without a slice belongs to the slice after
// the one before it. The first slice of a block that is not at 0 is always named, so that the texts of blocks are independent.
//
// Invariants
// - A position has one text, and `parse` takes no other. The text is printable ASCII, and may be the value of an HTTP header.
// - The numbers never change. A position that is made of another one shares the texts of the blocks in which both are equal.
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
  /** The position before the first record. */
  static readonly start = new SliceOffsets(new Float64Array(SLICE_COUNT), []);

  /** The number of the last record of each slice before the position. Do not write to it. */
  readonly offs: Float64Array;
  /** The texts of blocks, empty where all slices are at 0; undefined until the text is asked for. */
  readonly #blocks: (string | undefined)[];
  #text: string | undefined;

  private constructor(offs: Float64Array, blocks: (string | undefined)[]) {
    this.offs = offs;
    this.#blocks = blocks;
  }

  /** Returns the position that a text stands for; undefined if it stands for none. The text may come from anybody. */
  static parse(text: string): SliceOffsets | undefined {
    if (text === START) return SliceOffsets.start;
    const offs = text.length <= POSITION_UNITS_MAX ? parsedOffs(text) : undefined;
    if (offs === undefined) return undefined;
    const parsed = new SliceOffsets(offs, []);
    return parsed.text === text ? parsed : undefined;
  }

  /** Returns the position that differs from this one in these slices. */
  with(changes: Iterable<readonly [slice: number, off: number]>): SliceOffsets {
    const offs = this.offs.slice();
    const blocks = this.#blocks.slice();
    for (const [slice, off] of changes) {
      offs[slice] = off;
      blocks[Math.floor(slice / BLOCK_SLICES)] = undefined;
    }
    return new SliceOffsets(offs, blocks);
  }

  /** Returns the position in which each slice of these blocks is at the number that `offOf` returns. */
  withBlocks(changed: Iterable<number>, offOf: (slice: number) => number): SliceOffsets {
    const offs = this.offs.slice();
    const blocks = this.#blocks.slice();
    for (const block of changed) {
      blocks[block] = undefined;
      const first = block * BLOCK_SLICES;
      for (let slice = first; slice < first + BLOCK_SLICES; slice++) offs[slice] = offOf(slice);
    }
    return new SliceOffsets(offs, blocks);
  }

  get text(): string {
    this.#text ??= this.#joined();
    return this.#text;
  }

  #joined(): string {
    const texts: string[] = [];
    for (let block = 0; block < BLOCK_COUNT; block++) {
      const text = (this.#blocks[block] ??= blockText(this.offs, block));
      if (text !== '') texts.push(text);
    }
    return texts.join('.') || START;
  }

  /** Whether everything before `wanted` is also before this position. */
  hasReached(wanted: SliceOffsets): boolean {
    const { offs } = this;
    for (let slice = 0; slice < SLICE_COUNT; slice++)
      if (offs[slice]! < wanted.offs[slice]!) return false;
    return true;
  }

  /** Returns the number of records after this position and before another one. */
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
