// CoreSections: the positions of the sections in a core module. Each section comes at most once, in the order of the
// format.
import { ByteReader } from './byte-reader.ts';
import { unsupported } from './instruction-reader.ts';

export const CORE_SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
} as const;
/** Section numbers in the order in which they lie in a module. */
export const CORE_SECTION_ORDER: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];

/** Section number → a new reader of its content; undefined if the module has no such section. */
export type CoreSections = (id: number) => ByteReader | undefined;

/** Finds the sections. Throws SVC_MODULE_MALFORMED, and SVC_MODULE_UNSUPPORTED_CODE for an unknown section. */
export function coreSections(bytes: Uint8Array): CoreSections {
  const sections = readSections(bytes);
  return (id) => {
    const found = sections.get(id);
    return found && new ByteReader(found.bytes, found.position, found.end);
  };
}

/** Returns section number → its content, without custom sections. Throws like `coreSections`. */
export function readSections(bytes: Uint8Array): ReadonlyMap<number, ByteReader> {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== 0 || reader.u8() !== 0x61 || reader.u8() !== 0x73 || reader.u8() !== 0x6d)
    reader.fail('a core module does not begin as one');
  if (reader.u8() !== 1 || reader.u8() !== 0 || reader.u8() !== 0 || reader.u8() !== 0)
    reader.fail('a core module has an unknown version');
  const sections = new Map<number, ByteReader>();
  let last = -1;
  while (!reader.done) {
    const id = reader.u8();
    const part = reader.part(reader.u32());
    if (id === CORE_SECTION.custom) continue;
    const order = CORE_SECTION_ORDER.indexOf(id);
    if (order < 0) throw unsupported(`the section ${id}`);
    if (order <= last) reader.fail(`section ${id} comes twice, or after one that it goes before`);
    last = order;
    sections.set(id, part);
  }
  return sections;
}
