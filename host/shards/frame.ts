// Frames are what one shard sends to another, and FrameReader is what receives them. This file encodes them for a
// message port, as a flat list of plain values: copying such a list between threads costs less than lists of objects,
// or than packing it into bytes (docs/decisions/0014-shards-and-their-frames.md). A list holds what one side sends in a
// turn of its event loop, calls and outcomes mixed, each with the number of its call. Common frames go through shared
// memory instead (ring-frames.ts). Nodes exchange the same lists over a socket (host/remoting).
import type { Metadata, Refusal, Reply } from '@svc/model/call';
import type { Body, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { EntityRef } from '@svc/model/entity';
import { type FaultCause, GuestFault, type WasmFrame } from '@svc/model/guest-fault';
import type { LimitName } from '@svc/model/limit-name';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';

/** Frames one after the other, each with its kind and the number of its call. */
export type Frames = (string | number | Uint8Array | null)[];
/** Content of a body. */
type Content = string | Uint8Array | null;
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
  /** Number of the last record of a slice that is on disk, as the other node knows it. Shards of a node send none. */
  head?(slice: number, off: number): void;
  /** The owners of slices have changed: look at the database. Shards of a node send none. */
  look?(): void;
  /**
   * The call or request has failed with an SvcError, a GuestFault, or another Error, whose message is then the stack of
   * the original. `isLogged`: the other side's log has the module's message.
   */
  failure(number: number, failure: Error, isLogged: boolean): void;
}

export const FRAME_KINDS = {
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
  request: 10,
  head: 11,
  look: 12,
} as const;
const KIND = FRAME_KINDS;

export function writeCall(
  frames: Frames,
  number: number,
  [{ component, id }, name, input, metadata, key]: ForwardedCall,
): void {
  frames.push(KIND.call, number, component, id, name, input, key ?? null, metadata.length);
  for (const [field, value] of metadata) frames.push(field, value);
}

/** Returns false, and writes nothing, if the body of the request was not read. */
export function writeRequest(
  frames: Frames,
  number: number,
  { route, parameters, query, headers, caller, body, idempotencyKey }: EndpointRequest,
  metadata: Metadata,
): boolean {
  if (body.kind === 'unread') return false;
  frames.push(KIND.request, number, route, query, caller, idempotencyKey ?? null);
  frames.push(body.kind, contentOf(body), parameters.length, ...parameters, headers.length);
  for (const [name, value] of headers) frames.push(name, value);
  frames.push(metadata.length);
  for (const [field, value] of metadata) frames.push(field, value);
  return true;
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

export function writeHead(frames: Frames, slice: number, off: number): void {
  frames.push(KIND.head, slice, off);
}

export function writeLook(frames: Frames): void {
  frames.push(KIND.look, 0);
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
  const from = new FrameCursor(frames);
  while (!from.isAtEnd) {
    const kind = from.number();
    const number = from.number();
    switch (kind) {
      case KIND.call: {
        const target = { component: from.text(), id: from.text() };
        const [name, input, key] = [from.text(), from.text(), from.textIfAny()];
        reader.call(number, [target, name, input, from.pairs(), key]);
        break;
      }
      case KIND.request:
        readRequest(from, number, reader);
        break;
      case KIND.cancel: {
        const [faultCause, message] = [from.text() as FaultCause, from.text()];
        const limit = from.textIfAny() as LimitName | undefined;
        reader.cancel(number, new GuestFault(faultCause, message, { limit }));
        break;
      }
      case KIND.taken:
        reader.taken(number);
        break;
      case KIND.head: {
        const off = from.number();
        reader.head?.(number, off);
        break;
      }
      case KIND.look:
        reader.look?.();
        break;
      default:
        readAnswer(kind, from, number, reader);
    }
  }
}

/** Reads the values of frames one by one. */
class FrameCursor {
  readonly #frames: Frames;
  #at = 0;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#frames.length;
  }

  number(): number {
    return this.#frames[this.#at++] as number;
  }

  text(): string {
    return this.#frames[this.#at++] as string;
  }

  numberIfAny(): number | undefined {
    return (this.#frames[this.#at++] ?? undefined) as number | undefined;
  }

  textIfAny(): string | undefined {
    return (this.#frames[this.#at++] ?? undefined) as string | undefined;
  }

  texts(): string[] {
    return Array.from({ length: this.number() }, () => this.text());
  }

  pairs(): [string, string][] {
    const pairs: [string, string][] = [];
    for (let left = this.number(); left > 0; left--) pairs.push([this.text(), this.text()]);
    return pairs;
  }

  body(): Body {
    const kind = this.text();
    const content = this.#frames[this.#at++] as Content;
    if (content === null || kind === 'none') return { kind: 'none' };
    return typeof content === 'string'
      ? { kind: kind === 'json' ? 'json' : 'text', text: content }
      : { kind: 'bytes', bytes: content };
  }
}

function readRequest(from: FrameCursor, number: number, reader: FrameReader): void {
  const [route, query, caller] = [from.number(), from.text(), from.text()];
  const [idempotencyKey, body, parameters] = [from.textIfAny(), from.body(), from.texts()];
  const headers = from.pairs();
  const request = { route, parameters, query, headers, caller, body, idempotencyKey };
  reader.request(number, request, from.pairs());
}

function readAnswer(kind: number, from: FrameCursor, number: number, reader: FrameReader): void {
  switch (kind) {
    case KIND.reply:
      reader.outcome(number, { kind: 'reply', json: from.text() });
      break;
    case KIND.refusal:
      reader.outcome(number, refusal(from.text(), from.text(), from.textIfAny(), from.textIfAny()));
      break;
    case KIND.svcError:
      reader.failure(
        number,
        svcError(from.text() as SvcErrorCode, from.text(), from.numberIfAny()),
        true,
      );
      break;
    case KIND.response: {
      const [status, headers] = [from.number(), from.pairs()];
      reader.outcome(number, { kind: 'response', status, headers, body: from.body() });
      break;
    }
    case KIND.cost:
      reader.cost(number, { fuel: from.number(), wasMisrouted: from.number() === 1 });
      break;
    case KIND.guestFault: {
      const [faultCause, message] = [from.text() as FaultCause, from.text()];
      const [limit, guestMessage] = [from.textIfAny() as LimitName | undefined, from.textIfAny()];
      const wasmFrames = framesOfText(from.textIfAny());
      const lines = from.texts();
      const logLines = lines.length === 0 ? undefined : lines;
      const options = { limit, guestMessage, logLines, frames: wasmFrames };
      reader.failure(number, new GuestFault(faultCause, message, options), from.number() === 1);
      break;
    }
    default:
      reader.failure(number, new Error(from.text()), true);
  }
}

function contentOf(body: Body): Content {
  if (body.kind === 'none') return null;
  return body.kind === 'bytes' ? body.bytes : body.text;
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
