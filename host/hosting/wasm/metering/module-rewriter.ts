// The rewriter turns an untrusted core module into one that enforces the host's limits by itself: it counts
// fuel at function entries or calls, loop heads and bulk memory operations, its memory has a maximum, and it
// can save and restore the values of its mutable globals. The host, not V8, calls its start function.
//
// The module reads the size of its memory from a count of pages that is restored like a global. A memory
// cannot shrink, but pages that the module no longer counts can be given to it once more. The module can
// still reach the bytes behind its count, so they are restored with all the others.
//
// Invariant: the given module must be valid by itself (WebAssembly.validate). The rewriter adds its items
// behind the last index of their kind, so no instruction of a valid module can reach them.
import { SvcError } from '@svc/kit/svc-error';
import type { ByteReader } from '../binary/byte-reader.ts';
import { ByteWriter } from '../binary/byte-writer.ts';
import { arityOf } from '../binary/core-interface.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { CORE_SECTION, CORE_SECTION_ORDER } from '../binary/core-section.ts';
import {
  BYTES_PER_UNIT_BITS,
  type Meter,
  writeFuelCheck,
  writeMeteredBody,
  writePayment,
} from './code-metering.ts';
import { EMPTY_BLOCK, OP, unsupported } from '../binary/instruction-reader.ts';
import { prepaidFunctions } from './prepaid-functions.ts';
import { printable } from '../binary/printable.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Prefix of the exports that the rewriter adds. A module that uses the prefix itself is refused. */
const RESERVED_PREFIX = 'svc-host:';
export const FUEL_EXPORT = `${RESERVED_PREFIX}fuel`;
/** Global: 1 if the last attempt of the current call to grow the memory was refused, else 0. */
export const GROWTH_REFUSED_EXPORT = `${RESERVED_PREFIX}growth-refused`;
/** Global with the size of the memory as the module sees it, in pages. */
export const PAGES_EXPORT = `${RESERVED_PREFIX}pages`;
/** (fuel): begins a call with this much fuel. */
export const BEGIN_EXPORT = `${RESERVED_PREFIX}begin`;
/** (): saves the current values of the module's own mutable globals and its page count. */
export const SAVE_GLOBALS_EXPORT = `${RESERVED_PREFIX}keep`;
/** (): restores the saved values. */
export const RESTORE_GLOBALS_EXPORT = `${RESERVED_PREFIX}put-back`;

/** (): the module's own start function, which the host calls itself; absent where it has none. */
export const START_EXPORT = `${RESERVED_PREFIX}start`;

const MUTABLE_GLOBALS_MAX = 1000;
/** Cost of growing the memory, which detaches every view of it. */
const GROWTH_UNITS = 2000;
/** Cost of each page: the system finds and clears it when it is first touched. */
const PAGE_UNITS = 1000;
const I32 = 0x7f;
const FUNCTION_TYPE = 0x60;
const FUNCTION_KIND = 0;
const GLOBAL_KIND = 3;
/** Global type → its code, and a constant expression for its zero value. */
const ZERO_VALUES: Readonly<Record<string, readonly number[]>> = {
  i32: [I32, 0x41, 0],
  i64: [0x7e, 0x42, 0],
  f32: [0x7d, 0x43, ...zeros(4)],
  f64: [0x7c, 0x44, ...zeros(8)],
  v128: [0x7b, 0xfd, 12, ...zeros(16)],
  funcref: [0x70, 0xd0, 0x70],
  externref: [0x6f, 0xd0, 0x6f],
};

/** Items that the rewriter adds, by index. */
interface Additions extends Meter {
  readonly growthRefused: number;
  /** First of the globals that save the values of `mutable`, in the same order. */
  readonly kept: number;
  /** Maximum number of pages of the memory. */
  readonly pagesMax: number;
  /** The module's own mutable globals, and the count of pages. */
  readonly mutable: readonly number[];
  readonly begin: number;
  readonly saveGlobals: number;
  readonly restoreGlobals: number;
}

type BodyWriter = typeof writeMeteredBody;

/** Inputs from which every section of the rewritten module is written. */
interface Rewriting {
  readonly core: CoreModule;
  readonly additions: Additions;
  readonly limits: WasmLimits;
  readonly writeBody: BodyWriter;
}

/**
 * Rewrites a valid core module. Throws SVC_MODULE_UNSUPPORTED_CODE, SVC_MODULE_STRUCTURE (limits, reserved names),
 * SVC_MODULE_MALFORMED, SVC_MODULE_TOO_LARGE. `writeBody`: writes the body of a function; a replacement can record what
 * is copied (code-positions.ts), or leave the module's own code without its limits, for comparison.
 */
export function rewriteCoreModule(
  core: CoreModule,
  limits: WasmLimits,
  writeBody: BodyWriter = writeMeteredBody,
): Uint8Array {
  checkLimits(core, limits);
  const globals = core.globals.length;
  const functions = core.functions.length;
  const additions: Additions = {
    fuel: globals,
    growthRefused: globals + 1,
    pages: globals + 2,
    prepaid: prepaidFunctions(core),
    kept: globals + 3,
    pagesMax: maximumPages(core, limits),
    mutable: [...mutableGlobals(core), globals + 2],
    payForBytes: functions,
    growMemory: functions + 1,
    begin: functions + 2,
    saveGlobals: functions + 3,
    restoreGlobals: functions + 4,
  };
  const rewriting: Rewriting = { core, additions, limits, writeBody };
  const out = new ByteWriter(core.bytes.length * 2);
  out.bytes(core.bytes.subarray(0, 8));
  const content = new ByteWriter(core.bytes.length * 2);
  for (const id of CORE_SECTION_ORDER) {
    content.clear();
    if (!writeSection(id, rewriting, content)) continue;
    out.u8(id);
    out.u32(content.length);
    out.bytes(content.written);
  }
  return out.written.slice();
}

function tooLarge(bytesMax: number): SvcError {
  return new SvcError(
    'SVC_MODULE_TOO_LARGE',
    `The module's code is longer than ${bytesMax} bytes once it is metered. Build a smaller module.`,
  );
}

function checkLimits(core: CoreModule, limits: WasmLimits): void {
  if (core.memory.initial > limits.memoryPagesMax)
    refuse(
      `asks for ${core.memory.initial} pages of memory at its start, and the limit is ` +
        `${limits.memoryPagesMax}`,
      'Build it with a smaller initial memory.',
    );
  if (core.tableElements > limits.tableElementsMax)
    refuse(
      `has tables of ${core.tableElements} elements, and the limit is ${limits.tableElementsMax}`,
      'Build it with fewer indirect functions.',
    );
  if (core.segmentElements > limits.tableElementsMax)
    refuse(
      `fills its tables with ${core.segmentElements} elements, and the limit is ` +
        `${limits.tableElementsMax}`,
      'Build it with fewer indirect functions.',
    );
  const reserved = core.exports.find(({ name }) => name.startsWith(RESERVED_PREFIX));
  if (reserved !== undefined)
    refuse(
      `exports '${printable(reserved.name)}', a name that is reserved for the host`,
      'Rename the export.',
    );
}

/** Returns the maximum number of pages of the rewritten module's memory. */
export function maximumPages(core: CoreModule, limits: WasmLimits): number {
  return Math.min(core.memory.maximum ?? limits.memoryPagesMax, limits.memoryPagesMax);
}

function refuse(what: string, remedy: string): never {
  throw new SvcError('SVC_MODULE_STRUCTURE', `The module ${what}. ${remedy}`);
}

/** Returns the module's mutable globals. No fuel pays for restoring them, so their number is limited. */
function mutableGlobals(core: CoreModule): number[] {
  const found: number[] = [];
  for (const [index, { mutable }] of core.globals.entries()) if (mutable) found.push(index);
  if (found.length > MUTABLE_GLOBALS_MAX)
    throw unsupported(`more than ${MUTABLE_GLOBALS_MAX} mutable globals`);
  return found;
}

/** Writes the content of a section. Returns false if the module needs none. */
function writeSection(id: number, rewriting: Rewriting, out: ByteWriter): boolean {
  const { core, additions, limits } = rewriting;
  const section = core.section(id);
  switch (id) {
    case CORE_SECTION.type:
      writeExtended(out, section, 3);
      for (const byte of [FUNCTION_TYPE, 1, I32, 1, I32]) out.u8(byte);
      for (const byte of [FUNCTION_TYPE, 1, I32, 0]) out.u8(byte);
      for (const byte of [FUNCTION_TYPE, 0, 0]) out.u8(byte);
      return true;
    case CORE_SECTION.function:
      writeExtended(out, section, ADDED_FUNCTIONS.length);
      for (const { type } of ADDED_FUNCTIONS) out.u32(core.types.length + type);
      return true;
    case CORE_SECTION.memory: {
      out.u8(1);
      out.u8(1);
      out.u32(core.memory.initial);
      out.u32(additions.pagesMax);
      return true;
    }
    case CORE_SECTION.global:
      writeExtended(out, section, 3 + additions.mutable.length);
      writeCounter(out, limits.startFuel);
      writeCounter(out, 0);
      writeCounter(out, core.memory.initial);
      for (const index of additions.mutable) writeDefault(out, core.globals[index]?.type ?? 'i32');
      return true;
    case CORE_SECTION.export: {
      const start = core.section(CORE_SECTION.start)?.u32();
      writeExtended(out, section, start === undefined ? 6 : 7);
      writeExport(out, FUEL_EXPORT, GLOBAL_KIND, additions.fuel);
      writeExport(out, GROWTH_REFUSED_EXPORT, GLOBAL_KIND, additions.growthRefused);
      writeExport(out, PAGES_EXPORT, GLOBAL_KIND, additions.pages);
      writeExport(out, BEGIN_EXPORT, FUNCTION_KIND, additions.begin);
      writeExport(out, SAVE_GLOBALS_EXPORT, FUNCTION_KIND, additions.saveGlobals);
      writeExport(out, RESTORE_GLOBALS_EXPORT, FUNCTION_KIND, additions.restoreGlobals);
      if (start !== undefined) writeExport(out, START_EXPORT, FUNCTION_KIND, start);
      return true;
    }
    // The host runs the start function once there is an instance, and can then read how much fuel it used.
    case CORE_SECTION.start:
      return false;
    case CORE_SECTION.code:
      writeCode(out, rewriting, limits.moduleBytesMax * 2);
      return true;
    default:
      if (section === undefined) return false;
      out.bytes(section.rest());
      return true;
  }
}

/** Writes a vector's own items with a count that includes `more` items, which the caller writes next. */
function writeExtended(out: ByteWriter, section: ByteReader | undefined, more: number): void {
  out.u32((section?.count() ?? 0) + more);
  if (section !== undefined) out.bytes(section.rest());
}

function writeCounter(out: ByteWriter, initial: number): void {
  out.u8(I32);
  out.u8(1);
  out.u8(OP.i32Const);
  out.s32(initial);
  out.u8(OP.end);
}

/** Writes a mutable global of this type with its zero value. */
function writeDefault(out: ByteWriter, type: string): void {
  const [code, ...expression] = ZERO_VALUES[type]!;
  for (const byte of [code!, 1, ...expression, OP.end]) out.u8(byte);
}

function writeExport(out: ByteWriter, name: string, kind: number, index: number): void {
  out.name(name);
  out.u8(kind);
  out.u32(index);
}

/** Writes the code section. `bytesMax`: limit of all metered code together, checked while it grows. */
function writeCode(
  out: ByteWriter,
  { core, additions, writeBody }: Rewriting,
  bytesMax: number,
): void {
  const section = core.section(CORE_SECTION.code);
  const count = section?.count() ?? 0;
  out.u32(count + ADDED_FUNCTIONS.length);
  const body = new ByteWriter();
  const first = core.functions.length - count;
  for (let index = first; index < core.functions.length; index++) {
    body.clear();
    const { parameters } = arityOf(core.functions[index]!);
    writeBody(body, section!.part(section!.u32()), additions, { index, parameters });
    out.u32(body.length);
    out.bytes(body.written);
    if (out.length > bytesMax) throw tooLarge(bytesMax);
  }
  section?.expectDone('the code section');
  for (const { write } of ADDED_FUNCTIONS) {
    body.clear();
    body.u8(0);
    write(body, additions);
    body.u8(OP.end);
    out.u32(body.length);
    out.bytes(body.written);
  }
}

/** Writes: fuel -= length >>> 6; if (fuel < 0) unreachable; length. */
function writePayForBytes(out: ByteWriter, additions: Additions): void {
  out.u8(OP.globalGet);
  out.u32(additions.fuel);
  for (const byte of [OP.localGet, 0, OP.i32Const, BYTES_PER_UNIT_BITS]) out.u8(byte);
  out.u8(OP.i32ShrU);
  out.u8(OP.i32Sub);
  writeFuelCheck(out, additions);
  for (const byte of [OP.localGet, 0]) out.u8(byte);
}

/**
 * Writes: pays for the pages, counts them, and grows the memory itself only where it does not have the pages yet.
 * Beyond the limit the function returns -1 and notes in a global that growing was refused. It traps where the host has
 * no memory left: a result of -1 would differ from the result on a host that has memory.
 */
function writeGrowMemory(out: ByteWriter, additions: Additions): void {
  const { fuel, pages, growthRefused, pagesMax } = additions;
  const code = (...bytes: readonly number[]) => {
    for (const byte of bytes) out.u8(byte);
  };
  const constant = (value: number) => {
    code(OP.i32Const);
    out.s32(value);
  };
  const noteGrowth = (refused: 0 | 1) => {
    constant(refused);
    writeGlobal(out, OP.globalSet, growthRefused);
  };
  const getPages = () => writeGlobal(out, OP.globalGet, pages);
  writePayment(out, additions, GROWTH_UNITS);
  // more > pagesMax - pages
  code(OP.localGet, 0);
  constant(pagesMax);
  getPages();
  code(OP.i32Sub, OP.i32GtU, OP.if, EMPTY_BLOCK);
  noteGrowth(1);
  constant(-1);
  code(OP.return, OP.end);
  // fuel -= more * PAGE_UNITS
  writeGlobal(out, OP.globalGet, fuel);
  code(OP.localGet, 0);
  constant(PAGE_UNITS);
  code(OP.i32Mul, OP.i32Sub);
  writeFuelCheck(out, additions);
  // pages + more > memory.size
  getPages();
  code(OP.localGet, 0, OP.i32Add, OP.memorySize, 0, OP.i32GtU, OP.if, EMPTY_BLOCK);
  getPages();
  code(OP.localGet, 0, OP.i32Add, OP.memorySize, 0, OP.i32Sub, OP.memoryGrow, 0);
  constant(-1);
  code(OP.i32Eq, OP.if, EMPTY_BLOCK);
  noteGrowth(1);
  code(OP.unreachable, OP.end, OP.end);
  noteGrowth(0);
  getPages();
  getPages();
  code(OP.localGet, 0, OP.i32Add);
  writeGlobal(out, OP.globalSet, pages);
}

function writeGlobal(out: ByteWriter, op: number, index: number): void {
  out.u8(op);
  out.u32(index);
}

function writeBegin(out: ByteWriter, additions: Additions): void {
  for (const byte of [OP.localGet, 0, OP.globalSet]) out.u8(byte);
  out.u32(additions.fuel);
  for (const byte of [OP.i32Const, 0, OP.globalSet]) out.u8(byte);
  out.u32(additions.growthRefused);
}

function writeSaveGlobals(out: ByteWriter, { mutable, kept }: Additions): void {
  for (const [slot, index] of mutable.entries()) writeCopy(out, index, kept + slot);
}

function writeRestoreGlobals(out: ByteWriter, { mutable, kept }: Additions): void {
  for (const [slot, index] of mutable.entries()) writeCopy(out, kept + slot, index);
}

function writeCopy(out: ByteWriter, from: number, to: number): void {
  out.u8(OP.globalGet);
  out.u32(from);
  out.u8(OP.globalSet);
  out.u32(to);
}

/** Functions that the rewriter adds, in the order of their indexes. `type`: index among the added types. */
const ADDED_FUNCTIONS = [
  { type: 0, write: writePayForBytes },
  { type: 0, write: writeGrowMemory },
  { type: 1, write: writeBegin },
  { type: 2, write: writeSaveGlobals },
  { type: 2, write: writeRestoreGlobals },
];

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}
