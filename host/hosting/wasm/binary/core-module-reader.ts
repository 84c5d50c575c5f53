// CoreModule: the outline of a core module: its sections, and the facts about them that admission and the
// rewriter need. The reader accepts only what the host can check: imports of functions, one memory, tables of
// functions, function types over plain value types.
import { SvcError } from '@svc/kit/svc-error';
import type { ByteReader } from './byte-reader.ts';
import { signatureText } from './core-interface.ts';
import { PARAMETERS_MAX, checkCounts, tooMany } from './core-limits.ts';
import { CORE_SECTION, type CoreSections, coreSections } from './core-section.ts';
import { readConstant, readDataSegments, readElementSegments } from './core-segments.ts';
import { readValueType, unsupported } from './instruction-reader.ts';
import { printable } from './printable.ts';
import { WASM_LIMITS_DEFAULT, type WasmLimits } from '../wasm-limits.ts';

export interface CoreImport {
  readonly module: string;
  readonly name: string;
  readonly signature: string;
}
export interface CoreExport {
  readonly name: string;
  /** 0 function, 1 table, 2 memory, 3 global. */
  readonly kind: number;
  readonly index: number;
}
export interface CoreGlobal {
  readonly type: string;
  readonly mutable: boolean;
}
export interface CoreModule {
  readonly bytes: Uint8Array;
  readonly section: CoreSections;
  readonly types: readonly string[];
  readonly imports: readonly CoreImport[];
  /** Types of all functions, imported ones first. */
  readonly functions: readonly string[];
  readonly exports: readonly CoreExport[];
  readonly globals: readonly CoreGlobal[];
  /** Size of the one memory, in pages of 64 KiB. `maximum`: undefined if the module sets none. */
  readonly memory: { readonly initial: number; readonly maximum: number | undefined };
  /** Elements of all tables together at the start. */
  readonly tableElements: number;
  /** Elements of all element segments together. */
  readonly segmentElements: number;
  /** Functions that a table or a global may hold. */
  readonly referencedFunctions: ReadonlySet<number>;
}

/** Returns the names that a core module exports. Throws SVC_MODULE_MALFORMED, SVC_MODULE_UNSUPPORTED_CODE. */
export function coreExportNames(bytes: Uint8Array): readonly string[] {
  return readExports(coreSections(bytes)(CORE_SECTION.export)).map(({ name }) => name);
}

/**
 * Reads the outline. Throws SVC_MODULE_MALFORMED, SVC_MODULE_STRUCTURE (no memory of its own),
 * SVC_MODULE_FOREIGN_IMPORT (an import that is not a function), SVC_MODULE_UNSUPPORTED_CODE (also for too many imports
 * or exports), and SVC_MODULE_TOO_LARGE for other counts above the limits.
 */
export function readCoreModule(
  bytes: Uint8Array,
  limits: WasmLimits = WASM_LIMITS_DEFAULT,
): CoreModule {
  const section = coreSections(bytes);
  checkCounts(section, limits);
  const types = readTypes(section(CORE_SECTION.type));
  const imports = readImports(section(CORE_SECTION.import), types);
  const exports = readExports(section(CORE_SECTION.export));
  readDataSegments(section(CORE_SECTION.data));
  const referencedFunctions = new Set<number>();
  return {
    bytes,
    section,
    types,
    imports,
    functions: [
      ...imports.map(({ signature }) => signature),
      ...readFunctions(section(CORE_SECTION.function), types),
    ],
    exports,
    globals: readGlobals(section(CORE_SECTION.global), referencedFunctions),
    memory: readMemory(section(CORE_SECTION.memory)),
    tableElements: readTables(section(CORE_SECTION.table)),
    segmentElements: readElementSegments(section(CORE_SECTION.element), referencedFunctions),
    referencedFunctions,
  };
}

/** Maximum number of imports or exports, more than any compiler writes; each takes host memory before it is judged. */
const EXTERNS_MAX = 10_000;

function readExterns<T>(reader: ByteReader | undefined, readItem: (reader: ByteReader) => T): T[] {
  let count = 0;
  return readVector(reader, (externs) => {
    if (++count > EXTERNS_MAX) throw unsupported(`more than ${EXTERNS_MAX} imports or exports`);
    return readItem(externs);
  });
}

/** Reads a section that is a vector. An absent section is an empty one. */
function readVector<T>(reader: ByteReader | undefined, readItem: (reader: ByteReader) => T): T[] {
  const items: T[] = [];
  if (reader === undefined) return items;
  for (let left = reader.count(); left > 0; left--) items.push(readItem(reader));
  reader.expectDone('a section');
  return items;
}

function readTypes(reader: ByteReader | undefined): string[] {
  return readVector(reader, (types) => {
    const form = types.u8();
    if (form !== 0x60) throw unsupported(`a type of the form 0x${form.toString(16)}`);
    return signatureText(readValueTypes(types, 'parameters'), readValueTypes(types, 'results'));
  });
}

function readValueTypes(reader: ByteReader, what: string): string[] {
  const count = reader.count();
  if (count > PARAMETERS_MAX) throw tooMany(`a function of ${count} ${what}`, PARAMETERS_MAX);
  return Array.from({ length: count }, () => readValueType(reader));
}

function readTypeIndex(reader: ByteReader, types: readonly string[]): string {
  return types[reader.u32()] ?? reader.fail('a function has an unknown type');
}

const IMPORT_KINDS = ['function', 'table', 'memory', 'global', 'tag'];

function readImports(reader: ByteReader | undefined, types: readonly string[]): CoreImport[] {
  return readExterns(reader, (imports) => {
    const module = imports.name();
    const name = imports.name();
    const kind = imports.u8();
    if (kind !== 0)
      throw new SvcError(
        'SVC_MODULE_FOREIGN_IMPORT',
        `The module's core imports the ${IMPORT_KINDS[kind] ?? 'thing'} ` +
          `'${printable(name)}' of '${printable(module)}'; a module may import functions of ` +
          'svc:runtime only. Build it with `svc build`.',
      );
    return { module, name, signature: readTypeIndex(imports, types) };
  });
}

function readFunctions(reader: ByteReader | undefined, types: readonly string[]): string[] {
  return readVector(reader, (functions) => readTypeIndex(functions, types));
}

function readExports(reader: ByteReader | undefined): CoreExport[] {
  return readExterns(reader, (exports) => ({
    name: exports.name(),
    kind: exports.u8(),
    index: exports.u32(),
  }));
}

function readGlobals(reader: ByteReader | undefined, referenced: Set<number>): CoreGlobal[] {
  return readVector(reader, (globals) => {
    const type = readValueType(globals);
    const mutable = globals.u8() === 1;
    readConstant(globals, referenced);
    return { type, mutable };
  });
}

function readMemory(reader: ByteReader | undefined): CoreModule['memory'] {
  const memories = readVector(reader, (memory) => {
    const flags = memory.u8();
    if (flags > 1) throw unsupported('a shared or 64-bit memory');
    return { initial: memory.u32(), maximum: flags === 1 ? memory.u32() : undefined };
  });
  const [memory] = memories;
  if (memory === undefined)
    throw new SvcError(
      'SVC_MODULE_STRUCTURE',
      "The module's core has no memory of its own. Build it with `svc build`.",
    );
  if (memories.length > 1) throw unsupported('several memories');
  return memory;
}

function readTables(reader: ByteReader | undefined): number {
  const sizes = readVector(reader, (table) => {
    if (table.u8() !== 0x70) throw unsupported('a table of something other than functions');
    const flags = table.u8();
    if (flags > 1) throw unsupported('a shared or 64-bit table');
    const initial = table.u32();
    if (flags === 1) table.u32();
    return initial;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
