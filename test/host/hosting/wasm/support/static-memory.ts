// StaticMemory lays values out in the memory of a module, from address 4096 on, as data of its WAT. Offsets are written
// by the tests, so that they do not come from the code under test.
const START = 4096;

/** A field: a byte, a number of 32 or 64 bits, or a string, at an offset from the beginning of its record. */
export type Field = readonly [
  offset: number,
  value: { readonly u8: number } | { readonly u32: number } | bigint | string,
];

export class StaticMemory {
  readonly #bytes = Buffer.alloc(16 * 1024);
  #top = 0;

  /** Lays out a record of `size` bytes, with its strings in UTF-8, and returns its address. */
  record(size: number, fields: readonly Field[]): number {
    const at = this.#take(size);
    this.#fill(at, fields);
    return START + at;
  }

  /** Lays out records one after the other, and returns the fields of a list at `offset`. */
  list(offset: number, size: number, records: readonly (readonly Field[])[]): readonly Field[] {
    const at = this.#take(size * records.length);
    for (const [index, fields] of records.entries()) this.#fill(at + index * size, fields);
    return [
      [offset, { u32: START + at }],
      [offset + 4, { u32: records.length }],
    ];
  }

  /** WAT of the memory's content. */
  get data(): string {
    const hex = this.#bytes.subarray(0, this.#top).toString('hex');
    return `(data (i32.const ${START}) "${hex.replaceAll(/../g, String.raw`\$&`)}")`;
  }

  #take(size: number): number {
    const at = (this.#top + 7) & -8;
    this.#top = at + size;
    return at;
  }

  #fill(at: number, fields: readonly Field[]): void {
    for (const [offset, value] of fields)
      if (typeof value === 'string') {
        const text = Buffer.from(value);
        const pointer = this.#take(text.length);
        text.copy(this.#bytes, pointer);
        this.#bytes.writeUInt32LE(START + pointer, at + offset);
        this.#bytes.writeUInt32LE(text.length, at + offset + 4);
      } else if (typeof value === 'bigint') this.#bytes.writeBigUInt64LE(value, at + offset);
      else if ('u8' in value) this.#bytes.writeUInt8(value.u8, at + offset);
      else this.#bytes.writeUInt32LE(value.u32, at + offset);
  }
}
