// CoreSegments: the segments that fill a core module's tables and memory, and their constant expressions.
// Each instantiation runs all of them, and no fuel pays for it; so the number of segments is bounded (core-limits.ts),
// and the number of table elements is returned, for its limit.
import type { ByteReader } from './byte-reader.ts';
import { tooMany } from './core-limits.ts';
import { OP, REFERENCE_TYPES, STEP, readInstruction, unsupported } from './instruction-reader.ts';

/** Maximum number of instructions of a constant expression; linkers write up to five. */
const CONSTANT_MAX = 16;
const ELEMENT = { passiveOrDeclared: 1, hasTableOrDeclared: 2, expressions: 4, last: 7 } as const;
const DATA = { passive: 1, hasMemory: 2, last: 2 } as const;
const FUNCTION_KIND = 0;

/**
 * Steps over an expression and its end, and adds the functions that it refers to, to `referenced`. Throws
 * SVC_MODULE_TOO_LARGE, SVC_MODULE_UNSUPPORTED_CODE, SVC_MODULE_MALFORMED.
 */
export function readConstant(reader: ByteReader, referenced: Set<number>): void {
  for (let count = 0; ; count++) {
    const at = reader.position;
    if (readInstruction(reader) === STEP.end) return;
    if (count === CONSTANT_MAX)
      throw tooMany('a constant of more instructions than compilers write', CONSTANT_MAX);
    if (reader.bytes[at] === OP.refFunc) referenced.add(reader.from(at + 1).u32());
  }
}

/** Returns the number of elements of all segments together, and adds the functions among them to `referenced`. */
export function readElementSegments(
  section: ByteReader | undefined,
  referenced: Set<number>,
): number {
  let elements = 0;
  if (section === undefined) return elements;
  for (let left = section.count(); left > 0; left--)
    elements += readElementSegment(section, referenced);
  section.expectDone('a section');
  return elements;
}

function readElementSegment(section: ByteReader, referenced: Set<number>): number {
  const flags = section.u32();
  if (flags > ELEMENT.last) throw unsupported(`an element segment of the form ${flags}`);
  if ((flags & ELEMENT.passiveOrDeclared) === 0) {
    if ((flags & ELEMENT.hasTableOrDeclared) !== 0) section.u32();
    readConstant(section, referenced);
  }
  const hasExpressions = (flags & ELEMENT.expressions) !== 0;
  if ((flags & (ELEMENT.passiveOrDeclared | ELEMENT.hasTableOrDeclared)) !== 0) {
    const type = section.u8();
    if (hasExpressions ? !REFERENCE_TYPES.has(type) : type !== FUNCTION_KIND)
      throw unsupported('typed references');
  }
  const elements = section.count();
  for (let left = elements; left > 0; left--)
    if (hasExpressions) readConstant(section, referenced);
    else referenced.add(section.u32());
  return elements;
}

/** Steps over the data segments. */
export function readDataSegments(section: ByteReader | undefined): void {
  if (section === undefined) return;
  for (let left = section.count(); left > 0; left--) {
    const flags = section.u32();
    if (flags > DATA.last) throw unsupported(`a data segment of the form ${flags}`);
    if (flags === DATA.hasMemory && section.u32() !== 0) throw unsupported('several memories');
    if (flags !== DATA.passive) readConstant(section, new Set());
    section.skip(section.u32());
  }
  section.expectDone('a section');
}
