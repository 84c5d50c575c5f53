// MemoryImage: what a memory held at one moment, so that it can be put back.
//
// Invariant: putting back writes every byte of the memory. What it holds by then is the module's own
// doing and is never asked. The image is kept as the stretches that are not zero: most of a memory
// is, and filling costs half of what copying does.

/** The grain of a stretch, in bytes. Divides a page. */
const BLOCK_BYTES = 1024;

interface Stretch {
  readonly start: number;
  readonly bytes: Uint8Array;
}

export class MemoryImage {
  readonly #length: number;
  readonly #stretches: readonly Stretch[];

  constructor(memory: Uint8Array) {
    this.#length = memory.length;
    this.#stretches = stretches(memory);
  }

  /** False: the memory has another length, and was left as it is. */
  putBack(memory: Uint8Array): boolean {
    if (memory.length !== this.#length) return false;
    let end = 0;
    for (const { start, bytes } of this.#stretches) {
      memory.fill(0, end, start);
      memory.set(bytes, start);
      end = start + bytes.length;
    }
    memory.fill(0, end);
    return true;
  }
}

function stretches(memory: Uint8Array): Stretch[] {
  const found: Stretch[] = [];
  let position = 0;
  while (position < memory.length) {
    const start = position;
    while (position < memory.length && !isZero(memory, position)) position += BLOCK_BYTES;
    if (position > start) found.push({ start, bytes: memory.slice(start, position) });
    else position += BLOCK_BYTES;
  }
  return found;
}

function isZero(memory: Uint8Array, start: number): boolean {
  for (let index = start; index < start + BLOCK_BYTES; index++)
    if (memory[index] !== 0) return false;
  return true;
}
