// CodeGrammar: writes the code of one random function, valid by construction and typed. Loops, branches,
// calls in every form, memory in every form, floats and vectors occur; nothing that the rewriter refuses.
//
// Invariants: a guarded function pays one of its module's `steps` at its entry and at every turn of a loop,
// and traps when none is left, so it ends without any meter. The bits of a NaN are never looked at: WebAssembly
// leaves them open, and two runs of the same code may differ in them.
import type { Random } from '../random.ts';
import { hideNan, hideNanLanes } from './hidden-nan.ts';
import { LOADS, type NumberType, STORES, TYPE_CODE, pickOperation } from './operations.ts';
import { float32, float64, signed, u32 } from './wasm-bytes.ts';

export interface FunctionType {
  readonly takes: readonly NumberType[];
  readonly gives: readonly NumberType[];
}

/** What a function sees of its module. */
export interface CodeScope {
  readonly types: readonly FunctionType[];
  /** Of every function, imported ones first. */
  readonly functions: readonly number[];
  readonly globals: readonly { readonly type: NumberType; readonly mutable: boolean }[];
  /** The global that holds the steps; undefined: nothing is guarded, and the code may run for ever. */
  readonly steps: number | undefined;
  readonly tableElements: number;
  readonly passiveBytes: number;
}

const END = 0x0b;
const VOID = 0x40;
/** Nested statements and expressions of one function, so that it stays small. */
const NODES_MAX = 120;

/** The body of a function as it lies in the code section, without its length. */
export function writeFunction(random: Random, scope: CodeScope, type: FunctionType): number[] {
  return new CodeGrammar(random, scope, type).body();
}

class CodeGrammar {
  readonly #random: Random;
  readonly #scope: CodeScope;
  readonly #type: FunctionType;
  readonly #locals: NumberType[];
  /** What a branch to each open label takes, innermost last. */
  readonly #labels: (readonly NumberType[])[] = [];
  readonly #code: number[] = [];
  #nodes = 0;

  constructor(random: Random, scope: CodeScope, type: FunctionType) {
    this.#random = random;
    this.#scope = scope;
    this.#type = type;
    const own = Array.from({ length: random.below(5) }, () =>
      random.pick<NumberType>(['i32', 'i64', 'f32', 'f64', 'v128']),
    );
    // The last three hold a float while it is looked at.
    this.#locals = [...type.takes, ...own, 'f32', 'f64', 'v128'];
  }

  body(): number[] {
    this.#labels.push(this.#type.gives);
    this.#step();
    this.#statements(3);
    for (const type of this.#type.gives) this.#expression(type, 3);
    this.#code.push(END);
    const declared = this.#locals.slice(this.#type.takes.length);
    const groups = declared.flatMap((type) => [1, TYPE_CODE[type]]);
    return [...u32(declared.length), ...groups, ...this.#code];
  }

  #emit(...bytes: readonly number[]): void {
    this.#code.push(...bytes);
  }

  /** Pays a step; traps when there is none. */
  #step(): void {
    const { steps } = this.#scope;
    if (steps === undefined) return;
    this.#emit(0x23, ...u32(steps), 0x45, 0x04, VOID, 0x00, END);
    this.#emit(0x23, ...u32(steps), 0x41, 1, 0x6b, 0x24, ...u32(steps));
  }

  #statements(depth: number): void {
    for (let left = 1 + this.#random.below(4); left > 0; left--) this.#statement(depth);
  }

  #statement(depth: number): void {
    if (++this.#nodes > NODES_MAX) return;
    const kinds = depth > 0 ? 20 : 11;
    switch (this.#random.below(kinds)) {
      case 0:
      case 1:
        return this.#setLocal();
      case 2:
        return this.#setGlobal();
      case 3:
      case 4:
        return this.#store();
      case 5:
        return this.#bulk();
      case 6:
        this.#drop(() => {
          this.#expression('i32', 1);
          this.#emit(0x40, 0);
        });
        return;
      case 7:
        return this.#branch();
      case 8:
      case 9:
        return this.#callStatement();
      case 10:
        if (this.#random.chance(8)) this.#emit(0x00);
        else if (this.#random.chance(10)) this.#return();
        else this.#emit(0x01);
        return;
      case 11:
      case 12:
      case 13:
        return this.#loop(depth);
      case 14:
      case 15:
        return this.#if(depth);
      case 16:
        return this.#branchTable(depth);
      default:
        this.#emit(0x02, VOID);
        this.#labels.push([]);
        this.#statements(depth - 1);
        this.#labels.pop();
        this.#emit(END);
    }
  }

  #drop(write: () => void): void {
    write();
    this.#emit(0x1a);
  }

  #setLocal(): void {
    const index = this.#random.below(this.#locals.length - 3 || 1);
    const type = this.#locals[index]!;
    this.#expression(type, 2);
    this.#emit(0x21, ...u32(index));
  }

  #setGlobal(): void {
    const { globals, steps } = this.#scope;
    const found = [...globals.entries()].filter(
      ([index, { mutable }]) => mutable && index !== steps,
    );
    if (found.length === 0) return;
    const [index, { type }] = this.#random.pick(found);
    this.#expression(type, 2);
    this.#emit(0x24, ...u32(index));
  }

  /** Mostly inside of the first page. */
  #address(): void {
    this.#expression('i32', 1);
    if (this.#random.chance(90)) this.#emit(0x41, ...signed(0xfff), 0x71);
  }

  #memoryArgument(alignment: number): void {
    const offset = this.#random.chance(90) ? this.#random.below(300) : this.#random.below(70_000);
    this.#emit(...u32(this.#random.below(alignment + 1)), ...u32(offset));
  }

  #store(): void {
    const type = this.#random.pick<NumberType>(['i32', 'i64', 'f32', 'f64', 'v128']);
    const [code, alignment] = this.#random.pick(STORES[type]);
    this.#address();
    this.#expression(type, 2);
    if (type === 'f32' || type === 'f64') this.#hideNan(type);
    this.#emit(...code);
    this.#memoryArgument(alignment);
  }

  #bulk(): void {
    const kind = this.#random.below(3);
    this.#address();
    this.#expression('i32', 1);
    if (kind !== 1) this.#emit(0x41, ...signed(0xff), 0x71);
    this.#emit(
      0x41,
      ...signed(this.#random.below(kind === 2 ? this.#scope.passiveBytes + 2 : 700)),
    );
    if (kind === 0) this.#emit(0xfc, 10, 0, 0);
    else if (kind === 1) this.#emit(0xfc, 11, 0);
    else this.#emit(0xfc, 8, 1, 0);
  }

  /** A branch, perhaps conditional, to an open label with what it takes. */
  #branch(): void {
    const depth = this.#random.below(this.#labels.length);
    const takes = this.#labels[this.#labels.length - 1 - depth]!;
    for (const type of takes) this.#expression(type, 1);
    if (this.#random.chance(25)) return this.#emit(0x0c, ...u32(depth));
    this.#expression('i32', 1);
    this.#emit(0x0d, ...u32(depth));
    for (const _ of takes) this.#emit(0x1a);
  }

  #return(): void {
    for (const type of this.#type.gives) this.#expression(type, 1);
    this.#emit(0x0f);
  }

  #loop(depth: number): void {
    const takesCount = this.#random.chance(25);
    if (takesCount) this.#emit(0x41, ...signed(this.#random.below(9)));
    // Type 0 takes and gives an i32.
    this.#emit(0x03, ...(takesCount ? [0] : [VOID]));
    this.#labels.push(takesCount ? ['i32'] : []);
    if (takesCount) this.#emit(0x1a);
    this.#step();
    this.#statements(depth - 1);
    if (takesCount) this.#expression('i32', 1);
    this.#expression('i32', 1);
    this.#emit(0x0d, 0);
    this.#labels.pop();
    this.#emit(END);
    if (takesCount) this.#emit(0x1a);
  }

  #if(depth: number): void {
    this.#expression('i32', 2);
    this.#emit(0x04, VOID);
    this.#labels.push([]);
    this.#statements(depth - 1);
    if (this.#random.chance(60)) {
      this.#emit(0x05);
      this.#statements(depth - 1);
    }
    this.#labels.pop();
    this.#emit(END);
  }

  /** Into one of the blocks around it; with a loop among them, into its head. */
  #branchTable(depth: number): void {
    const blocks = 1 + this.#random.below(3);
    const loops: number[] = [];
    for (let index = 0; index < blocks; index++) {
      const loop = this.#random.chance(25);
      this.#emit(loop ? 0x03 : 0x02, VOID);
      if (loop) loops.push(index);
      this.#labels.push([]);
      if (loop) this.#step();
    }
    this.#expression('i32', 1);
    const targets = Array.from({ length: this.#random.below(4) }, () => this.#random.below(blocks));
    this.#emit(0x0e, ...u32(targets.length), ...targets, this.#random.below(blocks));
    for (let index = 0; index < blocks; index++) {
      this.#labels.pop();
      this.#emit(END);
      if (depth > 1) this.#statement(depth - 2);
    }
  }

  #callStatement(): void {
    const { functions, types } = this.#scope;
    if (this.#random.chance(15)) return this.#tailCall();
    const index = this.#random.below(functions.length);
    const type = types[functions[index]!]!;
    for (const taken of type.takes) this.#expression(taken, 1);
    this.#call(index, functions[index]!);
    for (const _ of type.gives) this.#emit(0x1a);
  }

  /** By its index, or through the table. */
  #call(index: number, typeIndex: number): void {
    if (this.#scope.tableElements === 0 || this.#random.chance(60)) this.#emit(0x10, ...u32(index));
    else {
      this.#emit(0x41, ...signed(this.#random.below(this.#scope.tableElements + 1)));
      this.#emit(0x11, ...u32(typeIndex), 0);
    }
  }

  #tailCall(): void {
    const { functions, types } = this.#scope;
    const gives = this.#type.gives.join();
    const fitting = [...functions.keys()].filter(
      (index) => types[functions[index]!]!.gives.join() === gives,
    );
    if (fitting.length === 0) return;
    const index = this.#random.pick(fitting);
    for (const taken of types[functions[index]!]!.takes) this.#expression(taken, 1);
    if (this.#scope.tableElements === 0 || this.#random.chance(60))
      return this.#emit(0x12, ...u32(index));
    this.#emit(0x41, ...signed(this.#random.below(this.#scope.tableElements + 1)));
    this.#emit(0x13, ...u32(functions[index]!), 0);
  }

  #expression(type: NumberType, depth: number): void {
    if (depth === 0 || ++this.#nodes > NODES_MAX) return this.#leaf(type);
    switch (this.#random.below(10)) {
      case 0:
      case 1:
        return this.#leaf(type);
      case 2:
        return this.#load(type);
      case 3:
        return this.#select(type, depth);
      case 4:
        return this.#callFor(type);
      case 5:
        return this.#blockFor(type, depth);
      default:
        return this.#operation(type, depth);
    }
  }

  #leaf(type: NumberType): void {
    const locals = [...this.#locals.keys()].slice(0, -3).filter((at) => this.#locals[at] === type);
    const globals = [...this.#scope.globals.keys()].filter(
      (index) => this.#scope.globals[index]!.type === type && index !== this.#scope.steps,
    );
    if (locals.length > 0 && this.#random.chance(50))
      return this.#emit(0x20, ...u32(this.#random.pick(locals)));
    if (globals.length > 0 && this.#random.chance(30))
      return this.#emit(0x23, ...u32(this.#random.pick(globals)));
    if (type === 'i32' && this.#random.chance(10)) return this.#emit(0x3f, 0);
    this.#constant(type);
  }

  #constant(type: NumberType): void {
    const integer = this.#random.pick([0, 1, -1, 7, 64, 255, 65_535, 2 ** 31 - 1, -(2 ** 31)]);
    const float = this.#random.pick([0, -0, 1.5, -3, 1e30, -1e-30, Infinity, NaN, 2 ** 31, 0.1]);
    switch (type) {
      case 'i32':
        return this.#emit(0x41, ...signed(integer));
      case 'i64':
        return this.#emit(0x42, ...signed(BigInt(integer) << BigInt(this.#random.below(33))));
      case 'f32':
        return this.#emit(0x43, ...float32(float));
      case 'f64':
        return this.#emit(0x44, ...float64(float));
      case 'v128':
        return this.#emit(0xfd, 12, ...Array.from({ length: 16 }, () => this.#random.below(256)));
    }
  }

  #load(type: NumberType): void {
    const [code, alignment] = this.#random.pick(LOADS[type]);
    this.#address();
    this.#emit(...code);
    this.#memoryArgument(alignment);
  }

  #select(type: NumberType, depth: number): void {
    this.#expression(type, depth - 1);
    this.#expression(type, depth - 1);
    this.#expression('i32', depth - 1);
    if (this.#random.chance(50)) this.#emit(0x1b);
    else this.#emit(0x1c, 1, TYPE_CODE[type]);
  }

  #callFor(type: NumberType): void {
    const { functions, types } = this.#scope;
    const fitting = [...functions.keys()].filter(
      (index) => types[functions[index]!]!.gives.join() === type,
    );
    if (fitting.length === 0) return this.#leaf(type);
    const index = this.#random.pick(fitting);
    for (const taken of types[functions[index]!]!.takes) this.#expression(taken, 1);
    this.#call(index, functions[index]!);
  }

  #blockFor(type: NumberType, depth: number): void {
    this.#emit(0x02, TYPE_CODE[type]);
    this.#labels.push([type]);
    if (this.#random.chance(50)) this.#statement(depth - 1);
    this.#expression(type, depth - 1);
    this.#labels.pop();
    this.#emit(END);
  }

  #operation(type: NumberType, depth: number): void {
    const { code, takes, floats, lanes, showsNanOf } = pickOperation(this.#random, type);
    for (const [index, taken] of takes.entries()) {
      this.#expression(taken, depth - 1);
      if (showsNanOf === index) this.#hideNan(taken as 'f32' | 'f64');
    }
    this.#emit(...code);
    if (lanes !== undefined) this.#emit(this.#random.below(lanes));
    if (floats !== undefined) this.#emit(...hideNanLanes(floats, this.#locals.length - 1));
  }

  /** Puts one NaN in the place of every other. */
  #hideNan(type: 'f32' | 'f64'): void {
    this.#emit(...hideNan(type, this.#locals.length - (type === 'f32' ? 3 : 2)));
  }
}
