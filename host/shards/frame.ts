// Frames: calls of entities and their outcomes on their way from one shard to another, in a flat list of plain
// values: copying such a list between threads costs less than lists of objects, or than packing it into bytes
// (docs/decisions/0014-shards-and-their-frames.md). A list holds what one side has to say in a turn of its event
// loop, calls and outcomes mixed, each with the number of its call.
import type { Metadata, Refusal, Reply } from '../model/call.ts';
import type { EntityRef } from '../model/entity.ts';
import { type FaultCause, GuestFault, type WasmFrame } from '../model/guest-fault.ts';
import type { LimitName } from '../model/limit-name.ts';
import { SvcError, type SvcErrorCode } from '../model/svc-error.ts';

export type Frames = (string | number | null)[];

/** The arguments of a call of an engine. */
export type ForwardedCall = readonly [
  target: EntityRef,
  name: string,
  input: string,
  metadata: Metadata,
  idempotencyKey: string | undefined,
];

export interface FrameReader {
  call(number: number, call: ForwardedCall): void;
  outcome(number: number, outcome: Reply | Refusal): void;
  /** What was thrown: SvcError, GuestFault, or any other as an Error with its stack for a message. */
  failure(number: number, failure: Error): void;
}

const KIND = { call: 0, reply: 1, refusal: 2, svcError: 3, guestFault: 4, bug: 5 } as const;

export function writeCall(
  frames: Frames,
  number: number,
  [{ component, id }, name, input, metadata, key]: ForwardedCall,
): void {
  frames.push(KIND.call, number, component, id, name, input, key ?? null, metadata.length);
  for (const [field, value] of metadata) frames.push(field, value);
}

export function writeOutcome(frames: Frames, number: number, outcome: Reply | Refusal): void {
  if (outcome.kind === 'reply') {
    frames.push(KIND.reply, number, outcome.json);
    return;
  }
  const { code, message, details, otherCode } = outcome;
  frames.push(KIND.refusal, number, code, message, details ?? null, otherCode ?? null);
}

/** The cause of a failure, and what stands in its `cause`, stay behind. */
export function writeFailure(frames: Frames, number: number, failure: unknown): void {
  if (failure instanceof SvcError)
    frames.push(KIND.svcError, number, failure.code, failure.message, failure.retryAfterMs ?? null);
  else if (failure instanceof GuestFault) {
    const { faultCause, message, limit, guestMessage, frames: places } = failure;
    frames.push(KIND.guestFault, number, faultCause, message, limit ?? null, guestMessage ?? null);
    frames.push(places === undefined ? null : placesText(places));
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
        reader.failure(call, svcError(text() as SvcErrorCode, text(), numberIfAny()));
        break;
      case KIND.guestFault: {
        const [faultCause, message] = [text() as FaultCause, text()];
        const [limit, guestMessage] = [textIfAny() as LimitName | undefined, textIfAny()];
        const options = { limit, guestMessage, frames: placesOfText(textIfAny()) };
        reader.failure(call, new GuestFault(faultCause, message, options));
        break;
      }
      default:
        reader.failure(call, new Error(text()));
    }
  }
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
