// ByteReader: reads the wasm binary format's primitives from a bounded range of bytes. Malformed bytes throw
// SVC_MODULE_MALFORMED with their offset; nothing is read beyond `end`.
import { SvcError } from '@svc/kit/svc-error';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
  }

  get done(): boolean {
    return this.position === this.end;
  }

  fail(problem: string): never {
    throw new SvcError(
      'SVC_MODULE_MALFORMED',
      `The module is malformed at byte ${this.bytes.byteOffset + this.position}: ${problem}. ` +
        'The file may have been cut short or changed; build the module again.',
    );
  }

  u8(): number {
    if (this.position >= this.end) this.fail('it ends too early');
    return this.bytes[this.position++]!;
  }

  /** Reads an unsigned LEB128 number of 32 bits, which has at most five bytes. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.u8();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    const last = this.u8();
    if (last > 0x0f) this.fail('a number has more than 32 bits');
    return (value | (last << 28)) >>> 0;
  }

  /** Skips a signed LEB128 number of at most `bytesMax` bytes. */
  skipSigned(bytesMax: number): void {
    for (let count = 0; count < bytesMax; count++) if (this.u8() < 0x80) return;
    this.fail('a number is too long');
  }

  skip(length: number): void {
    if (length > this.end - this.position) this.fail('a length runs past the end');
    this.position += length;
  }

  /** Reads a count of items. Each item takes at least a byte, so a count beyond the remaining bytes is refused. */
  count(): number {
    const count = this.u32();
    if (count > this.end - this.position) this.fail('a count runs past the end');
    return count;
  }

  /** Returns a reader of the next `length` bytes, and skips them in this reader. */
  part(length: number): ByteReader {
    const start = this.position;
    this.skip(length);
    return new ByteReader(this.bytes, start, this.position);
  }

  /** Returns a reader of the same bytes from another position. */
  from(position: number): ByteReader {
    return new ByteReader(this.bytes, position, this.end);
  }

  /** Returns the bytes from the position to the end as a view, without copying them. */
  rest(): Uint8Array {
    return this.bytes.subarray(this.position, this.end);
  }

  name(): string {
    const part = this.part(this.u32());
    try {
      return utf8.decode(part.rest());
    } catch {
      return this.fail('a name is not UTF-8');
    }
  }

  expectDone(what: string): void {
    if (!this.done) this.fail(`${what} is longer than what it holds`);
  }
}
