// GlueModule: the core modules that component tools put beside the main one, recognised by their structure
// alone. None of them ever runs: the host does their work itself. Two forms are known:
// - A shim has a table, and functions, each of which only calls the table's element with the function's number.
// - A fixup has no code of its own; it fills the shim's table with its imports, or calls one of its imports
//   at the start, or both.
import type { ByteReader } from '../binary/byte-reader.ts';
import { structure } from '../binary/component-outline.ts';
import { CORE_SECTION, readSections } from '../binary/core-section.ts';
import { OP } from '../binary/instruction-reader.ts';

export interface Imported {
  readonly module: string;
  readonly name: string;
}

export type GlueModule =
  | { readonly kind: 'shim'; readonly functions: number }
  | {
      readonly kind: 'fixup';
      /** Imports that it puts into the table, in order. */
      readonly slots: readonly Imported[];
      /** Import that it calls at the start; undefined if it calls none. */
      readonly start: Imported | undefined;
    };

const TABLE_NAME = '$imports';
/** Maximum number of functions, and of the items of any other section. */
const FUNCTIONS_MAX = 1000;
const FUNCTION_KIND = 0;
const TABLE_KIND = 1;
const FUNCREF = 0x70;
const CALL_INDIRECT = 0x11;
const SHIM_SECTIONS: readonly number[] = [
  CORE_SECTION.type,
  CORE_SECTION.function,
  CORE_SECTION.table,
  CORE_SECTION.export,
  CORE_SECTION.code,
];
const FIXUP_SECTIONS: readonly number[] = [
  CORE_SECTION.type,
  CORE_SECTION.import,
  CORE_SECTION.start,
  CORE_SECTION.element,
];

/** Reads a glue module. Throws SVC_MODULE_STRUCTURE for a core module of any other form, and SVC_MODULE_MALFORMED. */
export function readGlueModule(bytes: Uint8Array): GlueModule {
  const sections = readSections(bytes);
  if (sections.has(CORE_SECTION.code)) return readShim(sections);
  return readFixup(sections);
}

type Sections = ReturnType<typeof readSections>;

function checkSections(sections: Sections, allowed: readonly number[]): void {
  for (const id of sections.keys()) if (!allowed.includes(id)) throw foreignCode();
}

function readShim(sections: Sections): GlueModule {
  checkSections(sections, SHIM_SECTIONS);
  const parameters = itemsOf(sections.get(CORE_SECTION.type), readParameters);
  const functions = itemsOf(sections.get(CORE_SECTION.function), (section) => section.u32());
  const tables = itemsOf(sections.get(CORE_SECTION.table), readTable);
  if (tables.length !== 1 || tables[0] !== functions.length) throw foreignCode();
  const exports = itemsOf(sections.get(CORE_SECTION.export), (section) => ({
    name: section.name(),
    kind: section.u8(),
    index: section.u32(),
  }));
  const areNumbered = exports.every(({ name, kind, index }) =>
    kind === FUNCTION_KIND ? name === String(index) : kind === TABLE_KIND && name === TABLE_NAME,
  );
  if (!areNumbered || exports.length !== functions.length + 1) throw foreignCode();
  let number = 0;
  const bodies = itemsOf(sections.get(CORE_SECTION.code), (section) => {
    const body = section.part(section.u32());
    checkTrampoline(body, parameters, functions[number] ?? -1, number);
    number++;
  });
  if (bodies.length !== functions.length) throw foreignCode();
  return { kind: 'shim', functions: functions.length };
}

/** Checks that a function passes its parameters on to the element of its own number, and does nothing else. */
function checkTrampoline(
  body: ByteReader,
  parameters: readonly number[],
  type: number,
  number: number,
): void {
  const expect = (wanted: number) => {
    if (body.u32() !== wanted) throw foreignCode();
  };
  expect(0); // locals
  for (let index = 0; index < (parameters[type] ?? 0); index++) {
    expect(OP.localGet);
    expect(index);
  }
  expect(OP.i32Const);
  // The number is signed: up to 63 its encoding is that of an unsigned number.
  const low = body.u8();
  const value = low < 0x80 ? (low ^ 0x40) - 0x40 : (low & 0x7f) | (body.u8() << 7);
  if (value !== number) throw foreignCode();
  expect(CALL_INDIRECT);
  expect(type);
  expect(0);
  expect(OP.end);
  body.expectDone('a function');
}

function readParameters(section: ByteReader): number {
  if (section.u8() !== 0x60) throw foreignCode();
  const count = section.count();
  section.skip(count);
  section.skip(section.count());
  return count;
}

/** Returns the number of the table's elements. */
function readTable(section: ByteReader): number {
  if (section.u8() !== FUNCREF) throw foreignCode();
  const flags = section.u8();
  if (flags > 1) throw foreignCode();
  const elements = section.u32();
  if (flags === 1) section.u32();
  return elements;
}

function readFixup(sections: Sections): GlueModule {
  checkSections(sections, FIXUP_SECTIONS);
  const functions: Imported[] = [];
  let tables = 0;
  itemsOf(sections.get(CORE_SECTION.import), (section) => {
    const imported = { module: section.name(), name: section.name() };
    const kind = section.u8();
    if (kind === FUNCTION_KIND) {
      section.u32();
      functions.push(imported);
    } else if (kind === TABLE_KIND && imported.name === TABLE_NAME) {
      readTable(section);
      tables++;
    } else throw foreignCode();
  });
  const elements = itemsOf(sections.get(CORE_SECTION.element), readElements).flat();
  if (tables > 1 || elements.length > functions.length) throw foreignCode();
  const slots = elements.map((index, at) => {
    const imported = functions[index];
    if (imported === undefined || imported.name !== String(at)) throw foreignCode();
    return imported;
  });
  const start = sections.get(CORE_SECTION.start)?.u32();
  return {
    kind: 'fixup',
    slots,
    start: start === undefined ? undefined : (functions[start] ?? refuseCode()),
  };
}

function readElements(section: ByteReader): number[] {
  const isFromStart =
    section.u32() === 0 &&
    section.u8() === OP.i32Const &&
    section.u8() === 0 &&
    section.u8() === OP.end;
  if (!isFromStart) throw foreignCode();
  const indexes: number[] = [];
  for (let left = section.count(); left > 0; left--) indexes.push(section.u32());
  return indexes;
}

/** Reads the items of a section; an absent section has none. */
function itemsOf<T>(section: ByteReader | undefined, readItem: (section: ByteReader) => T): T[] {
  const items: T[] = [];
  if (section === undefined) return items;
  const count = section.count();
  if (count > FUNCTIONS_MAX) throw foreignCode();
  for (let left = count; left > 0; left--) items.push(readItem(section));
  section.expectDone('a section');
  return items;
}

function foreignCode() {
  return structure(
    'has a core module that is neither its main one nor the glue of the component tools',
  );
}

function refuseCode(): never {
  throw foreignCode();
}
