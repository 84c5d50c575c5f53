// WasmGrammar: random core modules, valid and typed, such as the rewriter takes: one memory, a table,
// globals of every type, segments, imported functions, and functions that call one another.
import type { Random } from '../random.ts';
import { type FunctionType, writeFunction } from './code-grammar.ts';
import { NUMBER_TYPES, type NumberType, TYPE_CODE } from './operations.ts';
import {
  type Bytes,
  float32,
  float64,
  name,
  section,
  signed,
  sized,
  u32,
  vector,
} from './wasm-bytes.ts';

export const PAGES_MAX = 4;
export const PREAMBLE: Bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** The steps of a guarded module; give it these before each call. */
export const STEPS_EXPORT = 'steps';
export const STEPS = 250;

export interface GeneratedModule {
  readonly bytes: Uint8Array;
  readonly importedFunctions: number;
  /** Exported as `f0`, `f1`…, and what they take. */
  readonly functions: readonly FunctionType[];
  /** Exported as `g0`, `g1`…; a vector cannot be exported to JavaScript. */
  readonly exportedGlobals: readonly string[];
}

/** Types whose values JavaScript can give and take. */
const OUTER_TYPES: readonly NumberType[] = ['i32', 'i64', 'f32', 'f64'];
const PASSIVE_BYTES = 96;

/** `guarded`: it ends by itself; else it may run for ever. */
export function generateModule(random: Random, guarded: boolean): GeneratedModule {
  // The first type is that of loops with a parameter.
  const types: FunctionType[] = [
    { takes: ['i32'], gives: ['i32'] },
    { takes: [], gives: [] },
  ];
  for (let left = random.below(4); left > 0; left--)
    types.push({ takes: some(random, 4), gives: some(random, 3) });
  const imported = Array.from({ length: random.below(3) }, () => random.below(2));
  const own = Array.from({ length: 1 + random.below(4) }, () => random.below(types.length));
  const globals = [
    ...(guarded ? [{ type: 'i32' as const, mutable: true }] : []),
    ...Array.from({ length: random.below(6) }, () => ({
      type: random.pick(NUMBER_TYPES),
      mutable: random.chance(75),
    })),
  ];
  const functions = [...imported, ...own];
  const tableElements = random.below(6);
  const scope = {
    types,
    functions,
    globals,
    steps: guarded ? 0 : undefined,
    tableElements,
    passiveBytes: PASSIVE_BYTES,
  };
  const code = own.map((type) => writeFunction(random, scope, types[type]!));
  const exportedGlobals = [...globals.keys()].filter((index) => globals[index]!.type !== 'v128');
  const starts = random.chance(30) ? own.indexOf(1) : -1;
  const elements = Array.from({ length: random.below(tableElements + 1) }, () =>
    u32(random.below(functions.length)),
  );
  const bytes = moduleBytes(random, {
    types,
    imported,
    own,
    globals,
    guarded,
    tableElements,
    exportedGlobals,
    startFunction: starts < 0 ? undefined : imported.length + starts,
    elements,
    code,
  });
  return {
    bytes: Uint8Array.from(bytes),
    importedFunctions: imported.length,
    functions: own.map((type) => types[type]!),
    exportedGlobals: exportedGlobals.map((index) => `g${index}`),
  };
}

/** The contents of a module's sections, in which functions and globals are named by their index. */
interface ModuleParts {
  readonly types: readonly FunctionType[];
  /** Indexes of the types of the imported functions, and of the module's own. */
  readonly imported: readonly number[];
  readonly own: readonly number[];
  readonly globals: readonly { readonly type: NumberType; readonly mutable: boolean }[];
  /** The first global counts the steps. */
  readonly guarded: boolean;
  readonly tableElements: number;
  readonly exportedGlobals: readonly number[];
  readonly startFunction: number | undefined;
  readonly elements: readonly Bytes[];
  readonly code: readonly Bytes[];
}

function moduleBytes(
  random: Random,
  { types, imported, own, globals, guarded, ...parts }: ModuleParts,
): Bytes {
  const { tableElements, exportedGlobals, startFunction, elements, code } = parts;
  return [
    ...PREAMBLE,
    ...section(1, types.map(typeBytes)),
    ...section(
      2,
      imported.map((type, index) => importBytes(index, type)),
    ),
    ...section(
      3,
      own.map((type) => u32(type)),
    ),
    ...section(4, tableElements === 0 ? [] : [[0x70, 0, ...u32(tableElements)]]),
    ...section(5, [[1, 1, ...u32(1 + random.below(PAGES_MAX))]]),
    ...section(
      6,
      globals.map((global, index) => globalBytes(random, global, guarded && index === 0)),
    ),
    ...section(7, [
      [...name('memory'), 2, 0],
      ...(guarded ? [[...name(STEPS_EXPORT), 3, 0]] : []),
      ...own.map((_, index) => [...name(`f${index}`), 0, ...u32(imported.length + index)]),
      ...exportedGlobals.map((index) => [...name(`g${index}`), 3, ...u32(index)]),
    ]),
    ...(startFunction === undefined ? [] : [8, ...sized(u32(startFunction))]),
    ...section(9, elements.length === 0 ? [] : [[0, 0x41, 0, 0x0b, ...vector(elements)]]),
    12,
    1,
    2,
    ...section(10, code.map(sized)),
    ...section(11, [
      [0, 0x41, 8, 0x0b, ...sized(randomBytes(random, 64))],
      [1, ...sized(randomBytes(random, PASSIVE_BYTES))],
    ]),
  ];
}

function some(random: Random, below: number): NumberType[] {
  return Array.from({ length: random.below(below) }, () => random.pick(OUTER_TYPES));
}

function typeBytes({ takes, gives }: FunctionType): Bytes {
  return [0x60, ...typeCodes(takes), ...typeCodes(gives)];
}

function typeCodes(types: readonly NumberType[]): Bytes {
  return vector(types.map((type) => [TYPE_CODE[type]]));
}

function importBytes(index: number, type: number): Bytes {
  return [...name('host'), ...name(`h${index}`), 0, ...u32(type)];
}

function globalBytes(
  random: Random,
  { type, mutable }: { readonly type: NumberType; readonly mutable: boolean },
  isSteps: boolean,
): Bytes {
  const value = isSteps ? STEPS : random.below(1000);
  const initial: Record<NumberType, Bytes> = {
    i32: [0x41, ...signed(value)],
    i64: [0x42, ...signed(-value)],
    f32: [0x43, ...float32(value / 3)],
    f64: [0x44, ...float64(value / 7)],
    v128: [0xfd, 12, ...randomBytes(random, 16)],
  };
  return [TYPE_CODE[type], mutable ? 1 : 0, ...initial[type], 0x0b];
}

function randomBytes(random: Random, length: number): number[] {
  return Array.from({ length }, () => random.below(256));
}
