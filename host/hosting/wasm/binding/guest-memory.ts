// GuestMemory: lifts values out of a module's memory and lowers values into it, by the canonical ABI. Every
// pointer, length, alignment, tag and string of the module is checked; a wrong one is a GuestFault, never
// another exception. Lowered values lie in memory that the module's own `cabi_realloc` returns, and its
// result is checked as well. The pointer of an empty value is ignored.
//
// Views are kept until the memory grows: growing detaches them, so their length becomes 0. The instance's
// growth is counted at that moment, too.
import { isUtf8 } from 'node:buffer';
import { GuestFault } from '@svc/model/guest-fault';
import { PHASE, type CallState } from './call-state.ts';
import type { StringEncoding } from '../binary/component-outline.ts';
import type { CoreExports } from '../binary/core-interface.ts';
import type { MemoryShare } from './instance-memory.ts';
import { REPEATED_UNITS_MAX, RepeatedTexts } from './repeated-texts.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Maximum length in units at which a loop in JavaScript is faster than a call of native code. */
const SHORT_LOWERED_UNITS = 64;
/** Pointer of an empty string or list: it is valid at every alignment. */
const EMPTY_POINTER = 8;
/** In `latin1+utf16` the top bit of the length marks a UTF-16 string. */
const UTF16_TAG = 0x8000_0000;
/** Approximate bytes of host memory that an item of a lifted list takes in addition to its strings. */
const ITEM_BYTES = 64;

/** Call `noticeGrowth()` before the first access. */
export class GuestMemory {
  /** Length of the last lowered value, as the canonical ABI counts it: units, bytes or items. */
  loweredLength = 0;
  #view!: DataView;
  #bytes: Uint8Array = new Uint8Array();
  #units!: Uint16Array;
  #buffer!: Buffer;
  #liftableBytes = 0;
  #movedBytes = 0;
  readonly #memory: WebAssembly.Memory;
  readonly #realloc: CoreExports['realloc'];
  readonly #encoding: StringEncoding;
  readonly #state: CallState;
  readonly #limits: WasmLimits;
  readonly #share: MemoryShare;
  readonly #repeated = new RepeatedTexts();

  constructor(
    exports: CoreExports,
    encoding: StringEncoding,
    state: CallState,
    limits: WasmLimits,
    share: MemoryShare,
  ) {
    this.#memory = exports.memory;
    this.#realloc = exports.realloc;
    this.#encoding = encoding;
    this.#state = state;
    this.#limits = limits;
    this.#share = share;
  }

  /** The whole memory as it is now. Do not keep the view: growing detaches it. */
  get bytes(): Uint8Array {
    this.noticeGrowth();
    return this.#bytes;
  }

  /** Counts the memory that the instance has grown to. Throws a GuestFault if that exceeds the limit. */
  noticeGrowth(): void {
    if (this.#bytes.length > 0) return;
    this.#attach();
    this.#share.growTo(this.#bytes.length);
  }

  /** Starts a new budget of the bytes that a call may lift. */
  beginLifting(): void {
    this.#liftableBytes = this.#limits.liftedBytesMax;
    this.#movedBytes = 0;
  }

  /** Returns the bytes lifted and lowered since `beginLifting` or the last call of this function. */
  takeMovedBytes(): number {
    const moved = this.#movedBytes;
    this.#movedBytes = 0;
    return moved;
  }

  /** Checks that a record lies in the memory, and returns its address. */
  record(pointer: number, size: number, alignment: number): number {
    this.noticeGrowth();
    const address = pointer >>> 0;
    if ((address & (alignment - 1)) !== 0 || address + size > this.#bytes.length)
      throw badValue('a pointer that is unaligned or out of its memory');
    return address;
  }

  /** Checks that a list lies in the memory, and returns its address. `size`: bytes of one item. */
  list(pointer: number, length: number, size: number, alignment: number): number {
    const count = length >>> 0;
    if (count === 0) return EMPTY_POINTER;
    const address = this.record(pointer, count * size, alignment);
    if (count > this.#limits.listItemsMax)
      throw new GuestFault('limit', 'The module passed a list that is too long.', {
        limit: 'list-items',
      });
    this.#pay(count * ITEM_BYTES);
    return address;
  }

  u16(address: number): number {
    return this.#view.getUint16(address, true);
  }

  u32(address: number): number {
    return this.#view.getUint32(address, true);
  }

  /** Reads a 64-bit number; above 2^53 the result is the nearest number that JavaScript has. */
  u64(address: number): number {
    return Number(this.#view.getBigUint64(address, true));
  }

  /** Reads a bool: every value except 0 is true. */
  bool(address: number): boolean {
    return this.#view.getUint8(address) !== 0;
  }

  /** Reads the tag of an enum, a variant, an option or a result; it must be below `cases`. */
  tag(address: number, cases: number): number {
    const tag = this.#view.getUint8(address);
    if (tag >= cases) throw badValue(`the tag ${tag} where there are ${cases} cases`);
    return tag;
  }

  /** Reads the string whose pointer and length lie at `address`. */
  stringAt(address: number): string {
    return this.string(this.u32(address), this.u32(address + 4));
  }

  string(pointer: number, length: number): string {
    const start = pointer >>> 0;
    const count = length >>> 0;
    if (count === 0) return '';
    switch (this.#encoding) {
      case 'utf16':
        return this.#utf16(start, count);
      case 'utf8':
        return this.#utf8(start, count);
      case 'latin1+utf16':
        if (count === UTF16_TAG) return '';
        return (count & UTF16_TAG) !== 0
          ? this.#utf16(start, (count ^ UTF16_TAG) >>> 0)
          : this.#latin1(start, count);
    }
  }

  /** Returns the bytes of the memory that a string of this length takes. */
  stringBytes(length: number): number {
    const { isWide, count } = this.#form(length);
    return isWide ? count * 2 : count;
  }

  /** Like `string`, for a log: reads at most `bytesMax` bytes and replaces invalid units. */
  looseString(pointer: number, length: number, bytesMax: number): string {
    const { isWide } = this.#form(length);
    const size = this.stringBytes(length);
    if (size === 0) return '';
    const start = this.record(pointer, size, isWide ? 2 : 1);
    const end = start + Math.min(size, bytesMax);
    const encoding = isWide ? 'utf16le' : this.#encoding === 'utf8' ? 'utf8' : 'latin1';
    const text = this.#buffer.toString(encoding, start, end).toWellFormed();
    return size > bytesMax ? `${text}…` : text;
  }

  /** Returns a copy of the bytes. */
  byteList(pointer: number, length: number): Uint8Array {
    const size = length >>> 0;
    if (size === 0) return new Uint8Array();
    const start = this.record(pointer, size, 1);
    this.#pay(size);
    return this.#bytes.slice(start, start + size);
  }

  /** Allocates memory of the module for a lowered value, and returns its address. */
  allocate(size: number, alignment: number): number {
    if (size > 0x7fff_ffff) {
      const tooLarge = 'A value is too large for the module.';
      throw new GuestFault('limit', tooLarge, { limit: 'lowered-bytes' });
    }
    this.#movedBytes += size;
    const { phase } = this.#state;
    this.#state.phase = PHASE.closed;
    const address = this.#realloc(0, 0, alignment, size) >>> 0;
    this.#state.phase = phase;
    this.noticeGrowth();
    if (address === 0 || (address & (alignment - 1)) !== 0 || address + size > this.#bytes.length)
      throw badValue('memory that is unaligned or out of its bounds');
    return address;
  }

  /** Allocates a list, returns its address and sets `loweredLength` to `count`. */
  allocateList(count: number, size: number, alignment: number): number {
    const address = count === 0 ? EMPTY_POINTER : this.allocate(count * size, alignment);
    this.loweredLength = count;
    return address;
  }

  /**
   * Lowers a string, returns its address and sets `loweredLength`. `isRepeated`: the module is likely to pass the
   * string back.
   */
  lowerString(text: string, isRepeated = true): number {
    if (text.length === 0) {
      this.loweredLength = 0;
      return EMPTY_POINTER;
    }
    switch (this.#encoding) {
      case 'utf16':
        return this.#lowerUtf16(text, isRepeated);
      case 'utf8':
        return this.#lowerUtf8(text, isRepeated);
      case 'latin1+utf16':
        return this.#lowerLatin1OrUtf16(text, isRepeated);
    }
  }

  /** Lowers a string, and stores its pointer and length at `address`. */
  storeString(address: number, text: string, isRepeated = true): void {
    const pointer = this.lowerString(text, isRepeated);
    this.#view.setUint32(address, pointer, true);
    this.#view.setUint32(address + 4, this.loweredLength, true);
  }

  /** Lowers bytes, returns their address and sets `loweredLength`. */
  lowerBytes(bytes: Uint8Array): number {
    const address = this.allocateList(bytes.length, 1, 1);
    if (bytes.length > 0) this.#bytes.set(bytes, address);
    return address;
  }

  storeU8(address: number, value: number): void {
    this.#view.setUint8(address, value);
  }

  storeU16(address: number, value: number): void {
    this.#view.setUint16(address, value, true);
  }

  storeU32(address: number, value: number): void {
    this.#view.setUint32(address, value, true);
  }

  storeU64(address: number, value: bigint): void {
    this.#view.setBigUint64(address, value, true);
  }

  #attach(): void {
    const { buffer } = this.#memory;
    this.#view = new DataView(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#units = new Uint16Array(buffer);
    this.#buffer = Buffer.from(buffer);
  }

  #pay(bytes: number): void {
    this.#liftableBytes -= bytes;
    this.#movedBytes += bytes;
    if (this.#liftableBytes < 0)
      throw new GuestFault('limit', 'The module passed more data in one call than is allowed.', {
        limit: 'lifted-bytes',
      });
  }

  /** `bytes`: length in the module's memory; `hostBytes`: length in the host's memory. */
  #payString(bytes: number, hostBytes: number): void {
    if (bytes > this.#limits.stringBytesMax)
      throw new GuestFault('limit', 'The module passed a string that is too long.', {
        limit: 'string-bytes',
      });
    this.#pay(hostBytes);
  }

  #form(length: number): { readonly isWide: boolean; readonly count: number } {
    const isTagged = (length & UTF16_TAG) !== 0 && this.#encoding === 'latin1+utf16';
    return {
      isWide: isTagged || this.#encoding === 'utf16',
      count: (isTagged ? length ^ UTF16_TAG : length) >>> 0,
    };
  }

  #utf16(pointer: number, count: number): string {
    const start = this.record(pointer, count * 2, 2);
    this.#payString(count * 2, count * 2);
    if (count > REPEATED_UNITS_MAX) return this.#newUtf16(start, count);
    const repeated = this.#repeated.find(this.#units, start >> 1, count);
    if (repeated !== undefined) return repeated;
    const text = this.#newUtf16(start, count);
    this.#repeated.keep(text);
    return text;
  }

  #newUtf16(start: number, count: number): string {
    const text = this.#buffer.toString('utf16le', start, start + count * 2);
    if (!text.isWellFormed()) throw badValue('a string with half a surrogate pair');
    return text;
  }

  #utf8(pointer: number, count: number): string {
    const start = this.record(pointer, count, 1);
    this.#payString(count, count * 2);
    if (count > REPEATED_UNITS_MAX) return this.#newUtf8(start, count);
    const repeated = this.#repeated.find(this.#bytes, start, count);
    if (repeated !== undefined) return repeated;
    const text = this.#newUtf8(start, count);
    // A text with as many units as bytes is ASCII, and its units equal its bytes.
    if (text.length === count) this.#repeated.keep(text);
    return text;
  }

  #newUtf8(start: number, count: number): string {
    const end = start + count;
    if (!isUtf8(this.#bytes.subarray(start, end))) throw badValue('a string that is not UTF-8');
    return this.#buffer.toString('utf8', start, end);
  }

  #latin1(pointer: number, count: number): string {
    // Both forms of this encoding lie at even addresses.
    const start = this.record(pointer, count, 2);
    this.#payString(count, count * 2);
    return this.#buffer.toString('latin1', start, start + count);
  }

  #lowerUtf16(text: string, isRepeated: boolean): number {
    const count = text.length;
    const address = this.allocate(count * 2, 2);
    this.loweredLength = count;
    if (count <= SHORT_LOWERED_UNITS) {
      const units = this.#units;
      const start = address >> 1;
      let index = 0;
      for (; index < count; index++) {
        const unit = text.charCodeAt(index);
        if ((unit & 0xf800) === 0xd800) break;
        units[start + index] = unit;
      }
      if (index === count) {
        if (isRepeated) this.#repeated.keep(text);
        return address;
      }
    }
    this.#buffer.write(text.toWellFormed(), address, count * 2, 'utf16le');
    return address;
  }

  #lowerUtf8(text: string, isRepeated: boolean): number {
    const count = text.length;
    if (count <= SHORT_LOWERED_UNITS && isShortAscii(text)) {
      const address = this.allocate(count, 1);
      const bytes = this.#bytes;
      for (let index = 0; index < count; index++) bytes[address + index] = text.charCodeAt(index);
      if (isRepeated) this.#repeated.keep(text);
      this.loweredLength = count;
      return address;
    }
    const wellFormed = text.toWellFormed();
    const size = Buffer.byteLength(wellFormed);
    const address = this.allocate(size, 1);
    this.#buffer.write(wellFormed, address, size, 'utf8');
    this.loweredLength = size;
    return address;
  }

  #lowerLatin1OrUtf16(text: string, isRepeated: boolean): number {
    if (!isLatin1(text)) {
      const address = this.#lowerUtf16(text, isRepeated);
      this.loweredLength = (this.loweredLength | UTF16_TAG) >>> 0;
      return address;
    }
    const address = this.allocate(text.length, 2);
    this.#buffer.write(text, address, text.length, 'latin1');
    this.loweredLength = text.length;
    return address;
  }
}

/** Creates the fault for a module's value that the canonical ABI does not allow. */
export function badValue(what: string): GuestFault {
  return new GuestFault('value', `The module passed ${what}.`);
}

function isShortAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) >= 0x80) return false;
  return true;
}

function isLatin1(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0xff) return false;
  return true;
}
