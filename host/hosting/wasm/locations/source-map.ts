// SourceMap: reads the map that the build writes beside a module, from bytes of its core module to lines of
// its sources. The map is untrusted text: a malformed one is refused, and it is read for locations only.
import type { SourceLocation } from '@svc/contract';
import type { CodePosition } from './code-positions.ts';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;
/** Bit of a digit: more digits of the number follow. */
const CONTINUES = 32;
const COMMA = 0x2c;
/** Prefix of the standard library, the SDK, packages, and generated code. */
const LIBRARY = '~lib/';
/** Prefix of the SDK and the code that it generates. */
const SDK = '~lib/@svc/';

/** Problem of a map, worded for a person. */
export class SourceMapError extends Error {}

export class SourceMap {
  readonly #sources: readonly string[];
  readonly #functions: readonly string[];
  readonly #root: string;
  /** Parallel lists of segments in the order of their offsets; -1 in `#files` marks a segment without a source. */
  readonly #offsets: number[] = [];
  readonly #files: number[] = [];
  readonly #lines: number[] = [];
  readonly #columns: number[] = [];

  /** Throws SourceMapError. `fingerprint`: that of the module that the map has to belong to. */
  constructor(text: string, fingerprint: string) {
    const map = parsed(text);
    if (map['x_svc_module'] !== fingerprint)
      throw new SourceMapError('it belongs to another build of the module');
    this.#sources = texts(map['sources'], 'sources');
    this.#functions = texts(map['x_svc_functions'] ?? [], 'x_svc_functions');
    const { sourceRoot = '', mappings } = map;
    if (typeof sourceRoot !== 'string') throw new SourceMapError('its sourceRoot is no text');
    // The location of the map does not matter to a reader, so leading `../` steps are removed.
    this.#root = sourceRoot.replace(/^(\.\.?\/)+/, '');
    if (map['version'] !== 3 || typeof mappings !== 'string' || mappings.includes(';'))
      throw new SourceMapError('it is no map of version 3 of a module');
    this.#read(mappings);
  }

  /**
   * Returns no location if the map has none. Returns two locations for code of the standard library, or of a package,
   * that the compiler inlined: that of the inlined code, and that of the author's code before it.
   */
  locationsOf(code: CodePosition, functionIndex: number): SourceLocation[] {
    const at = this.#segmentOf(code);
    const segments = [at];
    if (this.#isForeignLibrary(at))
      segments.push(this.#last(at, code.start, (own) => !this.#isLibrary(own)));
    return segments
      .filter((segment) => segment >= 0)
      .map((segment) => ({
        file: this.fileOf(this.#sources[this.#files[segment]!]!),
        line: this.#lines[segment]! + 1,
        column: this.#columns[segment]! + 1,
        function: readableFunction(this.#functions[functionIndex] ?? ''),
      }));
  }

  /** Returns the name that a person knows for a file, which the compiler names relative to the entry file. */
  fileOf(source: string): string {
    return source.startsWith(LIBRARY) ? source : `${this.#root}${source}`;
  }

  /**
   * Finds the last segment with a source at or before the offset, or else the first one behind the offset, in the same
   * function; returns -1 if there is none.
   */
  #segmentOf({ offset, start, end }: CodePosition): number {
    let low = 0;
    let high = this.#offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#offsets[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    const before = this.#last(low - 1, start, () => true);
    if (before >= 0) return before;
    for (let at = low; at < this.#offsets.length && this.#offsets[at]! < end; at++)
      if (this.#hasSource(at)) return at;
    return -1;
  }

  /** Searches backwards from the segment `from` to the offset `start`; returns -1 if no segment is wanted. */
  #last(from: number, start: number, wanted: (at: number) => boolean): number {
    for (let at = from; at >= 0 && this.#offsets[at]! >= start; at--)
      if (this.#hasSource(at) && wanted(at)) return at;
    return -1;
  }

  #hasSource(at: number): boolean {
    return this.#sources[this.#files[at] ?? -1] !== undefined;
  }

  #isLibrary(at: number): boolean {
    return this.#sources[this.#files[at] ?? -1]?.startsWith(LIBRARY) === true;
  }

  /** Returns whether the code is of the standard library or of a package, not of the SDK. */
  #isForeignLibrary(at: number): boolean {
    return this.#isLibrary(at) && !this.#sources[this.#files[at]!]!.startsWith(SDK);
  }

  #read(mappings: string): void {
    const cursor = { at: 0 };
    let [offset, file, line, column] = [0, 0, 0, 0];
    while (cursor.at < mappings.length) {
      if (mappings.charCodeAt(cursor.at) === COMMA) {
        cursor.at++;
        continue;
      }
      offset += nextNumber(mappings, cursor);
      const hasSource = cursor.at < mappings.length && mappings.charCodeAt(cursor.at) !== COMMA;
      if (hasSource) {
        file += nextNumber(mappings, cursor);
        line += nextNumber(mappings, cursor);
        column += nextNumber(mappings, cursor);
        if (cursor.at < mappings.length && mappings.charCodeAt(cursor.at) !== COMMA)
          nextNumber(mappings, cursor);
      }
      if (offset < (this.#offsets.at(-1) ?? 0) || file < 0 || line < 0 || column < 0)
        throw new SourceMapError('its mappings run backwards');
      this.#offsets.push(offset);
      this.#files.push(hasSource ? file : -1);
      this.#lines.push(line);
      this.#columns.push(column);
    }
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  let map: unknown;
  try {
    map = JSON.parse(text);
  } catch {
    throw new SourceMapError('it is no JSON');
  }
  if (typeof map !== 'object' || map === null) throw new SourceMapError('it is no object of JSON');
  return map as Readonly<Record<string, unknown>>;
}

function texts(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new SourceMapError(`its ${field} are no list of texts`);
  return value;
}

/** Reads a signed number of base-64 digits; the sign is in the lowest bit. */
function nextNumber(text: string, cursor: { at: number }): number {
  let value = 0;
  for (let shift = 0; shift <= 30; shift += 5) {
    const digit = VALUES[text.charCodeAt(cursor.at++)] ?? -1;
    if (digit < 0) throw new SourceMapError('its mappings hold what is no digit');
    value += (digit & (CONTINUES - 1)) * 2 ** shift;
    if (digit < CONTINUES) return value % 2 === 1 ? -(value - 1) / 2 : value / 2;
  }
  throw new SourceMapError('its mappings hold a number that is too long');
}

/**
 * Turns `cart/ShoppingCart#apply` into `ShoppingCart.apply`. Returns null for code outside of functions, and for a
 * function without a name.
 */
function readableFunction(name: string): string | null {
  if (/^~?start\b/.test(name)) return null;
  const plain = name.replaceAll(/[^<>,|]*\//g, '').replaceAll('#', '.');
  return plain === '' ? null : plain;
}
