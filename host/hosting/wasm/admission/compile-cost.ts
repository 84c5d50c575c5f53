// CompileCost: the cost of a function for V8's compilers beyond its length. At every branch and merge of
// control flow, V8 records where each live value is: locals, and values on the stack. So memory and time
// grow with the values times the merge points, of which a few kilobytes of code can have billions. No fuel
// pays for it, and no heap limit bounds it. The cost is counted in values: about 13 bytes and 25 nanoseconds
// each.
//
// Invariant: the count is never less than the number of live values. The code must be valid.
import type { ByteReader } from '../binary/byte-reader.ts';
import { type Arity, arityOf } from '../binary/core-interface.ts';
import { tooMany } from '../binary/core-limits.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { CORE_SECTION } from '../binary/core-section.ts';
import {
  type Code,
  EMPTY_BLOCK,
  OP,
  VALUE_TYPES,
  codeAt,
  readInstruction,
} from '../binary/instruction-reader.ts';

/** Maximum cost of one function, in values. */
const FUNCTION_MAX = 5_000_000;
/** Maximum cost of all functions together, in values. */
const MODULE_MAX = 100_000_000;
/** A loop counts as three merge points: the check of its fuel branches and merges once more. */
const LOOP_POINTS = 3;
/**
 * Additional cost, in values, of a conditional branch on a bare value such as a local: the optimising compiler follows
 * the value back to where it was set.
 */
const BARE_BRANCH = 1000;
/** Share of the values that a call costs: the compiler only scans them. */
const CALL_SHARE = 1 / 32;

/** Instruction → maximum change of the number of values on the stack. `functionCost` handles calls and blocks. */
const EFFECTS = new Int8Array(256);
const set = (effect: number, first: number, last = first) => EFFECTS.fill(effect, first, last + 1);
set(-1, 0x0d, 0x0e); // br_if, br_table
set(-1, 0x1a); // drop
set(-2, 0x1b, 0x1c); // select
set(1, OP.localGet);
set(-1, 0x21); // local.set
set(1, OP.globalGet);
set(-1, OP.globalSet);
set(-2, 0x36, 0x3e); // stores
set(1, OP.memorySize);
set(1, 0x41, 0x44); // constants
set(-1, 0x46, 0x4f); // comparisons
set(-1, 0x51, 0x66);
set(-1, 0x6a, 0x78); // arithmetic of two numbers
set(-1, 0x7c, 0x8a);
set(-1, 0x92, 0x98);
set(-1, 0xa0, 0xa6);
set(1, 0xd0); // ref.null
set(1, 0xd2); // ref.func
const BULK_FIRST = (OP.misc << 8) | 8;
const BULK_LAST = (OP.misc << 8) | 11;
const TABLE_SIZE = (OP.misc << 8) | 16;
const VECTOR_CONSTANT = (OP.simd << 8) | 12;

const NO_VALUES: Arity = { parameters: 0, results: 0 };
const ONE_RESULT: Arity = { parameters: 0, results: 1 };

interface Arities {
  readonly types: readonly Arity[];
  readonly functions: readonly Arity[];
}

/** Checks the cost of each function, and of all together. Throws SVC_MODULE_TOO_LARGE. */
export function checkCompileCost(core: CoreModule): void {
  const section = core.section(CORE_SECTION.code);
  if (section === undefined) return;
  const arities = { types: core.types.map(arityOf), functions: core.functions.map(arityOf) };
  const count = section.count();
  let total = 0;
  for (const { parameters } of arities.functions.slice(arities.functions.length - count)) {
    const cost = functionCost(section.part(section.u32()), parameters, arities);
    if (cost > FUNCTION_MAX)
      throw tooMany(`a function of ${cost} values at its branches`, FUNCTION_MAX);
    total += cost;
    if (total > MODULE_MAX) throw tooMany('too many values at its branches', MODULE_MAX);
  }
}

/** Returns the cost of a function, in values: the live values at each branch and merge point, and the surcharges. */
function functionCost(body: ByteReader, parameters: number, arities: Arities): number {
  let locals = parameters;
  for (let left = body.count(); left > 0; left--) {
    locals += body.u32();
    body.u8();
  }
  const { bytes } = body;
  let height = 0;
  /** Stack height at the beginning of each open block. */
  const begins = [0];
  /** Stack height after the end of each open block. */
  const ends = [0];
  let cost = 2 * locals; // for the check at the function's entry
  const pay = (points: number) => {
    cost += Math.ceil(points * (locals + Math.max(height, 0)));
  };
  const call = ({ parameters: taken, results }: Arity) => {
    pay(CALL_SHARE);
    height += results - taken;
  };
  let previous: Code = OP.unreachable;
  while (ends.length > 0) {
    const at = body.position;
    readInstruction(body);
    const code = codeAt(bytes, at);
    if (isConditional(code) && isBare(previous)) cost += BARE_BRANCH;
    previous = code;
    switch (code) {
      case OP.block:
      case OP.loop:
      case OP.if: {
        if (code === OP.if) height--;
        pay(code === OP.loop ? LOOP_POINTS : 1);
        const { parameters: taken, results } = blockArity(body, at, arities);
        begins.push(height);
        ends.push(height - taken + results);
        break;
      }
      case OP.else:
        pay(1);
        height = begins.at(-1)!;
        break;
      case OP.end:
        pay(1);
        begins.pop();
        height = ends.pop()!;
        break;
      case OP.br:
      case OP.brIf:
        pay(1);
        height += EFFECTS[code]!;
        break;
      case OP.brTable:
        pay(immediate(body, at) + 1);
        height += EFFECTS[code]!;
        break;
      case OP.call:
        call(arities.functions[immediate(body, at)] ?? NO_VALUES);
        break;
      case OP.callIndirect:
        height--;
        call(arities.types[immediate(body, at)] ?? NO_VALUES);
        break;
      default:
        height += effectOf(code);
    }
  }
  return cost;
}

function isConditional(code: Code): boolean {
  return code === OP.if || code === OP.brIf || code === OP.brTable;
}

/** Returns whether the instruction only passes a value on. */
function isBare(code: Code): boolean {
  return code === OP.localGet || code === OP.localTee || code === OP.end;
}

function effectOf(code: Code): number {
  if (code < 0x100) return EFFECTS[code]!;
  if (code >= BULK_FIRST && code <= BULK_LAST) return -3;
  // Vector instructions that remove values are left out: the end of the block corrects the height.
  return code === TABLE_SIZE || code === VECTOR_CONSTANT ? 1 : 0;
}

/** Reads the number right behind the instruction at `at`, which the reader has stepped over. */
function immediate(body: ByteReader, at: number): number {
  return body.from(at + 1).u32();
}

function blockArity(body: ByteReader, at: number, { types }: Arities): Arity {
  const first = body.bytes[at + 1]!;
  if (first === EMPTY_BLOCK) return NO_VALUES;
  if (VALUE_TYPES.has(first)) return ONE_RESULT;
  return types[immediate(body, at)] ?? NO_VALUES;
}
