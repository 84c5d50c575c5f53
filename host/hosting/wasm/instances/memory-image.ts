// MemoryImage: what a memory held at one moment, so that it can be put back.
//
// Invariant: putting back writes every byte of the memory, also of one that has grown since: what it
// holds by then is the module's own doing and is never asked. The image is kept as the stretches that
// are not zero: most of a memory is, and filling costs half of what copying does.
import assert from 'node:assert/strict';

/** The grain of a stretch, in bytes. Divides a page. */
const BLOCK_BYTES = 1024;
/** Zeros between two stretches, up to which these are one: the call is dearer than copying the zeros. */
const GAP_BYTES_MAX = 4 * 1024;

interface Stretch {
  readonly start: number;
  readonly bytes: Uint8Array;
}

export class MemoryImage {
  /** Of the memory when the image was taken, in bytes. */
  readonly length: number;
  readonly #stretches: readonly Stretch[];

  constructor(memory: Uint8Array) {
    this.length = memory.length;
    this.#stretches = stretches(memory);
  }

  /** `memory`: as long as it was, or longer; what it has grown by holds zeros then. */
  putBack(memory: Uint8Array): void {
    assert(memory.length >= this.length, 'a memory cannot shrink');
    let end = 0;
    for (const { start, bytes } of this.#stretches) {
      if (start > end) memory.fill(0, end, start);
      memory.set(bytes, start);
      end = start + bytes.length;
    }
    if (end < memory.length) memory.fill(0, end);
  }
}

function stretches(memory: Uint8Array): Stretch[] {
  const bounds: { readonly start: number; end: number }[] = [];
  for (let start = 0; start < memory.length; start += BLOCK_BYTES) {
    if (isZero(memory, start)) continue;
    const end = start + BLOCK_BYTES;
    const before = bounds.at(-1);
    if (before !== undefined && start - before.end <= GAP_BYTES_MAX) before.end = end;
    else bounds.push({ start, end });
  }
  return bounds.map(({ start, end }) => ({ start, bytes: memory.slice(start, end) }));
}

function isZero(memory: Uint8Array, start: number): boolean {
  for (let index = start; index < start + BLOCK_BYTES; index++)
    if (memory[index] !== 0) return false;
  return true;
}
