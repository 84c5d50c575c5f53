// MemoryImage: the content of a memory at one moment, to be restored later.
//
// Invariant: restoring writes every byte of the memory, also of a memory that has grown since: the module may
// have written anything there, so nothing of it is trusted. The image keeps only the runs that are not zero: most
// of a memory is zero, and filling costs half of what copying does.
import assert from 'node:assert/strict';

/** Granularity of a run in bytes; divides a page. */
const BLOCK_BYTES = 1024;
/** Runs with at most this many zero bytes between them are merged: a call costs more than copying the zeros. */
const GAP_BYTES_MAX = 4 * 1024;

/** A run of bytes that are not all zero. */
interface Stretch {
  readonly start: number;
  readonly bytes: Uint8Array;
}

export class MemoryImage {
  /** Length of the memory when the image was taken, in bytes. */
  readonly length: number;
  readonly #stretches: readonly Stretch[];

  constructor(memory: Uint8Array) {
    this.length = memory.length;
    this.#stretches = stretches(memory);
  }

  /** Restores the memory. `memory`: as long as it was or longer; the bytes that it has grown by become zeros. */
  restore(memory: Uint8Array): void {
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
