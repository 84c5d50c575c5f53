// A chunked body (RFC 9112, section 7.1): sizes, data, trailers. Chunk extensions are checked and dropped.
import { CARRIAGE_RETURN, HEX_DIGITS, LINE_FEED, SEMICOLON } from '../grammar/byte-classes.ts';
import {
  EXTENSION_END,
  EXTENSION_START,
  MALFORMED,
  extensionState,
} from '../grammar/chunk-extension.ts';
import { type FailureCode, failure } from '../messages/failure.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { DataPart, EndPart, FailurePart } from '../messages/parts.ts';
import type { ByteInput } from './byte-input.ts';
import { SectionReader } from './section-reader.ts';
import { trailerFields } from './trailer-fields.ts';

// States, in the order in which a chunk passes through them.
const SIZE = 0;
const EXTENSION = 1;
const SIZE_END = 2;
const DATA = 3;
const DATA_END = 4;
const CHUNK_END = 5;
const TRAILERS = 6;

/** Digits of the largest size that fits in 64 bits. */
const SIZE_DIGITS_MAX = 16;
/** Bytes of framing that are not counted as excess, for each chunk and for each byte of its data. */
const FREE_BYTES_PER_CHUNK = 16;
const FREE_BYTES_PER_BYTE = 2;

export class ChunkedReader {
  readonly #limits: MessageLimits;
  readonly #trailers: SectionReader;
  #state = SIZE;
  /** Size of the chunk as far as its digits were read, then the bytes that are left of it. */
  #size = 0;
  #digits = 0;
  #extensionState = EXTENSION_START;
  #lineBytes = 0;
  #excessBytes = 0;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
    this.#trailers = new SectionReader('trailers', {
      bytesMax: limits.trailerBytesMax,
      fieldsMax: limits.fieldsMax,
      tooLarge: 'trailers-too-large',
    });
  }

  /** Begins the next body. */
  begin(): void {
    this.#excessBytes = 0;
    this.#beginChunk();
  }

  #beginChunk(): void {
    this.#state = SIZE;
    this.#size = 0;
    this.#digits = 0;
    this.#lineBytes = 0;
  }

  /** Bytes that were read of trailers that are not complete. */
  get byteLength(): number {
    return this.#trailers.byteLength;
  }

  next(input: ByteInput): DataPart | EndPart | FailurePart | undefined {
    while (!input.isEmpty) {
      if (this.#state === DATA) {
        const bytes = input.take(this.#size);
        this.#size -= bytes.length;
        if (this.#size === 0) this.#state = DATA_END;
        return { kind: 'data', bytes };
      }
      if (this.#state === TRAILERS) {
        const part = this.#readTrailers(input);
        if (part !== undefined) return part;
      } else {
        const code = this.#readFraming(input);
        if (code !== undefined) return { kind: 'failure', failure: failure(code) };
      }
    }
    return undefined;
  }

  #readTrailers(input: ByteInput): EndPart | FailurePart | undefined {
    const result = this.#trailers.read(input);
    if (result === 'more') return undefined;
    const read = result === 'done' ? trailerFields(this.#trailers) : result;
    return typeof read === 'string'
      ? { kind: 'failure', failure: failure(read) }
      : { kind: 'end', trailers: read };
  }

  /** Reads what is between data, to its end or to the end of the buffer. */
  #readFraming(input: ByteInput): FailureCode | undefined {
    const { bytes } = input;
    let { at } = input;
    while (at < bytes.length && this.#state !== DATA && this.#state !== TRAILERS) {
      const code = this.#readByte(bytes[at]!);
      if (code !== undefined) return code;
      at++;
    }
    input.readTo(at);
    return undefined;
  }

  #readByte(byte: number): FailureCode | undefined {
    switch (this.#state) {
      case DATA_END:
        this.#state = CHUNK_END;
        return byte === CARRIAGE_RETURN ? undefined : 'bad-chunk-end';
      case CHUNK_END:
        this.#beginChunk();
        return byte === LINE_FEED ? undefined : 'bad-chunk-end';
      default:
        this.#lineBytes++;
        if (this.#lineBytes > this.#limits.chunkLineBytesMax) return 'chunk-line-too-long';
        return this.#readLineByte(byte);
    }
  }

  #readLineByte(byte: number): FailureCode | undefined {
    if (this.#state === SIZE_END)
      return byte === LINE_FEED ? this.#endLine() : 'bare-carriage-return';
    if (byte === LINE_FEED) return 'bare-line-feed';
    if (this.#state === SIZE) return this.#readSizeByte(byte);
    this.#extensionState = extensionState(this.#extensionState, byte);
    if (this.#extensionState === EXTENSION_END) this.#state = SIZE_END;
    return this.#extensionState === MALFORMED ? 'bad-chunk-extension' : undefined;
  }

  #readSizeByte(byte: number): FailureCode | undefined {
    const digit = HEX_DIGITS[byte]!;
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      this.#digits++;
      const isCounted = this.#digits <= SIZE_DIGITS_MAX && Number.isSafeInteger(this.#size);
      return isCounted ? undefined : 'chunk-too-large';
    }
    if (this.#digits === 0) return 'bad-chunk-size';
    if (byte === CARRIAGE_RETURN) this.#state = SIZE_END;
    else if (byte === SEMICOLON) {
      this.#state = EXTENSION;
      this.#extensionState = EXTENSION_START;
    } else return 'bad-chunk-size';
    return undefined;
  }

  #endLine(): FailureCode | undefined {
    const freeBytes = FREE_BYTES_PER_CHUNK + FREE_BYTES_PER_BYTE * this.#size;
    this.#excessBytes = Math.max(0, this.#excessBytes + this.#lineBytes - freeBytes);
    this.#state = this.#size === 0 ? TRAILERS : DATA;
    return this.#excessBytes > this.#limits.chunkExcessBytesMax ? 'chunk-excess' : undefined;
  }
}
