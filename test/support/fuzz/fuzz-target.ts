// FuzzTarget: one thing that is fuzzed: where its inputs come from, and what has to hold of each.
import type { Random } from '../random.ts';

export const TARGET_NAMES = ['admission', 'rewriter', 'abi', 'http1', 'remoting'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export interface FuzzTarget {
  readonly name: TargetName;
  /** A part of the path of the code that is fuzzed. */
  readonly covers: string;
  /** A new input. */
  fresh(random: Random): Uint8Array;
  /** An input made of one that reached something new, and perhaps of `other`. */
  mutated(random: Random, input: Uint8Array, other: Uint8Array): Uint8Array;
  /** Throws what the host must never throw, or a Violation. */
  run(input: Uint8Array): void | Promise<void>;
}

/** A property that does not hold. */
export class Violation extends Error {}

export function demand(holds: boolean, property: string): asserts holds {
  if (!holds) throw new Violation(property);
}

const INTERESTING = [
  0, 1, 2, 3, 0x0b, 0x10, 0x3f, 0x40, 0x41, 0x60, 0x7f, 0x80, 0xfc, 0xfd, 0xfe, 0xff,
];

/** A copy with a few bytes changed, taken out, put in or copied from elsewhere. */
export function havoc(random: Random, input: Uint8Array): Uint8Array {
  let bytes = [...input];
  for (let changes = random.below(4); changes >= 0 && bytes.length > 0; changes--) {
    const at = random.below(bytes.length);
    switch (random.below(7)) {
      case 0:
        bytes[at]! ^= 1 << random.below(8);
        break;
      case 1:
        bytes[at] = random.below(256);
        break;
      case 2:
        bytes[at] = random.pick(INTERESTING);
        break;
      case 3:
        bytes.splice(at, 1 + random.below(8));
        break;
      case 4:
        bytes.splice(
          at,
          0,
          ...Array.from({ length: 1 + random.below(8) }, () => random.below(256)),
        );
        break;
      case 5:
        bytes.splice(at, 0, ...bytes.slice(at, at + random.below(64)));
        break;
      default:
        // The longest number that there is, or one that is longer.
        bytes.splice(at, 1, 0xff, 0xff, 0xff, 0xff, random.pick([0x0f, 0x7f, 0xff]));
    }
    if (bytes.length > INPUT_BYTES_MAX) bytes = bytes.slice(0, INPUT_BYTES_MAX);
  }
  return Uint8Array.from(bytes);
}

export const INPUT_BYTES_MAX = 256 * 1024;
