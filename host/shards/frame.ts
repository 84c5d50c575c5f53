// Frames are what one shard sends to another, and FrameReader is what receives them. This file encodes them for a
// message port, as a flat list of plain values: copying such a list between threads costs less than lists of objects,
// or than packing it into bytes (docs/decisions/0014-shards-and-their-frames.md). A list holds what one side sends in a
// turn of its event loop, calls and outcomes mixed, each with the number of its call. Common frames go through shared
// memory instead (ring-frames.ts).
import type { Metadata, Refusal, Reply } from '@svc/model/call';
import type { Body, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { EntityRef } from '@svc/model/entity';
import { type FaultCause, GuestFault, type WasmFrame } from '@svc/model/guest-fault';
import type { LimitName } from '@svc/model/limit-name';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';

/** Frames one after the other, each with its kind and the number of its call. */
export type Frames = (string | number | Uint8Array | null)[];
/** A call is answered by a reply, a request by a response, and either may be refused. */
export type FrameOutcome = Reply | Refusal | EndpointResponse;

/** The arguments of a call of an engine. */
export type ForwardedCall = readonly [
  target: EntityRef,
  name: string,
  input: string,
  metadata: Metadata,
  idempotencyKey: string | undefined,
];

/** Cost of a request, which is sent before its outcome or its failure. */
export interface RequestCost {
  /** Units of fuel. */
  readonly fuel: number;
  /** Whether the first entity that its handler called belongs to another shard than the one that served it. */
  readonly wasMisrouted: boolean;
}

export interface FrameReader {
  call(number: number, call: ForwardedCall): void;
  request(number: number, request: EndpointRequest, metadata: Metadata): void;
  /** The cost of a request whose outcome or failure comes next. */
  cost(number: number, cost: RequestCost): void;
  /** The request was cancelled: nobody waits for its answer any more. */
  cancel(number: number, reason: GuestFault): void;
  /** The answer of the call or request, which has more than SMALL_BYTES (kept-bytes.ts), has arrived. */
  taken(number: number): void;
  outcome(number: number, outcome: FrameOutcome): void;
  /**
   * The call or request has failed with an SvcError, a GuestFault, or another Error, whose message is then the stack of
   * the original. `isLogged`: the other side's log has the module's message.
   */
  failure(number: number, failure: Error, isLogged: boolean): void;
}

const KIND = {
  call: 0,
  reply: 1,
  refusal: 2,
  svcError: 3,
  guestFault: 4,
  bug: 5,
  response: 6,
  cost: 7,
  cancel: 8,
  taken: 9,
} as const;

export function writeCall(
  frames: Frames,
  number: number,
  [{ component, id }, name, input, metadata, key]: ForwardedCall,
): void {
  frames.push(KIND.call, number, component, id, name, input, key ?? null, metadata.length);
  for (const [field, value] of metadata) frames.push(field, value);
}

export function writeOutcome(frames: Frames, number: number, outcome: FrameOutcome): void {
  if (outcome.kind === 'reply') {
    frames.push(KIND.reply, number, outcome.json);
    return;
  }
  if (outcome.kind === 'response') {
    const { status, headers, body } = outcome;
    frames.push(KIND.response, number, status, headers.length);
    for (const [name, value] of headers) frames.push(name, value);
    frames.push(body.kind, contentOf(body));
    return;
  }
  const { code, message, details, otherCode } = outcome;
  frames.push(KIND.refusal, number, code, message, details ?? null, otherCode ?? null);
}

export function writeCost(
  frames: Frames,
  number: number,
  { fuel, wasMisrouted }: RequestCost,
): void {
  frames.push(KIND.cost, number, fuel, wasMisrouted ? 1 : 0);
}

export function writeCancel(frames: Frames, number: number, reason: GuestFault): void {
  frames.push(KIND.cancel, number, reason.faultCause, reason.message, reason.limit ?? null);
}

export function writeTaken(frames: Frames, number: number): void {
  frames.push(KIND.taken, number);
}

/** Writes the failure without its `cause`, which stays in this shard. */
export function writeFailure(
  frames: Frames,
  number: number,
  failure: unknown,
  isLogged: boolean,
): void {
  if (failure instanceof SvcError)
    frames.push(KIND.svcError, number, failure.code, failure.message, failure.retryAfterMs ?? null);
  else if (failure instanceof GuestFault) {
    const { faultCause, message, limit, guestMessage, logLines = [], frames: wasmFrames } = failure;
    frames.push(KIND.guestFault, number, faultCause, message, limit ?? null, guestMessage ?? null);
    frames.push(
      wasmFrames === undefined ? null : framesText(wasmFrames),
      logLines.length,
      ...logLines,
    );
    frames.push(isLogged ? 1 : 0);
  } else {
    const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
    frames.push(KIND.bug, number, text);
  }
}

/** Calls the reader with each frame, in the order in which they were written. */
export function readFrames(frames: Frames, reader: FrameReader): void {
  let at = 0;
  const number = () => frames[at++] as number;
  const text = () => frames[at++] as string;
  const numberIfAny = () => (frames[at++] ?? undefined) as number | undefined;
  const textIfAny = () => (frames[at++] ?? undefined) as string | undefined;
  while (at < frames.length) {
    const kind = number();
    const call = number();
    switch (kind) {
      case KIND.call: {
        const target = { component: text(), id: text() };
        const [name, input, key] = [text(), text(), textIfAny()];
        const metadata: [string, string][] = [];
        for (let left = number(); left > 0; left--) metadata.push([text(), text()]);
        reader.call(call, [target, name, input, metadata, key]);
        break;
      }
      case KIND.reply:
        reader.outcome(call, { kind: 'reply', json: text() });
        break;
      case KIND.refusal:
        reader.outcome(call, refusal(text(), text(), textIfAny(), textIfAny()));
        break;
      case KIND.svcError:
        reader.failure(call, svcError(text() as SvcErrorCode, text(), numberIfAny()), true);
        break;
      case KIND.response: {
        const status = number();
        const headers: [string, string][] = [];
        for (let left = number(); left > 0; left--) headers.push([text(), text()]);
        const body = bodyOf(text() as Body['kind'], frames[at++] as string | Uint8Array | null);
        reader.outcome(call, { kind: 'response', status, headers, body });
        break;
      }
      case KIND.cost:
        reader.cost(call, { fuel: number(), wasMisrouted: number() === 1 });
        break;
      case KIND.cancel: {
        const [faultCause, message] = [text() as FaultCause, text()];
        const limit = textIfAny() as LimitName | undefined;
        reader.cancel(call, new GuestFault(faultCause, message, { limit }));
        break;
      }
      case KIND.taken:
        reader.taken(call);
        break;
      case KIND.guestFault: {
        const [faultCause, message] = [text() as FaultCause, text()];
        const [limit, guestMessage] = [textIfAny() as LimitName | undefined, textIfAny()];
        const wasmFrames = framesOfText(textIfAny());
        const lines = Array.from({ length: number() }, text);
        const logLines = lines.length === 0 ? undefined : lines;
        const options = { limit, guestMessage, logLines, frames: wasmFrames };
        reader.failure(call, new GuestFault(faultCause, message, options), number() === 1);
        break;
      }
      default:
        reader.failure(call, new Error(text()), true);
    }
  }
}

function contentOf(body: Body): string | Uint8Array | null {
  if (body.kind === 'none') return null;
  return body.kind === 'bytes' ? body.bytes : body.text;
}

function bodyOf(kind: Body['kind'], content: string | Uint8Array | null): Body {
  if (content === null || kind === 'none') return { kind: 'none' };
  return typeof content === 'string'
    ? { kind: kind === 'json' ? 'json' : 'text', text: content }
    : { kind: 'bytes', bytes: content };
}

/** Text like `12:6699 7:512`: the function and the offset of each frame of the stack. */
function framesText(frames: readonly WasmFrame[]): string {
  return frames.map(({ functionIndex, offset }) => `${functionIndex}:${offset}`).join(' ');
}

function framesOfText(text: string | undefined): readonly WasmFrame[] | undefined {
  return text?.split(' ').map((frame) => {
    const [functionIndex, offset] = frame.split(':').map(Number);
    return { functionIndex: functionIndex!, offset: offset! };
  });
}

function svcError(code: SvcErrorCode, message: string, retryAfterMs: number | undefined): SvcError {
  return new SvcError(code, message, { retryAfterMs });
}

function refusal(
  code: string,
  message: string,
  details: string | undefined,
  otherCode: string | undefined,
): Refusal {
  return {
    kind: 'refusal',
    code: code as Refusal['code'],
    message,
    ...(details === undefined ? {} : { details }),
    ...(otherCode === undefined ? {} : { otherCode }),
  };
}
