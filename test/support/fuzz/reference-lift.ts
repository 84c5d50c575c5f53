// ReferenceLift: lifts a command's and a query's result as the canonical ABI says, plainly and once more, to
// compare the binding with. Knows only the memory below what is lowered: where that does not suffice it says
// so.
import type { StringEncoding } from '../../../host/hosting/wasm/binary/component-outline.ts';
import type { Patch } from './abi-values.ts';
import { LOG_RESULT, LOWERED, RESULT, WORD } from './scripted-guest.ts';

export type Lifted = { readonly value: unknown } | 'fault' | 'unknown';

class Fault extends Error {}
class Unknown extends Error {}

const CODES = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'UNPROCESSABLE',
  'TOO_MANY_REQUESTS',
];
/** More than this may meet a limit. */
const BYTES_MAX = 20_000;

export function referenceLift(
  which: 'command' | 'query',
  patches: readonly Patch[],
  encoding: StringEncoding,
): Lifted {
  const memory = new ReferenceMemory(patches, encoding);
  try {
    if (memory.word(WORD.realloc) !== 0 || memory.word(WORD.constructorLies) !== 0)
      return 'unknown';
    if (memory.word(WORD.takeLog) !== LOG_RESULT || memory.word(LOG_RESULT + 4) !== 0)
      return 'unknown';
    return { value: memory.result(which) };
  } catch (error) {
    if (error instanceof Fault) return 'fault';
    if (error instanceof Unknown) return 'unknown';
    throw error;
  }
}

class ReferenceMemory {
  readonly #bytes = new Uint8Array(LOWERED);
  readonly #view = new DataView(this.#bytes.buffer);
  readonly #encoding: StringEncoding;
  #lifted = 0;

  constructor(patches: readonly Patch[], encoding: StringEncoding) {
    this.#encoding = encoding;
    for (const at of [WORD.command, WORD.query, WORD.apply, WORD.snapshot, WORD.handle])
      this.#view.setUint32(at, RESULT, true);
    this.#view.setUint32(WORD.takeLog, LOG_RESULT, true);
    for (const { at, bytes } of patches) this.#bytes.set(bytes.slice(0, LOWERED - at), at);
  }

  word(address: number): number {
    return this.#view.getUint32(address, true);
  }

  result(which: 'command' | 'query'): unknown {
    const at = this.#range(this.word(WORD[which]), 36, 4);
    const tag = this.#tag(at, 2);
    if (tag === 1) return this.#refusal(at + 4);
    if (which === 'query') return { kind: 'reply', json: this.#string(at + 4) };
    const events = this.#events(this.word(at + 4), this.word(at + 8));
    const actions = this.#bytes[at + 12] === 0 ? [] : [{ kind: 'delete-entity' }];
    return { kind: 'effect', events, actions, reply: this.#string(at + 16) };
  }

  #refusal(at: number): unknown {
    const code = this.#tag(at, CODES.length + 1);
    const isOther = code === CODES.length;
    return {
      kind: 'refusal',
      code: CODES[code] ?? 'OTHER',
      ...(isOther ? { otherCode: this.#string(at + 4) } : {}),
      message: this.#string(at + 12),
      ...(this.#tag(at + 20, 2) === 1 ? { details: this.#string(at + 24) } : {}),
    };
  }

  #events(pointer: number, count: number): unknown[] {
    if (count === 0) return [];
    const at = this.#range(pointer, count * 16, 4);
    return Array.from({ length: count }, (_, index) => ({
      manifest: this.#string(at + index * 16),
      json: this.#string(at + index * 16 + 8),
    }));
  }

  #tag(at: number, cases: number): number {
    const tag = this.#bytes[at]!;
    if (tag >= cases) throw new Fault();
    return tag;
  }

  #string(at: number): string {
    const pointer = this.word(at);
    const length = this.word(at + 4);
    if (length === 0) return '';
    if (this.#encoding === 'utf8') return this.#utf8(pointer, length);
    if (this.#encoding === 'utf16') return this.#utf16(pointer, length);
    if (length >= 0x8000_0000) return this.#utf16(pointer, length - 0x8000_0000);
    return this.#bytesAt(pointer, length, 2).toString('latin1');
  }

  #utf8(pointer: number, length: number): string {
    try {
      const bytes = this.#bytesAt(pointer, length, 1);
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) throw new Fault();
      throw error;
    }
  }

  #utf16(pointer: number, units: number): string {
    if (units === 0) return '';
    const text = this.#bytesAt(pointer, units * 2, 2).toString('utf16le');
    if (!text.isWellFormed()) throw new Fault();
    return text;
  }

  #bytesAt(pointer: number, length: number, alignment: number): Buffer {
    const at = this.#range(pointer, length, alignment);
    return Buffer.from(this.#bytes.subarray(at, at + length));
  }

  #range(pointer: number, size: number, alignment: number): number {
    if (pointer % alignment !== 0) throw new Fault();
    // The module's memory may have grown as far as this.
    if (pointer + size > 16 * 65_536) throw new Fault();
    this.#lifted += size;
    if (pointer + size > LOWERED || this.#lifted > BYTES_MAX) throw new Unknown();
    return pointer;
  }
}
