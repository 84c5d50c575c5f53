// PaymentWalk: reads the rewriter's output with a decoder of its own and says where code could run without
// paying. What pays: fuel is lessened by a positive constant, and below zero the code traps.
//
// Every endless run turns a loop or calls: so each loop pays at its head, before anything in it can branch,
// and each function pays at its entry, but those that call no other such function and that direct calls alone
// can reach, and those of the host's own that neither loop nor call.
import { WasmCursor } from './wasm-cursor.ts';

interface Instruction {
  readonly op: number;
  /** The first immediate, or the number of a prefixed opcode. */
  readonly value: number;
}

/** What the output is taken for. */
export interface RewrittenModule {
  readonly bytes: Uint8Array;
  /** The exported global that counts. */
  readonly fuelExport: string;
  /** How many functions the module had by itself, imported ones left out. */
  readonly ownFunctions: number;
}

const LOOP = 0x03;
const IF = 0x04;
const END = 0x0b;
const UNREACHABLE = 0x00;
const GLOBAL_SET = 0x24;
const I32_CONST = 0x41;
const I32_SUB = 0x6b;
/** block, loop, if, else, end, br, br_if, br_table, return, calls. */
const CONTROL = new Set([
  0x02, 0x03, 0x04, 0x05, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13,
]);
const CALLS = new Set([0x10, 0x11, 0x12, 0x13]);
const DIRECT_CALLS = new Set([0x10, 0x12]);
const REF_FUNC = 0xd2;

/** The places that do not pay, as text; none when every loop and every function is metered. */
export function unpaidPlaces(module: RewrittenModule): string[] {
  const { fuel, bodies, imported, reached } = readModule(module);
  if (fuel === undefined) return ['the fuel is not exported'];
  const unpaid = new Set(
    bodies.flatMap((code, index) => (pays(code, 0, fuel) ? [] : [imported + index])),
  );
  return bodies.flatMap((code, index) => {
    const places = [...code.keys()]
      .filter((at) => code[at]!.op === LOOP && !pays(code, at + 1, fuel))
      .map((at) => `function ${index}, the loop at instruction ${at}`);
    const callsUnpaid = code.some(({ op, value }) => DIRECT_CALLS.has(op) && unpaid.has(value));
    const isOwn = index < module.ownFunctions;
    const mustPay = isOwn
      ? callsUnpaid || reached.has(imported + index)
      : code.some(({ op }) => op === LOOP || CALLS.has(op));
    if (mustPay && unpaid.has(imported + index)) places.push(`function ${index}, its entry`);
    return places;
  });
}

/** Whether the code from here on pays before anything branches, loops, calls or ends. */
function pays(code: readonly Instruction[], from: number, fuel: number): boolean {
  for (let at = from; at < code.length; at++) {
    const { op, value } = code[at]!;
    if (op === GLOBAL_SET && value === fuel)
      return isPositiveSubtraction(code, at) && trapsBelowZero(code, at + 1, fuel);
    if (CONTROL.has(op)) return false;
  }
  return false;
}

function isPositiveSubtraction(code: readonly Instruction[], at: number): boolean {
  const [constant, subtraction] = [code[at - 2], code[at - 1]];
  return constant?.op === I32_CONST && constant.value > 0 && subtraction?.op === I32_SUB;
}

/** fuel < 0, if, unreachable, end. */
function trapsBelowZero(code: readonly Instruction[], at: number, fuel: number): boolean {
  const expected: readonly (readonly [number, number?])[] = [
    [0x23, fuel],
    [I32_CONST, 0],
    [0x48],
    [IF],
    [UNREACHABLE],
    [END],
  ];
  return expected.every(([op, value], index) => {
    const found = code[at + index];
    return found?.op === op && (value === undefined || found.value === value);
  });
}

function readModule({ bytes, fuelExport }: RewrittenModule) {
  const cursor = new WasmCursor(bytes, 8);
  let fuel: number | undefined;
  let imported = 0;
  /** By others than direct calls, if only because code refers to them. */
  const reached = new Set<number>();
  const bodies: Instruction[][] = [];
  while (cursor.at < cursor.end) {
    const id = cursor.byte();
    const section = cursor.part();
    if (id === 2) imported = section.number();
    if (id === 7)
      for (let left = section.number(); left > 0; left--) {
        const name = section.text();
        const kind = section.byte();
        const index = section.number();
        if (kind === 3 && name === fuelExport) fuel = index;
        if (kind === 0) reached.add(index);
      }
    if (id === 8) reached.add(section.number());
    if (id === 9) for (const index of segmentFunctions(section)) reached.add(index);
    if (id === 10)
      for (let left = section.number(); left > 0; left--) bodies.push(readBody(section.part()));
  }
  for (const { op, value } of bodies.flat()) if (op === REF_FUNC) reached.add(value);
  return { fuel, bodies, imported, reached };
}

function segmentFunctions(section: WasmCursor): number[] {
  const functions: number[] = [];
  for (let left = section.number(); left > 0; left--) {
    const flags = section.number();
    if ((flags & 1) === 0) {
      if ((flags & 2) !== 0) section.number();
      readExpression(section);
    }
    if ((flags & 3) !== 0) section.byte();
    for (let items = section.number(); items > 0; items--)
      if ((flags & 4) === 0) functions.push(section.number());
      else functions.push(...readExpression(section));
  }
  return functions;
}

/** The functions that it refers to. */
function readExpression(section: WasmCursor): number[] {
  const functions: number[] = [];
  for (;;) {
    const { op, value } = readInstruction(section);
    if (op === END) return functions;
    if (op === REF_FUNC) functions.push(value);
  }
}

function readBody(body: WasmCursor): Instruction[] {
  for (let groups = body.number(); groups > 0; groups--) {
    body.number();
    body.byte();
  }
  const code: Instruction[] = [];
  while (body.at < body.end) code.push(readInstruction(body));
  return code;
}

function readInstruction(body: WasmCursor): Instruction {
  const op = body.byte();
  const instruction = (value = 0) => ({ op, value });
  if (op >= 0x02 && op <= 0x04) return instruction(body.signed());
  if (op === 0x0e) {
    for (let left = body.number() + 1; left > 0; left--) body.number();
    return instruction();
  }
  if (op === 0x11 || op === 0x13 || (op >= 0x28 && op <= 0x3e)) {
    const first = body.number();
    body.number();
    return instruction(first);
  }
  if (op === 0x1c) {
    body.skip(body.number());
    return instruction();
  }
  if (op === 0x41 || op === 0x42) return instruction(body.signed());
  if (op === 0x43) return (body.skip(4), instruction());
  if (op === 0x44) return (body.skip(8), instruction());
  if (op === 0xfc) return instruction(readMisc(body));
  if (op === 0xfd) return instruction(readVectorInstruction(body));
  const hasIndex = (op >= 0x0c && op <= 0x12) || (op >= 0x20 && op <= 0x26);
  if ((hasIndex && op !== 0x0f) || op === 0x3f || op === 0x40 || op === 0xd0 || op === 0xd2)
    return instruction(body.number());
  return instruction();
}

function readMisc(body: WasmCursor): number {
  const code = body.number();
  const immediates = [8, 10, 12, 14].includes(code) ? 2 : code > 7 ? 1 : 0;
  for (let left = immediates; left > 0; left--) body.number();
  return code;
}

function readVectorInstruction(body: WasmCursor): number {
  const code = body.number();
  const addresses = code <= 11 || (code >= 84 && code <= 93);
  if (addresses) {
    body.number();
    body.number();
  }
  if (code === 12 || code === 13) body.skip(16);
  else if ((code >= 21 && code <= 34) || (code >= 84 && code <= 91)) body.skip(1);
  return code;
}
