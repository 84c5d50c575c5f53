// PrepaidFunctions: the functions of a core module that do not pay at their entry, because every caller pays
// for them: a payment costs as much as the rest of a small function.
//
// Invariants:
// - Only direct calls of the module's own code reach such a function: it is in no table, no global, and no
//   export, and it is not the start function.
// - It calls no other such function, so in every chain of calls at least every second function pays.
// - It is cheap: the caller pays for it even where the call is not reached.
import { entryWeight, instructionWeight } from './instruction-cost.ts';
import type { ByteReader } from '../binary/byte-reader.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { CORE_SECTION } from '../binary/core-section.ts';
import { OP, STEP, codeAt, readInstruction } from '../binary/instruction-reader.ts';

/** Function index → weight of entering it. */
export type PrepaidFunctions = ReadonlyMap<number, number>;

/** Maximum weight of entering a prepaid function: half a microsecond at its worst. */
const WEIGHT_MAX = 2048;
const FUNCTION_KIND = 0;

interface Outline {
  /** Weight of entering the function. */
  readonly weight: number;
  /** Functions that it calls directly. */
  readonly callees: readonly number[];
}

/** Finds the prepaid functions. Throws SVC_MODULE_MALFORMED, SVC_MODULE_UNSUPPORTED_CODE. */
export function prepaidFunctions(core: CoreModule): PrepaidFunctions {
  const code = core.section(CORE_SECTION.code);
  const candidates = new Map<number, Outline>();
  if (code === undefined) return new Map();
  const reached = reachedOtherwise(core);
  const count = code.count();
  const first = core.functions.length - count;
  for (let index = first; index < first + count; index++) {
    const body = code.part(code.u32());
    if (reached.has(index)) continue;
    const outline = outlineOf(body);
    if (outline !== undefined) candidates.set(index, outline);
  }
  const prepaid = new Map<number, number>();
  for (const [index, { weight, callees }] of candidates)
    if (!callees.some((callee) => candidates.has(callee))) prepaid.set(index, weight);
  return prepaid;
}

/** Returns the functions that are reached by other means than direct calls. */
function reachedOtherwise(core: CoreModule): Set<number> {
  const reached = new Set(core.referencedFunctions);
  for (const { kind, index } of core.exports) if (kind === FUNCTION_KIND) reached.add(index);
  const start = core.section(CORE_SECTION.start)?.u32();
  if (start !== undefined) reached.add(start);
  return reached;
}

/** Returns the outline of a function; undefined for a function that costs too much. */
function outlineOf(body: ByteReader): Outline | undefined {
  let locals = 0;
  for (let groups = body.count(); groups > 0; groups--) {
    locals += body.u32();
    body.u8();
  }
  const callees: number[] = [];
  /** Whether each open block lies in a loop. */
  const open: boolean[] = [false];
  let weight = 0;
  while (open.length > 0) {
    const at = body.position;
    const step = readInstruction(body);
    const code = codeAt(body.bytes, at);
    const inLoop = open[open.length - 1]!;
    if (!inLoop) weight += instructionWeight(code);
    if (entryWeight(weight, locals) > WEIGHT_MAX) return undefined;
    if (isDirectCall(code)) callees.push(calleeAt(body, at));
    if (step === STEP.loop) open.push(true);
    else if (step === STEP.block) open.push(inLoop);
    else if (step === STEP.end) open.pop();
  }
  return { weight: entryWeight(weight, locals), callees };
}

export function isDirectCall(code: number): boolean {
  return code === OP.call || code === OP.returnCall;
}

/** Returns the index of the function that the call at `at` calls. */
export function calleeAt(body: ByteReader, at: number): number {
  return body.from(at + 1).u32();
}
