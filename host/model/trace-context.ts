// The trace of a request (W3C Trace Context, level 2), passed on from call to call: the same trace
// id, and a parent id of the call's own. The header comes from callers and modules, so it is read
// strictly and without a regular expression; what is not valid is dropped, `tracestate` with it.
import type { Metadata } from './call.ts';

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';
/** Version, trace id, parent id and flags, in hexadecimal digits with a dash between them. */
const TRACEPARENT_LENGTH = 55;
/** `sampled` and `random trace id`: the flags that have a meaning. */
const KNOWN_FLAGS = 0x03;
const ALL_ZERO = '0'.repeat(32);

export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly parentId: string;
  readonly flags: number;
}

/** Reads a `traceparent`; undefined when it is not valid. */
export function parseTraceParent(value: string): TraceParent | undefined {
  if (value.length < TRACEPARENT_LENGTH) return undefined;
  if (value[2] !== '-' || value[35] !== '-' || value[52] !== '-') return undefined;
  if (!isHex(value, 0, 2) || !isHex(value, 3, 35)) return undefined;
  if (!isHex(value, 36, 52) || !isHex(value, 53, TRACEPARENT_LENGTH)) return undefined;
  const traceId = value.slice(3, 35);
  const parentId = value.slice(36, 52);
  if (value.startsWith('ff') || isZero(traceId) || isZero(parentId)) return undefined;
  // Later versions may append fields; this one has none.
  if (value.length > TRACEPARENT_LENGTH && (value.startsWith('00') || value[55] !== '-'))
    return undefined;
  return { traceId, parentId, flags: Number.parseInt(value.slice(53, 55), 16) & KNOWN_FLAGS };
}

const seedWord = new BigUint64Array(1);
const seedBytes = new Uint8Array(seedWord.buffer);
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** 16 lower-case hexadecimal digits of 64 random bits, never all zero. */
export function spanIdOf(seed: bigint): string {
  // An all-zero id is invalid, so that one draw in 2^64 becomes 1.
  seedWord[0] = seed === 0n ? 1n : seed;
  let id = '';
  for (let index = 7; index >= 0; index--) id += HEX[seedBytes[index]!]!;
  return id;
}

/** The header for a call that belongs to `parent`. `spanId`: 64 random bits. */
export function childTraceParent(parent: TraceParent, spanId: bigint): string {
  return `00-${parent.traceId}-${spanIdOf(spanId)}-${HEX[parent.flags]!}`;
}

/** The metadata of a call that is made with `metadata`: its trace context is the child's. */
export function childMetadata(
  metadata: Metadata,
  chance: { readonly seed: () => bigint },
): Metadata {
  if (metadata.length === 0) return metadata;
  const parent = parentOf(metadata);
  const child: (readonly [string, string])[] = [];
  for (const entry of metadata)
    if (entry[0] === TRACEPARENT) {
      if (parent !== undefined) child.push([TRACEPARENT, childTraceParent(parent, chance.seed())]);
    } else if (entry[0] !== TRACESTATE || parent !== undefined) child.push(entry);
  return child;
}

/** The trace that the metadata names once, and well formed. */
function parentOf(metadata: Metadata): TraceParent | undefined {
  let value: string | undefined;
  for (const entry of metadata)
    if (entry[0] === TRACEPARENT) {
      if (value !== undefined) return undefined;
      value = entry[1];
    }
  return value === undefined ? undefined : parseTraceParent(value);
}

function isHex(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index);
    const isDigit = unit >= 0x30 && unit <= 0x39;
    const isLetter = unit >= 0x61 && unit <= 0x66;
    if (!isDigit && !isLetter) return false;
  }
  return true;
}

function isZero(hex: string): boolean {
  return ALL_ZERO.startsWith(hex);
}
