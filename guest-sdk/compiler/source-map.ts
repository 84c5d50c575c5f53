// SourceMap: maps locations in the core module to locations in its sources. The compiler writes this data into custom
// sections and into its own map. Both are removed from the module, whose bytes are then those of a build without
// them, and become one file beside the module.
import type { Program } from 'assemblyscript';

/** Version 3 of the format, in which the bytes of the core module are one line, with two fields of svc. */
export interface ModuleSourceMap {
  readonly version: 3;
  /** Path from the map's folder to that of the entry file. */
  readonly sourceRoot?: string;
  /**
   * Paths relative to the entry file; `~lib/…` for the standard library, the SDK, packages, and code that the SDK
   * writes.
   */
  readonly sources: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
  /** SHA-256 of the module. */
  readonly x_svc_module: string;
  /** Names of functions by their index in the core module, imported ones first; '' for a function without a name. */
  readonly x_svc_functions: readonly string[];
}

/** The map without the hash of the module, which does not exist yet. */
export type CoreSourceMap = Omit<ModuleSourceMap, 'x_svc_module'>;

const WRITTEN = '~lib/@svc/written/';
const NAME_SECTION = 'name';
const FUNCTION_NAMES = 1;

/** Returns the numbers of a program's files in the compiler's map; code written into a file has another number. */
export function sourceNumbers({ sources }: Program): ReadonlySet<number> {
  return new Set(sources.map(({ debugInfoIndex }) => debugInfoIndex));
}

/**
 * Returns the module without its custom sections, and the map made from them and the compiler's map. `known`: numbers
 * of the program's files in the compiler's map (`sourceNumbers`).
 */
export function takeSourceMap(
  core: Uint8Array,
  compilersMap: string,
  known: ReadonlySet<number>,
): { readonly core: Uint8Array; readonly sourceMap: CoreSourceMap } {
  const { sources, mappings } = JSON.parse(compilersMap) as {
    readonly sources: readonly string[];
    readonly mappings: string;
  };
  const { kept, custom } = sectionsOf(core);
  const names = custom.get(NAME_SECTION);
  return {
    core: Buffer.concat(kept),
    sourceMap: {
      version: 3,
      sources: sources.map((name, number) =>
        known.has(number) || name.startsWith('~lib/') ? name : `${WRITTEN}${name}`,
      ),
      names: [],
      mappings,
      x_svc_functions: names === undefined ? [] : functionNames(names),
    },
  };
}

interface Sections {
  readonly kept: readonly Uint8Array[];
  readonly custom: ReadonlyMap<string, Cursor>;
}

function sectionsOf(core: Uint8Array): Sections {
  const kept: Uint8Array[] = [core.subarray(0, 8)];
  const custom = new Map<string, Cursor>();
  const cursor = new Cursor(core.subarray(8));
  while (!cursor.isDone) {
    const start = cursor.at;
    const id = cursor.number();
    const content = cursor.part();
    if (id === 0) custom.set(content.name(), content);
    else kept.push(cursor.bytes.subarray(start, cursor.at));
  }
  return { kept, custom };
}

function functionNames(section: Cursor): string[] {
  const found: string[] = [];
  while (!section.isDone) {
    const id = section.number();
    const part = section.part();
    if (id !== FUNCTION_NAMES) continue;
    for (let left = part.number(); left > 0; left--) found[part.number()] = part.name();
  }
  return Array.from(found, (name) => name ?? '');
}

/** Reads data that the compiler itself has written, without checks. */
class Cursor {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get isDone(): boolean {
    return this.at >= this.bytes.length;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  part(): Cursor {
    const length = this.number();
    this.at += length;
    return new Cursor(this.bytes.subarray(this.at - length, this.at));
  }

  name(): string {
    return new TextDecoder().decode(this.part().bytes);
  }
}
