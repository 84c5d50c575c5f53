// The trace of a request (W3C Trace Context, level 2), passed on from call to call with the same trace id and
// a parent id of the call's own. The header comes from callers and modules, so it is read strictly and
// without a regular expression; an invalid header is dropped, together with `tracestate`.

/** The names and values that a call carries, such as `traceparent`. */
export type TraceMetadata = readonly (readonly [name: string, value: string])[];

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';
/** Version, trace id, parent id and flags, in hexadecimal digits with a dash between them. */
const TRACEPARENT_LENGTH = 55;
/** Flags that have a meaning: `sampled` and `random trace id`. */
const KNOWN_FLAGS = 0x03;
const SAMPLED = 0x01;
/** Version that the standard forbids. */
const FORBIDDEN_VERSION = 0xff;
/** Hexadecimal digits of 64 bits. */
const WORD_DIGITS = 16;
const TRACE_ID_AT = 3;
const SPAN_ID_AT = 36;
const FLAGS_AT = 53;

/** Position of a request or a call in a trace. */
export interface TraceParent {
  readonly trace: TraceId;
  /** 64 bits, not all zero. */
  readonly spanId: bigint;
  readonly flags: number;
}

/**
 * Two words of 64 bits, not both zero. Spans of one trace share the object, so comparing and storing it needs no
 * text.
 */
export interface TraceId {
  readonly high: bigint;
  readonly low: bigint;
}

export interface RandomBits {
  /** Returns 64 random bits. */
  next64(): bigint;
}

/** The header that was read or created last, which is likely the next one that is read; see `traceParentText`. */
let last: { readonly value: string; readonly parent: TraceParent | undefined } = {
  value: '',
  parent: undefined,
};

/** Reads a `traceparent`; undefined when it is not valid. */
export function parseTraceParent(value: string): TraceParent | undefined {
  if (value !== last.value) last = { value, parent: readTraceParent(value) };
  return last.parent;
}

function readTraceParent(value: string): TraceParent | undefined {
  if (value.length < TRACEPARENT_LENGTH) return undefined;
  if (value[2] !== '-' || value[35] !== '-' || value[52] !== '-') return undefined;
  const version = hexNumber(value, 0, 2);
  const high = hexWord(value, TRACE_ID_AT);
  const low = hexWord(value, TRACE_ID_AT + WORD_DIGITS);
  const spanId = hexWord(value, SPAN_ID_AT);
  const flags = hexNumber(value, FLAGS_AT, TRACEPARENT_LENGTH);
  if (version === -1 || version === FORBIDDEN_VERSION || flags === -1) return undefined;
  if (high === undefined || low === undefined || (high === 0n && low === 0n)) return undefined;
  if (spanId === undefined || spanId === 0n) return undefined;
  // Later versions may append fields; version 0 has none.
  if (value.length > TRACEPARENT_LENGTH && (version === 0 || value[55] !== '-')) return undefined;
  return { trace: { high, low }, spanId, flags: flags & KNOWN_FLAGS };
}

/** Draws a span id. Zero is not a valid id: one draw in 2^64 becomes 1. */
export function newSpanId(random: RandomBits): bigint {
  const bits = random.next64();
  return bits === 0n ? 1n : bits;
}

/** Starts a trace, which is sampled because it is recorded. */
export function newTraceParent(random: RandomBits): TraceParent {
  const trace = { high: newSpanId(random), low: newSpanId(random) };
  return { trace, spanId: newSpanId(random), flags: SAMPLED };
}

/** Creates a child span of `parent`. */
export function childTraceParent({ trace, flags }: TraceParent, random: RandomBits): TraceParent {
  return { trace, spanId: newSpanId(random), flags };
}

/** Buffer of 64 bits, in big-endian order on every machine. */
const word = new DataView(new ArrayBuffer(8));
const wordBytes = new Uint8Array(word.buffer);
const DIGITS = '0123456789abcdef';
/** Buffer of the header being written, so that the header becomes one flat string. */
const header = Buffer.from(`00-${'0'.repeat(2 * WORD_DIGITS)}-${'0'.repeat(WORD_DIGITS)}-00`);
/** Trace whose id the buffer contains. */
let headerTrace: TraceId | undefined;

/** Returns the header `traceparent`. It is cached, since it is likely the next one that is read. */
export function traceParentText(parent: TraceParent): string {
  const value = headerOf(parent);
  last = { value, parent };
  return value;
}

/** Returns 32 lower-case hexadecimal digits. */
export function traceIdText(trace: TraceId): string {
  writeTraceId(trace);
  return header.toString('latin1', TRACE_ID_AT, TRACE_ID_AT + 2 * WORD_DIGITS);
}

/** Returns 16 lower-case hexadecimal digits. */
export function spanIdText(spanId: bigint): string {
  writeWord(spanId, SPAN_ID_AT);
  return header.toString('latin1', SPAN_ID_AT, SPAN_ID_AT + WORD_DIGITS);
}

/** Returns the trace of metadata; undefined unless the metadata contains exactly one valid `traceparent`. */
export function traceParentOf(metadata: TraceMetadata): TraceParent | undefined {
  const value = traceTextOf(metadata);
  return value === undefined ? undefined : parseTraceParent(value);
}

/** Returns the `traceparent` of metadata; undefined unless the metadata contains exactly one, which is valid. */
export function traceParentTextOf(metadata: TraceMetadata): string | undefined {
  const value = traceTextOf(metadata);
  return value === undefined || parseTraceParent(value) === undefined ? undefined : value;
}

/** Returns the trace id of metadata as 32 lower-case hexadecimal digits; undefined if it has no valid trace. */
export function traceIdOf(metadata: TraceMetadata): string | undefined {
  const value = traceTextOf(metadata);
  if (value === undefined || parseTraceParent(value) === undefined) return undefined;
  return value.slice(TRACE_ID_AT, TRACE_ID_AT + 2 * WORD_DIGITS);
}

/**
 * Returns the metadata of a call: `metadata` with the span `own` as its `traceparent`, if it has one. If `own` is
 * undefined, the call has neither `traceparent` nor `tracestate`.
 */
export function childMetadata(
  metadata: TraceMetadata,
  own: TraceParent | undefined,
): TraceMetadata {
  if (metadata.length === 0) return metadata;
  const child: (readonly [string, string])[] = [];
  for (const entry of metadata)
    if (entry[0] === TRACEPARENT) {
      if (own !== undefined) child.push([TRACEPARENT, headerOf(own)]);
    } else if (entry[0] !== TRACESTATE || own !== undefined) child.push(entry);
  return child;
}

/** Returns the value of `traceparent`; undefined unless the header occurs exactly once. */
function traceTextOf(metadata: TraceMetadata): string | undefined {
  let value: string | undefined;
  for (const entry of metadata)
    if (entry[0] === TRACEPARENT) {
      if (value !== undefined) return undefined;
      value = entry[1];
    }
  return value;
}

function headerOf({ trace, spanId, flags }: TraceParent): string {
  writeTraceId(trace);
  writeWord(spanId, SPAN_ID_AT);
  header[FLAGS_AT + 1] = DIGITS.charCodeAt(flags);
  return header.toString('latin1');
}

function writeTraceId(trace: TraceId): void {
  if (trace === headerTrace) return;
  writeWord(trace.high, TRACE_ID_AT);
  writeWord(trace.low, TRACE_ID_AT + WORD_DIGITS);
  headerTrace = trace;
}

function writeWord(value: bigint, start: number): void {
  word.setBigUint64(0, value);
  for (let index = 0, at = start; index < wordBytes.length; index++) {
    const byte = wordBytes[index]!;
    header[at++] = DIGITS.charCodeAt(byte >> 4);
    header[at++] = DIGITS.charCodeAt(byte & 15);
  }
}

/** Parses 16 lower-case hexadecimal digits; returns undefined for any other character. */
function hexWord(text: string, start: number): bigint | undefined {
  const middle = start + WORD_DIGITS / 2;
  const high = hexNumber(text, start, middle);
  const low = hexNumber(text, middle, start + WORD_DIGITS);
  if (high === -1 || low === -1) return undefined;
  word.setUint32(0, high);
  word.setUint32(4, low);
  return word.getBigUint64(0);
}

/** Parses at most eight lower-case hexadecimal digits; returns -1 for any other character. */
function hexNumber(text: string, start: number, end: number): number {
  let number = 0;
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x30 && unit <= 0x39) number = (number << 4) | (unit - 0x30);
    else if (unit >= 0x61 && unit <= 0x66) number = (number << 4) | (unit - 0x57);
    else return -1;
  }
  return number >>> 0;
}
