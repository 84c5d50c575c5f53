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
const SAMPLED = 0x01;
const ALL_ZERO = '0'.repeat(32);

export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly parentId: string;
  readonly flags: number;
}

/** What was read or made last: a request and the calls it makes carry the same. */
let last: { readonly value: string; readonly parent: TraceParent | undefined } = {
  value: '',
  parent: undefined,
};

/** Reads a `traceparent`; undefined when it is not valid. */
export function parseTraceParent(value: string): TraceParent | undefined {
  if (value !== last.value) last = { value, parent: readTraceParent(value) };
  return last.parent;
}

/** As `parseTraceParent`, where what was read last does not matter. */
export function readTraceParent(value: string): TraceParent | undefined {
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
const DIGITS = '0123456789abcdef';
const TRACE_ID_AT = 3;
const PARENT_ID_AT = 36;
const FLAGS_AT = 54;
const SPAN_ID_LENGTH = 16;
/** The header that is being written, so that it becomes one flat string, without parts to be joined. */
const header = Buffer.from(`00-${ALL_ZERO}-${'0'.repeat(SPAN_ID_LENGTH)}-00`);
/** Whose trace id stands in it. */
let headerTraceId = ALL_ZERO;

/** 16 lower-case hexadecimal digits of 64 random bits, never all zero. */
export function spanIdOf(seed: bigint): string {
  writeSpanId(seed, PARENT_ID_AT);
  return header.toString('latin1', PARENT_ID_AT, PARENT_ID_AT + SPAN_ID_LENGTH);
}

/** The header of a trace that begins here: sampled, as it is to be recorded. */
export function newTraceParent(chance: { readonly seed: () => bigint }): string {
  writeSpanId(chance.seed(), TRACE_ID_AT);
  writeSpanId(chance.seed(), TRACE_ID_AT + SPAN_ID_LENGTH);
  const value = headerWith(SAMPLED, chance.seed());
  headerTraceId = value.slice(TRACE_ID_AT, PARENT_ID_AT - 1);
  const parentId = value.slice(PARENT_ID_AT, PARENT_ID_AT + SPAN_ID_LENGTH);
  last = { value, parent: { traceId: headerTraceId, parentId, flags: SAMPLED } };
  return value;
}

/** The header for a call that belongs to `parent`. `spanId`: 64 random bits. */
export function childTraceParent({ traceId, flags }: TraceParent, spanId: bigint): string {
  if (traceId !== headerTraceId) {
    header.write(traceId, TRACE_ID_AT, 'latin1');
    headerTraceId = traceId;
  }
  return headerWith(flags, spanId);
}

function headerWith(flags: number, spanId: bigint): string {
  writeSpanId(spanId, PARENT_ID_AT);
  header[FLAGS_AT] = DIGITS.charCodeAt(flags);
  return header.toString('latin1');
}

function writeSpanId(seed: bigint, start: number): void {
  // An all-zero id is invalid, so that one draw in 2^64 becomes 1.
  seedWord[0] = seed === 0n ? 1n : seed;
  for (let index = 7, at = start; index >= 0; index--) {
    const byte = seedBytes[index]!;
    header[at++] = DIGITS.charCodeAt(byte >> 4);
    header[at++] = DIGITS.charCodeAt(byte & 15);
  }
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

/** The id of the trace that a call with this metadata belongs to. */
export function traceIdOf(metadata: Metadata): string | undefined {
  return metadata.length === 0 ? undefined : parentOf(metadata)?.traceId;
}

/** The text of a `traceparent` that is known to be there once at most, as in what `childMetadata` makes. */
export function traceParentOf(metadata: Metadata): string | undefined {
  for (const entry of metadata) if (entry[0] === TRACEPARENT) return entry[1];
  return undefined;
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
