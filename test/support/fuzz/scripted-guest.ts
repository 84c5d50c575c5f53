// ScriptedGuest: a guest module that says what it is told to. Its entity takes its script from the snapshot,
// its handler from the body: stretches of memory to write, in hexadecimal digits. Every function answers the
// pointer that lies in the word of memory named here, so a script decides what the host has to lift.
import type { StringEncoding } from '../../../host/hosting/wasm/binary/component-outline.ts';
import { guestModule } from '../../host/hosting/wasm/support/guest-module.ts';

/** Addresses of words. */
export const WORD = {
  command: 0,
  query: 4,
  apply: 8,
  snapshot: 12,
  handle: 16,
  takeLog: 20,
  /** Not 0: the constructor answers the handle in the next word. */
  constructorLies: 24,
  handleNumber: 28,
  /** 1: answers the next word. 2: grows the memory first. 3: traps. 4: calls the host. */
  realloc: 32,
  reallocAnswer: 36,
  /** Bits: routing.call, journal.read, resource-rep, resource-drop, now-ms. */
  imports: 40,
  call: 64,
  read: 128,
  rep: 168,
  drop: 172,
} as const;
/** Where results lie that no script has changed: zeros. */
export const RESULT = 256;
export const LOG_RESULT = 352;
/** A script and what else is lowered lies from here on. */
export const LOWERED = 65_536;

const word = (address: number) => `(i32.load (i32.const ${address}))`;
const words = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => word(first + index * 4)).join(' ');
const bit = (which: number, body: string) =>
  `(if (i32.and ${word(WORD.imports)} (i32.const ${1 << which})) (then ${body}))`;
const little = (value: number) =>
  `\\${(value & 255).toString(16).padStart(2, '0')}\\${(value >> 8).toString(16).padStart(2, '0')}\\00\\00`;

export function scriptedGuest(encoding: StringEncoding): Promise<Uint8Array> {
  const stride = encoding === 'utf16' ? 2 : 1;
  const bump = `
    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (block $fits (loop $grow
      (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
      unreachable))
    (local.get $at)`;
  return guestModule(
    {
      fields: `
        (data (i32.const 0) "${little(RESULT).repeat(5)}${little(LOG_RESULT)}")
        (func $nibble (param $unit i32) (result i32)
          (i32.and (i32.const 15) (i32.add (local.get $unit)
            (i32.mul (i32.const 9) (i32.shr_u (local.get $unit) (i32.const 6))))))
        (func $byte (param $text i32) (param $index i32) (result i32)
          (local $at i32)
          (local.set $at (i32.add (local.get $text) (i32.mul (local.get $index) (i32.const ${stride * 2}))))
          (i32.or
            (i32.shl (call $nibble (i32.load8_u (local.get $at))) (i32.const 4))
            (call $nibble (i32.load8_u (i32.add (local.get $at) (i32.const ${stride}))))))
        (func $run (param $text i32) (param $bytes i32)
          (local $index i32) (local $to i32) (local $left i32)
          (loop $next
            (if (i32.gt_u (i32.add (local.get $index) (i32.const 3)) (local.get $bytes)) (then return))
            (local.set $to (i32.or (call $byte (local.get $text) (local.get $index))
              (i32.shl (call $byte (local.get $text) (i32.add (local.get $index) (i32.const 1))) (i32.const 8))))
            (local.set $left (call $byte (local.get $text) (i32.add (local.get $index) (i32.const 2))))
            (local.set $index (i32.add (local.get $index) (i32.const 3)))
            (block $done (loop $copy
              (br_if $done (i32.eqz (local.get $left)))
              (br_if $done (i32.ge_u (local.get $index) (local.get $bytes)))
              (i32.store8 (local.get $to) (call $byte (local.get $text) (local.get $index)))
              (local.set $to (i32.add (local.get $to) (i32.const 1)))
              (local.set $index (i32.add (local.get $index) (i32.const 1)))
              (local.set $left (i32.sub (local.get $left) (i32.const 1)))
              (br $copy)))
            (br $next)))`,
      realloc: `(local $at i32)
        (if (i32.eq ${word(WORD.realloc)} (i32.const 1)) (then (return ${word(WORD.reallocAnswer)})))
        (if (i32.eq ${word(WORD.realloc)} (i32.const 2)) (then (drop (memory.grow (i32.const 1)))))
        (if (i32.eq ${word(WORD.realloc)} (i32.const 3)) (then unreachable))
        (if (i32.eq ${word(WORD.realloc)} (i32.const 4)) (then (drop (call $now-ms))))
        ${bump}`,
      construct: `
        (call $run (local.get $snapshot) (i32.shr_u (local.get $snapshot-length) (i32.const 1)))
        (if ${word(WORD.constructorLies)} (then (return ${word(WORD.handleNumber)})))
        (call $resource-new (i32.const 7))`,
      apply: word(WORD.apply),
      command: `${bit(4, '(drop (call $now-ms))')} ${word(WORD.command)}`,
      query: word(WORD.query),
      snapshot: word(WORD.snapshot),
      handle: `
        (call $run (local.get $body) (i32.shr_u (local.get $body-length) (i32.const 1)))
        ${bit(4, '(drop (call $now-ms))')}
        ${bit(0, `(call $call ${words(WORD.call, 14)})`)}
        ${bit(1, `(call $read ${words(WORD.read, 4)} (i64.load (i32.const ${WORD.read + 16})) ${words(WORD.read + 24, 2)})`)}
        ${bit(2, `(drop (call $resource-rep ${word(WORD.rep)}))`)}
        ${bit(3, `(call $resource-drop ${word(WORD.drop)})`)}
        ${word(WORD.handle)}`,
      takeLog: word(WORD.takeLog),
    },
    encoding,
  );
}
