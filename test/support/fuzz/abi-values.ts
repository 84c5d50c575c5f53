// AbiValues: random scripts for the scripted guest: results in the shape of the canonical ABI, right for the
// most part, with pointers, lengths, tags and strings that lie now and then.
import type { Random } from '../random.ts';
import { LOG_RESULT, RESULT, WORD } from './scripted-guest.ts';

/** A stretch of memory that the script writes. */
export interface Patch {
  readonly at: number;
  readonly bytes: readonly number[];
}

/** Strings and lists that results point at lie here. */
const HEAP = 512;
const HEAP_BYTES = 3000;
const TEXTS = ['', 'a', '{"type":"x"}', 'äöü', '€𝄞', 'x'.repeat(70), '\0', 'CONFLICT', 'x-header'];
const LYING_POINTERS = [0, 1, 3, 65_535, 131_070, 131_071, 131_072, 0x7fff_ffff, 0xffff_ffff];
const LYING_LENGTHS = [
  7, 100, 65_536, 131_072, 0x1000_0000, 0x7fff_ffff, 0x8000_0000, 0x8000_0003, 0xffff_ffff,
];

type Shape = 'command' | 'query' | 'apply' | 'snapshot' | 'handle' | 'takeLog';
const SHAPES: readonly Shape[] = ['command', 'query', 'apply', 'snapshot', 'handle', 'takeLog'];

/** `[at low, at high, count, bytes…]` for each stretch. */
export function scriptBytes(patches: readonly Patch[]): number[] {
  return patches.flatMap(({ at, bytes }) => {
    const parts: number[] = [];
    for (let from = 0; from < bytes.length; from += 255) {
      const part = bytes.slice(from, from + 255);
      parts.push((at + from) & 255, ((at + from) >> 8) & 255, part.length, ...part);
    }
    return parts;
  });
}

/** What the scripted guest makes of a script. */
export function patchesOf(script: Uint8Array): Patch[] {
  const patches: Patch[] = [];
  for (let index = 0; index + 3 <= script.length;) {
    const at = script[index]! | (script[index + 1]! << 8);
    const bytes = [...script.subarray(index + 3, index + 3 + script[index + 2]!)];
    patches.push({ at, bytes });
    index += 3 + bytes.length;
  }
  return patches;
}

export function randomScript(random: Random): number[] {
  const heap = new Uint8Array(HEAP_BYTES);
  const text = new ScriptText(random, heap);
  const shape = random.pick(SHAPES);
  const at = shape === 'takeLog' ? LOG_RESULT : RESULT;
  const patches: Patch[] = [{ at, bytes: text.result(shape) }];
  if (random.chance(8)) patches.push(wordPatch(WORD[shape], random.pick(LYING_POINTERS)));
  if (random.chance(10)) patches.push(wordPatch(WORD.realloc, random.below(5)));
  if (random.chance(10)) patches.push(wordPatch(WORD.reallocAnswer, text.pointer(4)));
  if (random.chance(5)) patches.push(wordPatch(WORD.constructorLies, 1));
  if (random.chance(5)) patches.push(wordPatch(WORD.handleNumber, text.pointer(1)));
  if (random.chance(30)) {
    patches.push(wordPatch(WORD.imports, random.below(32)));
    const call = [...text.string(), ...text.string(), ...text.string(), ...text.string()];
    const pairs = [...text.list(2), ...text.tag(2, 0, 0, 0), ...text.string()];
    patches.push({ at: WORD.call, bytes: [...call, ...pairs, ...little(text.pointer(8))] });
    const page = [...little(random.below(9)), ...little(0), ...little(random.below(1200))];
    patches.push({
      at: WORD.read,
      bytes: [...text.string(), ...text.string(), ...page, ...little(text.pointer(8))],
    });
    patches.push({ at: WORD.rep, bytes: [...little(random.below(3)), ...little(random.below(3))] });
  }
  patches.push({ at: HEAP, bytes: [...heap.subarray(0, text.used)] });
  return scriptBytes(patches);
}

function wordPatch(at: number, value: number): Patch {
  return { at, bytes: little(value) };
}

function little(value: number): number[] {
  return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];
}

/** Writes values, and what they point at into the heap. */
class ScriptText {
  readonly #random: Random;
  readonly #heap: Uint8Array;
  /** One in so many scripts lies at all; then often. */
  readonly #lies: number;
  used = 0;

  constructor(random: Random, heap: Uint8Array) {
    this.#random = random;
    this.#heap = heap;
    this.#lies = random.chance(40) ? 0 : 12;
  }

  result(shape: Shape): number[] {
    const isRefusal = this.#random.chance(30);
    switch (shape) {
      case 'command':
        if (isRefusal) return [...this.tag(1, 1, 0, 0, 0), ...this.#refusal()];
        return [
          ...this.tag(1, 0, 0, 0, 0),
          ...this.list(2),
          ...this.tag(2, 0, 0, 0),
          ...this.string(),
        ];
      case 'query':
        if (isRefusal) return [...this.tag(1, 1, 0, 0, 0), ...this.#refusal()];
        return [...this.tag(1, 0, 0, 0, 0), ...this.string()];
      case 'apply':
        return [...this.tag(2, 0, 0, 0), ...this.string()];
      case 'snapshot':
        return this.string();
      case 'handle': {
        if (isRefusal) return [...this.tag(1, 1, 0, 0, 0), ...this.#refusal()];
        const status = this.#random.pick([200, 204, 404, 599, 199, 600, 65_535]);
        const head = [...this.tag(1, 0, 0, 0, 0), ...little(status)];
        return [...head, ...this.list(2), ...this.tag(4, 0, 0, 0), ...this.string()];
      }
      case 'takeLog':
        return this.#lines();
    }
  }

  /** A tag below `cases`, with the padding behind it. */
  tag(cases: number, ...padding: readonly number[]): number[] {
    const value = this.#lying() ? this.#random.below(256) : this.#random.below(cases);
    // A fixed tag is given as the first of the padding.
    const [first = 0, ...rest] = padding;
    return cases === 1 ? [this.#lying() ? value : first, ...rest] : [value, ...padding];
  }

  pointer(alignment: number): number {
    if (this.#lying()) return this.#random.pick(LYING_POINTERS);
    return HEAP + Math.floor(this.#random.below(HEAP_BYTES) / alignment) * alignment;
  }

  string(): number[] {
    const text = this.#random.pick(TEXTS);
    const wide = this.#random.chance(40);
    const bytes = Buffer.from(text, wide ? 'utf16le' : this.#random.chance(50) ? 'utf8' : 'latin1');
    const units = wide ? text.length : bytes.length;
    const at = this.#place([...bytes], 2);
    return this.#pointing(at, wide && this.#random.chance(50) ? units | 0x8000_0000 : units);
  }

  /** Of tuples of strings. */
  list(strings: number): number[] {
    const count = this.#random.below(4);
    const items = Array.from({ length: count * strings }, () => this.string()).flat();
    return this.#pointing(this.#place(items, 4), count);
  }

  #lines(): number[] {
    const count = this.#random.below(4);
    const items = Array.from({ length: count }, () => [...this.tag(4, 0, 0, 0), ...this.string()]);
    return this.#pointing(this.#place(items.flat(), 4), count);
  }

  #refusal(): number[] {
    return [
      ...this.tag(8, 0, 0, 0),
      ...this.string(),
      ...this.string(),
      ...this.tag(2, 0, 0, 0),
      ...this.string(),
    ];
  }

  #pointing(at: number, length: number): number[] {
    const pointer = this.#lying() ? this.#random.pick(LYING_POINTERS) : at;
    const count = this.#lying() ? this.#random.pick(LYING_LENGTHS) : length;
    return [...little(pointer), ...little(count)];
  }

  /** Answers the address. */
  #place(bytes: readonly number[], alignment: number): number {
    const start = Math.ceil(this.used / alignment) * alignment;
    if (start + bytes.length > this.#heap.length) return HEAP;
    this.#heap.set(bytes, start);
    this.used = start + bytes.length;
    return HEAP + start;
  }

  #lying(): boolean {
    return this.#lies > 0 && this.#random.chance(this.#lies);
  }
}
