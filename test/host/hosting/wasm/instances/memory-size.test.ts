// The count of pages compared with WebAssembly itself: whatever a module does with its memory, in many calls of one
// instance that is restored in between, it sees the same sizes as in a fresh instance of the original module. A
// failing run names its seed: add it to SEEDS to repeat the run.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import { MemoryImage } from '../../../../../host/hosting/wasm/instances/memory-image.ts';
import {
  BEGIN_EXPORT,
  SAVE_GLOBALS_EXPORT,
  RESTORE_GLOBALS_EXPORT,
  START_EXPORT,
  rewriteCoreModule,
} from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { Random } from '../../../../support/random.ts';

const SEEDS = [1, 2, 3, Math.floor(Math.random() * 2 ** 32)];
const PAGES_MAX = 9;
const PAGE_BYTES = 65_536;

/** Grows at its start, keeps a size in a global, and reads and writes where its parameters say. */
const FIELDS = `
  (global $seen (mut i32) (i32.const -1))
  (data (i32.const 65530) "marked")
  (func $start (drop (memory.grow (i32.const 1))) (global.set $seen (memory.size)))
  (start $start)
  (func (export "seen") (result i32) (global.get $seen))
  (func (export "size") (result i32) (memory.size))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "mark") (param i32) (param i32) (i32.store8 (local.get 0) (local.get 1)))
  (func (export "look") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "fill") (param i32) (param i32) (memory.fill (local.get 0) (i32.const 7) (local.get 1)))`;

const wat = (most: number | undefined) =>
  `(module (memory (export "memory") 1 ${most ?? ''}) ${FIELDS})`;

async function modules(maximum: number | undefined) {
  const limits = { ...WASM_LIMITS_DEFAULT, memoryPagesMax: PAGES_MAX };
  const rewritten = rewriteCoreModule(readCoreModule(await parse(wat(maximum)), limits), limits);
  // The original module, with the host's limit if it has none of its own.
  const plain = await parse(wat(Math.min(maximum ?? PAGES_MAX, PAGES_MAX)));
  return { rewritten: new WebAssembly.Module(rewritten), plain: new WebAssembly.Module(plain) };
}

type Exports = Record<string, (...values: number[]) => number | undefined>;
const exportsOf = (module: WebAssembly.Module) =>
  new WebAssembly.Instance(module, {}).exports as unknown as Exports & {
    memory: WebAssembly.Memory;
  };

const GROWTHS = [
  0,
  1,
  1,
  2,
  3,
  PAGES_MAX,
  PAGES_MAX + 1,
  0x7fff_ffff,
  0x8000_0000,
  0xffff_fff0,
  -1,
];

describe.each([
  ['without a maximum of its own', undefined],
  ['with a smaller maximum', 5],
  ['with a larger maximum', 60_000],
  ['that may not grow after its start', 2],
])('a module %s', (_what, maximum) => {
  test.each(SEEDS)('sees the sizes of a fresh instance: seed %i', async (seed) => {
    const { rewritten, plain } = await modules(maximum);
    const random = new Random(seed);
    const reused = exportsOf(rewritten);
    reused[START_EXPORT]!();
    reused[SAVE_GLOBALS_EXPORT]!();
    const image = new MemoryImage(new Uint8Array(reused.memory.buffer));
    for (let turn = 0; turn < 60; turn++) {
      const fresh = exportsOf(plain);
      reused[BEGIN_EXPORT]!(2_000_000_000);
      const told: unknown[] = [];
      const expected: unknown[] = [];
      const both = (name: string, ...values: number[]) => {
        told.push([name, ...values, reused[name]!(...values)]);
        expected.push([name, ...values, fresh[name]!(...values)]);
      };
      both('seen');
      for (let step = random.below(12); step > 0; step--) {
        both('size');
        const at = random.below(fresh.memory.buffer.byteLength - 8);
        const end = fresh.memory.buffer.byteLength;
        const action = random.below(5);
        if (action < 2) both('grow', random.pick(GROWTHS));
        else if (action === 2) both('mark', random.pick([at, 0, end - 1]), 1 + random.below(255));
        else if (action === 3) both('look', random.pick([at, 65_530, end - 1]));
        else both('fill', at, Math.min(end - at, random.below(3 * PAGE_BYTES)));
      }
      both('size');
      expect(told).toEqual(expected);
      const whole = new Uint8Array(reused.memory.buffer);
      const size = fresh.memory.buffer.byteLength;
      expect(Buffer.compare(whole.subarray(0, size), new Uint8Array(fresh.memory.buffer))).toBe(0);
      image.restore(whole);
      reused[RESTORE_GLOBALS_EXPORT]!();
    }
    expect(reused.memory.buffer.byteLength).toBeLessThanOrEqual(PAGES_MAX * PAGE_BYTES);
  });
});
