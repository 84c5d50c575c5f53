// Core modules in WAT, rewritten as the host does, and run without the host.
import { parse } from '@bytecodealliance/jco';
import { expect } from 'vitest';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import {
  FUEL_EXPORT,
  rewriteCoreModule,
} from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';

export const SMALL_LIMITS: WasmLimits = {
  ...WASM_LIMITS_DEFAULT,
  memoryPagesMax: 8,
  tableElementsMax: 10,
  startFuel: 5000,
};
const ONE_PAGE = '(memory (export "memory") 1)';

export interface MeteredModule {
  readonly exports: WebAssembly.Instance['exports'];
  readonly fuel: WebAssembly.Global;
  /** The module's export `run`. */
  readonly run: (...values: number[]) => number;
}

/** The rewritten module of these fields. */
export async function rewrite(
  fields: string,
  memory = ONE_PAGE,
  limits = SMALL_LIMITS,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await parse(`(module ${memory} ${fields})`);
  expect(WebAssembly.validate(bytes)).toBe(true);
  const rewritten = rewriteCoreModule(readCoreModule(bytes, limits), limits);
  return new Uint8Array(rewritten);
}

export async function metered(fields: string, memory?: string): Promise<MeteredModule> {
  const bytes = await rewrite(fields, memory);
  expect(WebAssembly.validate(bytes)).toBe(true);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
  const fuel = exports[FUEL_EXPORT] as WebAssembly.Global;
  return { exports, fuel, run: exports['run'] as MeteredModule['run'] };
}

/** Returns the fuel that a call of `run` uses. */
export function unitsOf({ fuel, run }: MeteredModule, ...values: number[]): number {
  fuel.value = 2_000_000_000;
  run(...values);
  return 2_000_000_000 - (fuel.value as number);
}
