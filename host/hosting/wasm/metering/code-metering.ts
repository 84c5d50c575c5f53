// Meters a function's code: the function pays for its code outside of loops at its entry, for a loop's code at each
// iteration, and for bytes and pages where it moves bytes or grows the memory. Callers pay for a small function
// (prepaid-functions.ts). The code reads the size of the memory from the host's page count, and every NaN whose bits
// it can see is the canonical one.
//
// Invariant: between two payments no instruction runs twice, except those of functions that are called twice.
// So each instruction is paid for by the last payment of the innermost loop or function that contains it, or
// that contains the call of its prepaid function.
import type { ByteReader } from '../binary/byte-reader.ts';
import type { ByteWriter } from '../binary/byte-writer.ts';
import {
  NAN_KIND,
  type NanKind,
  isBlindTo,
  nanKind,
  temporaryType,
  writeCanonical,
} from './canonical-nan.ts';
import { entryUnits, instructionWeight, turnUnits } from './instruction-cost.ts';
import { EMPTY_BLOCK, OP, STEP, codeAt, readInstruction } from '../binary/instruction-reader.ts';
import { type PrepaidFunctions, calleeAt, isDirectCall } from './prepaid-functions.ts';

/** Each 2^6 bytes that are moved at once cost one unit of fuel, in addition to the cost of the move itself. */
export const BYTES_PER_UNIT_BITS = 6;

/** Globals and functions that metered code uses, by index. */
export interface Meter {
  /** Global: the units of fuel that are left. */
  readonly fuel: number;
  /** Function: (length in bytes) → the same length, after paying for it. */
  readonly payForBytes: number;
  /** Function: (pages) → the result of memory.grow, after paying for it. */
  readonly growMemory: number;
  /** Global: the size of the memory as the module sees it, in pages. */
  readonly pages: number;
  /** Functions that callers pay for. */
  readonly prepaid: PrepaidFunctions;
}

/** The function whose body is written. */
export interface BodyOwner {
  readonly index: number;
  /** Number of parameters. */
  readonly parameters: number;
}

const EDIT = { payment: 0, bulk: 1, memoryGrow: 2, memorySize: 3, canonical: 4 } as const;

/** Edits of a function's code, as parallel lists in the order of the code. */
interface Edits {
  readonly positions: number[];
  readonly kinds: number[];
  /** Weight of the code for a loop's payment; kind of the NaN for a NaN. */
  readonly details: number[];
  /** Weight of the code outside of loops. */
  entryWeight: number;
}

/** Writes a function's body with its payments and its other edits. */
export function writeMeteredBody(
  out: ByteWriter,
  body: ByteReader,
  meter: Meter,
  { index: owner, parameters }: BodyOwner,
): void {
  const groupsStart = body.position;
  const groups = body.count();
  const typesStart = body.position;
  const locals = skipLocals(body, groups);
  const codeStart = body.position;
  const edits = findEdits(body, meter.prepaid);
  const { bytes } = body;
  const temporaries = temporaryTypes(edits);
  if (temporaries.length === 0) out.bytes(bytes.subarray(groupsStart, codeStart));
  else {
    out.u32(groups + temporaries.length);
    out.bytes(bytes.subarray(typesStart, codeStart));
    for (const type of temporaries) {
      out.u8(1);
      out.u8(type);
    }
  }
  if (!meter.prepaid.has(owner)) writePayment(out, meter, entryUnits(edits.entryWeight, locals));
  let copied = codeStart;
  for (const [index, position] of edits.positions.entries()) {
    out.bytes(bytes.subarray(copied, position));
    copied = position;
    const detail = edits.details[index]!;
    switch (edits.kinds[index]!) {
      case EDIT.payment:
        writePayment(out, meter, turnUnits(detail));
        break;
      case EDIT.bulk:
        out.u8(OP.call);
        out.u32(meter.payForBytes);
        break;
      case EDIT.memoryGrow:
        out.u8(OP.call);
        out.u32(meter.growMemory);
        copied += 2; // the instruction and its memory index
        break;
      case EDIT.memorySize:
        out.u8(OP.globalGet);
        out.u32(meter.pages);
        copied += 2;
        break;
      case EDIT.canonical: {
        const kind = detail as NanKind;
        const temporary = temporaries.indexOf(temporaryType(kind));
        writeCanonical(out, kind, parameters + locals + temporary);
        break;
      }
    }
  }
  out.bytes(bytes.subarray(copied, body.end));
}

/** Steps over the locals, and returns their number. */
function skipLocals(body: ByteReader, groups: number): number {
  let locals = 0;
  for (let left = groups; left > 0; left--) {
    locals += body.u32();
    body.u8();
  }
  return locals;
}

function temporaryTypes({ kinds, details }: Edits): number[] {
  const types = new Set<number>();
  for (const [index, kind] of kinds.entries())
    if (kind === EDIT.canonical) types.add(temporaryType(details[index] as NanKind));
  return [...types];
}

function findEdits(body: ByteReader, prepaid: PrepaidFunctions): Edits {
  const { bytes } = body;
  const edits: Edits = { positions: [], kinds: [], details: [], entryWeight: 0 };
  const add = (position: number, kind: number, detail: number) => {
    edits.positions.push(position);
    edits.kinds.push(kind);
    edits.details.push(detail);
  };
  /** Indexed by open block: the edit of the innermost loop around its code, or -1. */
  const open: number[] = [-1];
  let loop = -1;
  let nan: NanKind = NAN_KIND.none;
  while (open.length > 0) {
    const at = body.position;
    const step = readInstruction(body);
    const code = codeAt(bytes, at);
    if (nan !== NAN_KIND.none && !isBlindTo(code, nan)) add(at, EDIT.canonical, nan);
    nan = nanKind(code);
    let weight = instructionWeight(code);
    if (isDirectCall(code)) weight += prepaid.get(calleeAt(body, at)) ?? 0;
    if (loop < 0) edits.entryWeight += weight;
    else edits.details[loop]! += weight;
    switch (step) {
      case STEP.loop:
        loop = edits.positions.length;
        open.push(loop);
        add(body.position, EDIT.payment, 0);
        break;
      case STEP.block:
        open.push(loop);
        break;
      case STEP.end:
        open.pop();
        loop = open.at(-1) ?? -1;
        break;
      case STEP.bulk:
        add(at, EDIT.bulk, 0);
        break;
      case STEP.memoryGrow:
        add(at, EDIT.memoryGrow, 0);
        break;
      case STEP.memorySize:
        add(at, EDIT.memorySize, 0);
        break;
      case STEP.plain:
        break;
    }
  }
  body.expectDone('a function');
  return edits;
}

/** Writes: fuel -= units; if (fuel < 0) unreachable. */
export function writePayment(out: ByteWriter, meter: Meter, units: number): void {
  out.u8(OP.globalGet);
  out.u32(meter.fuel);
  out.u8(OP.i32Const);
  out.s32(units);
  out.u8(OP.i32Sub);
  writeFuelCheck(out, meter);
}

/** Writes: fuel = the value on the stack; if (fuel < 0) unreachable. */
export function writeFuelCheck(out: ByteWriter, meter: Meter): void {
  out.u8(OP.globalSet);
  out.u32(meter.fuel);
  out.u8(OP.globalGet);
  out.u32(meter.fuel);
  out.u8(OP.i32Const);
  out.s32(0);
  for (const byte of [OP.i32LtS, OP.if, EMPTY_BLOCK, OP.unreachable, OP.end]) out.u8(byte);
}
