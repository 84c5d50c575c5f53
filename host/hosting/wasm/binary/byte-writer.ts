// ByteWriter: a growing buffer with the wasm binary format's primitives.

export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The written bytes, not copied: valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  u8(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  u32(number: number): void {
    let rest = number >>> 0;
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.u8(rest);
  }

  s32(number: number): void {
    let rest = number | 0;
    for (;;) {
      const byte = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0)) {
        this.u8(byte);
        return;
      }
      this.u8(byte | 0x80);
    }
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes a name in ASCII. */
  name(name: string): void {
    this.u32(name.length);
    for (let index = 0; index < name.length; index++) this.u8(name.charCodeAt(index));
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.written);
    this.#bytes = grown;
  }
}
