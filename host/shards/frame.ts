// Frames: what one shard tells another and is not common enough for the memory that they share (ring-frames.ts), in a
// flat list of plain values: copying such a list between threads costs less than lists of objects, or than packing it into
// bytes (docs/decisions/0014-shards-and-their-frames.md). A list holds what one side has to say in a turn of its event
// loop, calls and outcomes mixed, each with the number of its call.
import type { Metadata, Refusal, Reply } from '../model/call.ts';
import type { Body, EndpointRequest, EndpointResponse } from '../model/endpoint.ts';
import type { EntityRef } from '../model/entity.ts';
import { type FaultCause, GuestFault, type WasmFrame } from '../model/guest-fault.ts';
import type { LimitName } from '../model/limit-name.ts';
import { SvcError, type SvcErrorCode } from '../model/svc-error.ts';

export type Frames = (string | number | Uint8Array | null)[];
/** Of a call a reply, of a request a response, of either a refusal. */
export type FrameOutcome = Reply | Refusal | EndpointResponse;

/** The arguments of a call of an engine. */
export type ForwardedCall = readonly [
  target: EntityRef,
  name: string,
  input: string,
  metadata: Metadata,
  idempotencyKey: string | undefined,
];

/** What is told of a request beside its outcome. */
export interface RequestCost {
  /** Units. */
  readonly fuel: number;
  /** Its handler has first asked for an entity that is not of the shard to which it was sent. */
  readonly hasStrayed: boolean;
}

export interface FrameReader {
  call(number: number, call: ForwardedCall): void;
  request(number: number, request: EndpointRequest, metadata: Metadata): void;
  /** Of a request whose outcome or failure comes next. */
  cost(number: number, cost: RequestCost): void;
  /** Nobody waits for the request any more. */
  giveUp(number: number, reason: GuestFault): void;
  /** The large answer of the request has come. */
  taken(number: number): void;
  outcome(number: number, outcome: FrameOutcome): void;
  /**
   * What was thrown: SvcError, GuestFault, or any other as an Error with its stack for a message. `isTold`: the log has
   * what the module said of it.
   */
  failure(number: number, failure: Error, isTold: boolean): void;
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
  giveUp: 8,
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

export function writeCost(frames: Frames, number: number, { fuel, hasStrayed }: RequestCost): void {
  frames.push(KIND.cost, number, fuel, hasStrayed ? 1 : 0);
}

export function writeGiveUp(frames: Frames, number: number, reason: GuestFault): void {
  frames.push(KIND.giveUp, number, reason.faultCause, reason.message, reason.limit ?? null);
}

export function writeTaken(frames: Frames, number: number): void {
  frames.push(KIND.taken, number);
}

/** The cause of a failure, and what stands in its `cause`, stay behind. */
export function writeFailure(
  frames: Frames,
  number: number,
  failure: unknown,
  isTold: boolean,
): void {
  if (failure instanceof SvcError)
    frames.push(KIND.svcError, number, failure.code, failure.message, failure.retryAfterMs ?? null);
  else if (failure instanceof GuestFault) {
    const { faultCause, message, limit, guestMessage, logLines = [], frames: places } = failure;
    frames.push(KIND.guestFault, number, faultCause, message, limit ?? null, guestMessage ?? null);
    frames.push(places === undefined ? null : placesText(places), logLines.length, ...logLines);
    frames.push(isTold ? 1 : 0);
  } else {
    const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
    frames.push(KIND.bug, number, text);
  }
}

/** What was written, in its order. */
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
        reader.cost(call, { fuel: number(), hasStrayed: number() === 1 });
        break;
      case KIND.giveUp: {
        const [faultCause, message] = [text() as FaultCause, text()];
        const limit = textIfAny() as LimitName | undefined;
        reader.giveUp(call, new GuestFault(faultCause, message, { limit }));
        break;
      }
      case KIND.taken:
        reader.taken(call);
        break;
      case KIND.guestFault: {
        const [faultCause, message] = [text() as FaultCause, text()];
        const [limit, guestMessage] = [textIfAny() as LimitName | undefined, textIfAny()];
        const places = placesOfText(textIfAny());
        const lines = Array.from({ length: number() }, text);
        const logLines = lines.length === 0 ? undefined : lines;
        const options = { limit, guestMessage, logLines, frames: places };
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

/** `12:6699 7:512`: the function and the offset of each. */
function placesText(places: readonly WasmFrame[]): string {
  return places.map(({ functionIndex, offset }) => `${functionIndex}:${offset}`).join(' ');
}

function placesOfText(text: string | undefined): readonly WasmFrame[] | undefined {
  return text?.split(' ').map((place) => {
    const [functionIndex, offset] = place.split(':').map(Number);
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
