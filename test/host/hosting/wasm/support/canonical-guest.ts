// Guests that return one value of the canonical ABI to the host, with memory as a test wants it. Results lie at 16,
// as in guest-module.ts.
import type { GuestParts } from './guest-module.ts';

/** The default guest has two pages. */
export const MEMORY_BYTES = 131_072;

/** A data segment. */
export function dataAt(address: number, bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  return `(data (i32.const ${address}) "${text}")`;
}

/** `c3 a4` as bytes. */
export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

export function put8(address: number, value: number): string {
  return `(i32.store8 (i32.const ${address}) (i32.const ${value}))`;
}

export function put(address: number, value: number): string {
  return `(i32.store (i32.const ${address}) (i32.const ${value | 0}))`;
}

export function put64(address: number, value: bigint): string {
  return `(i64.store (i32.const ${address}) (i64.const ${value}))`;
}

/** A query whose reply is the string at this pointer and length. */
export function replying(
  pointer: number,
  length: number,
  bytes: Uint8Array = new Uint8Array(),
): GuestParts {
  return {
    ...(bytes.length === 0 ? {} : { fields: dataAt(pointer, bytes) }),
    query: `(drop (call $clear)) ${put(20, pointer)} ${put(24, length)} (i32.const 16)`,
  };
}

/** A command whose result is what the body leaves at 16. */
export function deciding(body: string): GuestParts {
  return { command: `(drop (call $clear)) ${body} (i32.const 16)` };
}

/** A handler whose result is what the body leaves at 16; its status is 200. */
export function answering(body: string): GuestParts {
  return {
    handle: `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200)) ${body} (i32.const 16)`,
  };
}

/** A `cabi_realloc` that grows the memory each time, so that the host's view of it is detached. */
export const GROWING_REALLOC = `(local $at i32)
  (local.set $at (i32.mul (memory.size) (i32.const 65536)))
  (if (i32.eq (i32.const -1) (memory.grow
    (i32.add (i32.const 1) (i32.shr_u (local.get $size) (i32.const 16))))) (then unreachable))
  (local.get $at)`;
