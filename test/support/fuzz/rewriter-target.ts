// RewriterTarget: what the rewriter makes of a core module is valid, computes what the module computes, pays
// at every loop and entry, and ends with little fuel.
//
// An input is one byte, 1 when the module ends by itself, and the module.
import {
  BEGIN_EXPORT,
  FUEL_EXPORT,
  SAVE_GLOBALS_EXPORT,
  RESTORE_GLOBALS_EXPORT,
  START_EXPORT,
  rewriteCoreModule,
} from '../../../host/hosting/wasm/metering/module-rewriter.ts';
import { readCoreModule } from '../../../host/hosting/wasm/binary/core-module-reader.ts';
import { FUEL_MAX, WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { Random } from '../random.ts';
import { type FuzzTarget, demand, havoc } from './fuzz-target.ts';
import { TYPE_CODE } from './operations.ts';
import { unpaidPlaces } from './payment-walk.ts';
import { readValidModule } from './wasm-cursor.ts';
import { PAGES_MAX, STEPS, STEPS_EXPORT, generateModule } from './wasm-grammar.ts';

const LIMITS = { ...WASM_LIMITS_DEFAULT, memoryPagesMax: PAGES_MAX, tableElementsMax: 100 };
const LITTLE_FUEL = 3000;
const GLOBAL_NAME = /^g\d+$/;

export const rewriterTarget: FuzzTarget = {
  name: 'rewriter',
  covers: '/host/hosting/wasm/',
  fresh(random) {
    const guarded = random.chance(70);
    return Uint8Array.of(guarded ? 1 : 0, ...generateModule(random, guarded).bytes);
  },
  mutated(random, input) {
    // What guarded it may be gone.
    const bytes = havoc(random, input);
    bytes[0] = 0;
    return bytes;
  },
  run(input) {
    const bytes = input.subarray(1);
    if (!WebAssembly.validate(bytes)) return;
    const rewritten = rewrite(bytes);
    if (rewritten === undefined) return;
    demand(WebAssembly.validate(rewritten), 'the output is valid');
    const outline = readValidModule(bytes);
    const unpaid = unpaidPlaces({
      bytes: rewritten,
      fuelExport: FUEL_EXPORT,
      ownFunctions: outline.ownFunctions,
    });
    demand(unpaid.length === 0, `everything is paid for: ${unpaid.join('; ')}`);
    endsWithLittleFuel(rewritten, outline);
    if (input[0] === 1) computesTheSame(bytes, rewritten, outline);
  },
};

/** Undefined: refused, as only what the host does not run may be. */
function rewrite(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return rewriteCoreModule(readCoreModule(bytes), LIMITS);
  } catch (error) {
    if (error instanceof SvcError && error.code.startsWith('SVC_MODULE_')) return undefined;
    throw error;
  }
}

type Outline = ReturnType<typeof readValidModule>;
type Outcome = { readonly results: unknown } | { readonly trap: string };

/** One module, live, with imports that answer by their arguments and count their calls. */
class LiveModule {
  readonly exports: Record<string, unknown>;
  /** Of its start function, or of what fills its tables and its memory before. */
  readonly startTrap: string | undefined;
  calls = 0;

  constructor(bytes: Uint8Array, outline: Outline) {
    const imports: Record<string, Record<string, unknown>> = {};
    for (const { module, name, gives } of outline.imports)
      (imports[module] ??= {})[name] = (first: unknown) => {
        this.calls++;
        const values = gives.map((code) => (code === 0x7e ? 7n : Number(first ?? 3)));
        return values.length > 1 ? values : values[0];
      };
    try {
      const module = new WebAssembly.Module(bytes);
      this.exports = new WebAssembly.Instance(module, imports).exports;
      (this.exports[START_EXPORT] as (() => void) | undefined)?.();
    } catch (error) {
      this.exports = {};
      this.startTrap = trapOf(error);
    }
  }

  global(name: string): WebAssembly.Global | undefined {
    return this.exports[name] as WebAssembly.Global | undefined;
  }

  call(name: string, values: readonly unknown[]): Outcome {
    try {
      return { results: (this.exports[name] as (...values: unknown[]) => unknown)(...values) };
    } catch (error) {
      return { trap: trapOf(error) };
    }
  }

  globals(): unknown[] {
    const names = Object.keys(this.exports).filter((name) => GLOBAL_NAME.test(name));
    return names.map((name) => this.global(name)!.value);
  }

  get memory(): Uint8Array {
    const { buffer } = this.exports['memory'] as WebAssembly.Memory;
    return new Uint8Array(buffer);
  }
}

function trapOf(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) return error.message;
  if (error instanceof RangeError) return STACK;
  throw error;
}
const STACK = 'stack';

function endsWithLittleFuel(rewritten: Uint8Array, outline: Outline): void {
  const live = new LiveModule(rewritten, outline);
  if (live.startTrap !== undefined) return;
  const begin = live.exports[BEGIN_EXPORT] as (fuel: number) => void;
  for (const [name, takes] of outline.exports) {
    // JavaScript has no vectors to give.
    if (takes.includes(TYPE_CODE.v128)) continue;
    begin(LITTLE_FUEL);
    // It comes back: that is what is asked here.
    live.call(name, argumentsFor(takes, new Random(name.length)));
  }
}

function computesTheSame(bytes: Uint8Array, rewritten: Uint8Array, outline: Outline): void {
  const plain = new LiveModule(bytes, outline);
  const metered = new LiveModule(rewritten, outline);
  if (plain.startTrap === STACK || metered.startTrap === STACK) return;
  demand(plain.startTrap === metered.startTrap, `the start ends alike: ${metered.startTrap}`);
  if (plain.startTrap !== undefined) return;
  (metered.exports[SAVE_GLOBALS_EXPORT] as () => void)();
  const kept = metered.globals();
  const begin = metered.exports[BEGIN_EXPORT] as (fuel: number) => void;
  for (const [name, takes] of outline.exports) {
    const values = argumentsFor(takes, new Random(name.length));
    for (const live of [plain, metered]) live.global(STEPS_EXPORT)!.value = STEPS;
    begin(FUEL_MAX);
    const expected = plain.call(name, values);
    const found = metered.call(name, values);
    if ([expected, found].some((outcome) => 'trap' in outcome && outcome.trap === STACK)) return;
    demand(same(expected, found), `${name} gives ${show(expected)}, metered ${show(found)}`);
    demand(plain.calls === metered.calls, `${name} calls the host as often`);
    demand(same(plain.globals(), metered.globals()), `${name} leaves the same in the globals`);
    demand(Buffer.compare(plain.memory, metered.memory) === 0, `${name} leaves the same memory`);
    demand((metered.global(FUEL_EXPORT)!.value as number) < FUEL_MAX, `${name} pays`);
  }
  (metered.exports[RESTORE_GLOBALS_EXPORT] as () => void)();
  demand(same(kept, metered.globals()), 'the globals are put back');
}

function argumentsFor(takes: readonly number[], random: Random): unknown[] {
  return takes.map((code) => {
    const value = random.pick([0, 1, -1, 3, 1000, -70_000, 2 ** 31 - 1]);
    return code === 0x7e ? BigInt(value) : code === 0x7f ? value : value / 8;
  });
}

/** Every NaN is the same one: WebAssembly does not say which comes. */
function same(a: unknown, b: unknown): boolean {
  return show(a) === show(b);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (typeof part === 'number') return Object.is(part, -0) ? '-0' : String(part);
    return part === undefined ? 'undefined' : part;
  });
}
