// A head, or trailers, read from the input. A section in one buffer is scanned where it is. Of a section that is split the
// reader keeps a copy, to which it appends what arrives, so that each byte is copied once.
import type { FailureCode } from '../messages/failure.ts';
import type { ByteInput } from './byte-input.ts';
import {
  POSITIONS_PER_FIELD,
  type ScanResult,
  type Section,
  SectionScanner,
} from './section-scanner.ts';

export interface SectionLimits {
  readonly bytesMax: number;
  readonly fieldsMax: number;
  /** The failure of a section with more bytes. */
  readonly tooLarge: FailureCode;
}

/** Size of the smallest buffer for a copy, in bytes. */
const COPY_BYTES_MIN = 512;

export class SectionReader {
  readonly #scanner: SectionScanner;
  readonly #limits: SectionLimits;
  #copy: Buffer | undefined;
  #copiedBytes = 0;
  /** The section as text, once it is done. */
  #text = '';
  /** Position in the scanned buffer at which the text begins. */
  #textStart = 0;

  constructor(section: Section, limits: SectionLimits) {
    this.#scanner = new SectionScanner(section, limits.fieldsMax);
    this.#limits = limits;
  }

  /** Whether a part of a section was read. An empty line before a request is none. */
  get hasBegun(): boolean {
    return this.#copiedBytes > 0 && this.#scanner.isPastEmptyLine;
  }

  /** Bytes that were read of a section that is not done. */
  get byteLength(): number {
    return this.#copiedBytes;
  }

  // The parts of a section that is done. They are valid until the next one is read.

  get isVersion10(): boolean {
    return this.#scanner.isVersion10;
  }

  get method(): string {
    return this.#slice(this.#scanner.lineStart, this.#scanner.firstEnd);
  }

  get target(): string {
    return this.#slice(this.#scanner.firstEnd + 1, this.#scanner.secondEnd);
  }

  get status(): number {
    const { lineStart } = this.#scanner;
    return Number(this.#slice(lineStart, lineStart + 3));
  }

  get reason(): string {
    return this.#slice(this.#scanner.firstEnd, this.#scanner.secondEnd);
  }

  get fieldCount(): number {
    return this.#scanner.positionCount / POSITIONS_PER_FIELD;
  }

  fieldName(index: number): string {
    const { positions } = this.#scanner;
    const at = index * POSITIONS_PER_FIELD;
    return this.#slice(positions[at]!, positions[at + 1]!);
  }

  fieldValue(index: number): string {
    const { positions } = this.#scanner;
    const at = index * POSITIONS_PER_FIELD;
    return this.#slice(positions[at + 2]!, positions[at + 3]!);
  }

  #slice(from: number, to: number): string {
    return this.#text.substring(from - this.#textStart, to - this.#textStart);
  }

  /** Drops the text of a section that is done, when its parts are no longer needed. */
  release(): void {
    this.#text = '';
  }

  /** Reads until the section is done, has failed, or the input is empty. */
  read(input: ByteInput): ScanResult {
    let result: ScanResult = 'more';
    if (this.#copy === undefined && !input.isEmpty) result = this.#readUnsplit(input);
    while (result === 'more' && !input.isEmpty) result = this.#readIntoCopy(input);
    return result;
  }

  #readUnsplit(input: ByteInput): ScanResult {
    const { bytes, at: start } = input;
    const { bytesMax, tooLarge } = this.#limits;
    const end = Math.min(bytes.length, start + bytesMax);
    const scanner = this.#scanner;
    scanner.begin(start);
    const result = scanner.scan(bytes, end);
    if (result === 'done') {
      this.#text = bytes.toString('latin1', start, scanner.at);
      this.#textStart = start;
      input.readTo(scanner.at);
    } else if (result === 'more') {
      if (end - start === bytesMax) return tooLarge;
      this.#append(bytes, start, end);
      scanner.moveBy(start);
      input.readTo(end);
    }
    return result;
  }

  #readIntoCopy(input: ByteInput): ScanResult {
    const { bytes, at: start } = input;
    const { bytesMax, tooLarge } = this.#limits;
    const before = this.#copiedBytes;
    const scanner = this.#scanner;
    const copy = this.#append(bytes, start, Math.min(bytes.length, start + bytesMax - before));
    const result = scanner.scan(copy, this.#copiedBytes);
    if (result === 'done') {
      this.#text = copy.toString('latin1', 0, scanner.at);
      this.#textStart = 0;
      this.#copy = undefined;
      this.#copiedBytes = 0;
      input.readTo(start + scanner.at - before);
    } else if (result === 'more') {
      if (this.#copiedBytes === bytesMax) return tooLarge;
      input.readTo(start + this.#copiedBytes - before);
    }
    return result;
  }

  /** Appends bytes to the copy, whose size doubles when it is full, and returns it. */
  #append(bytes: Buffer, from: number, to: number): Buffer {
    const needed = this.#copiedBytes + to - from;
    let copy = this.#copy;
    if (copy === undefined || needed > copy.length) {
      const size = Math.min(Math.max(COPY_BYTES_MIN, 2 * needed), this.#limits.bytesMax);
      const larger = Buffer.allocUnsafeSlow(size);
      copy?.copy(larger, 0, 0, this.#copiedBytes);
      copy = larger;
    }
    bytes.copy(copy, this.#copiedBytes, from, to);
    this.#copy = copy;
    this.#copiedBytes = needed;
    return copy;
  }
}
