// WasmBytes: the binary format's primitives, written once more for the fuzzer: what looks for mistakes in
// the host's reader and writer must not share them.

export type Bytes = readonly number[];

/** An unsigned number, in as few bytes as it takes. */
export function u32(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return bytes;
}

/** A signed number of up to 64 bits. */
export function signed(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (;;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    if ((rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

export function name(text: string): number[] {
  const bytes = Buffer.from(text);
  return [...u32(bytes.length), ...bytes];
}

/** Items with their count before them. */
export function vector(items: readonly Bytes[]): number[] {
  return [...u32(items.length), ...items.flat()];
}

/** Bytes with their length before them. */
export function sized(bytes: Bytes): number[] {
  return [...u32(bytes.length), ...bytes];
}

/** A section; none for a vector of nothing. */
export function section(id: number, items: readonly Bytes[]): number[] {
  return items.length === 0 ? [] : [id, ...sized(vector(items))];
}

export function float32(value: number): number[] {
  return [...new Uint8Array(Float32Array.of(value).buffer)];
}

export function float64(value: number): number[] {
  return [...new Uint8Array(Float64Array.of(value).buffer)];
}
