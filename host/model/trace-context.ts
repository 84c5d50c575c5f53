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
  const version = value.slice(0, 2);
  const traceId = value.slice(3, 35);
  const parentId = value.slice(36, 52);
  const flags = value.slice(53, 55);
  if (!isHex(version) || !isHex(traceId) || !isHex(parentId) || !isHex(flags)) return undefined;
  if (version === 'ff' || isZero(traceId) || isZero(parentId)) return undefined;
  // Later versions may append fields; this one has none.
  if (value.length > TRACEPARENT_LENGTH && (version === '00' || value[55] !== '-'))
    return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/** The header for a call that belongs to `parent`. `spanId`: 64 random bits. */
export function childTraceParent(parent: TraceParent, spanId: bigint): string {
  // An all-zero parent id is invalid, so that one draw in 2^64 becomes 1.
  const id = (BigInt.asUintN(64, spanId) || 1n).toString(16).padStart(16, '0');
  return `00-${parent.traceId}-${id}-${parent.flags.toString(16).padStart(2, '0')}`;
}

/** The metadata of a call that is made with `metadata`: its trace context is the child's. */
export function childMetadata(
  metadata: Metadata,
  chance: { readonly seed: () => bigint },
): Metadata {
  if (metadata.length === 0) return metadata;
  const headers = metadata.filter(([name]) => name === TRACEPARENT);
  const parent =
    headers.length === 1 && headers[0] !== undefined ? parseTraceParent(headers[0][1]) : undefined;
  const child: (readonly [string, string])[] = [];
  for (const entry of metadata)
    if (entry[0] === TRACEPARENT) {
      if (parent !== undefined) child.push([TRACEPARENT, childTraceParent(parent, chance.seed())]);
    } else if (entry[0] !== TRACESTATE || parent !== undefined) child.push(entry);
  return child;
}

function isHex(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
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
