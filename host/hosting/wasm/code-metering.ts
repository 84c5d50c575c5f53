// Meters a function's code: it pays for itself at its entry, at the heads of its loops, and where it
// moves bytes or grows the memory. How large the memory is, it learns from the host's count.
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { EMPTY_BLOCK, OP, STEP, readInstruction } from './instruction-reader.ts';

/** One unit of fuel for each of this many bytes, of code in a loop or function, or moved at once. */
export const BYTES_PER_UNIT_BITS = 6;
const LOCALS_PER_UNIT_BITS = 4;

/** What metered code uses, by index. */
export interface Meter {
  /** A global: the units left. */
  readonly fuel: number;
  /** A function: (length in bytes) → the same, having paid for it. */
  readonly payForBytes: number;
  /** A function: (pages) → as memory.grow, having paid for it. */
  readonly growMemory: number;
  /** A global: the size of the memory as the module knows it, in pages. */
  readonly pages: number;
}

/** Where a function's code must change: parallel lists, in the order of the code. */
interface Edits {
  readonly positions: number[];
  readonly steps: number[];
  /** Of a loop: its units of fuel. */
  readonly units: number[];
}

/** Writes a function's body with payments at its entry, its loops and what moves bytes. */
export function writeMeteredBody(out: ByteWriter, body: ByteReader, meter: Meter): void {
  const start = body.position;
  const locals = readLocals(body);
  const codeStart = body.position;
  const edits = findEdits(body);
  const { bytes } = body;
  out.bytes(bytes.subarray(start, codeStart));
  const size = body.end - codeStart;
  writePayment(out, meter, 1 + (size >>> BYTES_PER_UNIT_BITS) + (locals >>> LOCALS_PER_UNIT_BITS));
  let copied = codeStart;
  for (const [index, position] of edits.positions.entries()) {
    out.bytes(bytes.subarray(copied, position));
    copied = position;
    const step = edits.steps[index];
    if (step === STEP.loop) {
      writePayment(out, meter, edits.units[index]!);
    } else if (step === STEP.bulk) {
      out.u8(OP.call);
      out.u32(meter.payForBytes);
    } else {
      const isGrow = step === STEP.memoryGrow;
      out.u8(isGrow ? OP.call : OP.globalGet);
      out.u32(isGrow ? meter.growMemory : meter.pages);
      copied += 2; // the instruction and its memory index
    }
  }
  out.bytes(bytes.subarray(copied, body.end));
}

function readLocals(body: ByteReader): number {
  let locals = 0;
  for (let groups = body.count(); groups > 0; groups--) {
    locals += body.u32();
    body.u8();
  }
  return locals;
}

function findEdits(body: ByteReader): Edits {
  const edits: Edits = { positions: [], steps: [], units: [] };
  /** Of each open block: the edit of its loop, or -1. The last `end` closes the function. */
  const open: number[] = [-1];
  while (open.length > 0) {
    const at = body.position;
    const step = readInstruction(body);
    switch (step) {
      case STEP.loop:
        open.push(edits.positions.length);
        edits.positions.push(body.position);
        edits.steps.push(step);
        edits.units.push(1);
        break;
      case STEP.block:
        open.push(-1);
        break;
      case STEP.end: {
        const loop = open.pop()!;
        if (loop >= 0)
          edits.units[loop]! += (body.position - edits.positions[loop]!) >>> BYTES_PER_UNIT_BITS;
        break;
      }
      case STEP.bulk:
      case STEP.memoryGrow:
      case STEP.memorySize:
        edits.positions.push(at);
        edits.steps.push(step);
        edits.units.push(0);
        break;
      case STEP.plain:
        break;
    }
  }
  body.expectDone('a function');
  return edits;
}

/** fuel -= units; if (fuel < 0) unreachable */
export function writePayment(out: ByteWriter, meter: Meter, units: number): void {
  out.u8(OP.globalGet);
  out.u32(meter.fuel);
  out.u8(OP.i32Const);
  out.s32(units);
  out.u8(OP.i32Sub);
  writeFuelCheck(out, meter);
}

export function writeFuelCheck(out: ByteWriter, meter: Meter): void {
  out.u8(OP.globalSet);
  out.u32(meter.fuel);
  out.u8(OP.globalGet);
  out.u32(meter.fuel);
  out.u8(OP.i32Const);
  out.s32(0);
  for (const byte of [OP.i32LtS, OP.if, EMPTY_BLOCK, OP.unreachable, OP.end]) out.u8(byte);
}
