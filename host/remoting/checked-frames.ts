// CheckedFrames: frames of another node are checked before frame.ts reads them, which trusts them. After the check every frame is
// complete, and every value has its type and its range; texts may be any.
//
// The side that has connected calls, and the side that has accepted serves, so each side takes the frames of the other's part
// only. A code or a limit of a later version of the runtime is replaced, so that an answer is not lost for it.
import { REFUSAL_CODES } from '@svc/contract';
import { FAULT_CAUSES } from '@svc/model/guest-fault';
import { LIMIT_NAMES } from '@svc/model/limit-name';
import { SLICE_COUNT } from '@svc/model/slice';
import { SVC_ERROR_CODES, type SvcErrorCode } from '@svc/kit/svc-error';
import { FRAME_KINDS as KIND } from '../shards/frame.ts';
import type { Scalar } from './flat-list.ts';
import { RefusedMessage } from './refused-message.ts';

/** The part of this side. `serves`: it has accepted the connection. */
export interface ReceivingSide {
  readonly serves: boolean;
  /** Number of parameters in the path of each route; undefined: no requests are taken, because the modules differ. */
  readonly routes: readonly number[] | undefined;
}

const NUMBER_MAX = 0x7fff_ffff;
const CODES: ReadonlySet<string> = new Set(SVC_ERROR_CODES);
const CAUSES: ReadonlySet<string> = new Set(FAULT_CAUSES);
const LIMITS: ReadonlySet<string> = new Set(LIMIT_NAMES);
const REFUSALS: ReadonlySet<string> = new Set([...REFUSAL_CODES, 'OTHER']);
/** Form of codes, of which later versions may have more. */
const CODE = /^SVC_[A-Z_]{1,64}$/;
const WASM_FRAMES = /^\d{1,10}:\d{1,10}(?: \d{1,10}:\d{1,10})*$/;
const WASM_FRAMES_UNITS_MAX = 100_000;

/** Checks all frames of a message, and replaces values that this version does not know. Throws RefusedMessage. */
export function checkFrames(frames: Scalar[], side: ReceivingSide): void {
  const check = new FrameCheck(frames, side);
  while (!check.isAtEnd) check.frame();
}

class FrameCheck {
  readonly #frames: Scalar[];
  readonly #side: ReceivingSide;
  #at = 0;

  constructor(frames: Scalar[], side: ReceivingSide) {
    this.#frames = frames;
    this.#side = side;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#frames.length;
  }

  frame(): void {
    const kind = this.#integer(KIND.look);
    if (kind === KIND.look) {
      this.#integer(0);
      return;
    }
    if (kind === KIND.head) {
      if (this.#side.serves) throw notTaken(kind);
      this.#integer(SLICE_COUNT - 1);
      this.#integer(Number.MAX_SAFE_INTEGER);
      return;
    }
    this.#integer(NUMBER_MAX);
    if (this.#side.serves) this.#asked(kind);
    else this.#answered(kind);
  }

  #asked(kind: number): void {
    if (kind === KIND.call) {
      for (let texts = 4; texts > 0; texts--) this.#text();
      this.#textIfAny();
      this.#pairs();
    } else if (kind === KIND.request) this.#request();
    else if (kind === KIND.cancel) {
      this.#known(CAUSES);
      this.#text();
      this.#limit();
    } else if (kind !== KIND.taken) throw notTaken(kind);
  }

  #request(): void {
    const { routes } = this.#side;
    if (routes === undefined) throw new RefusedMessage('sent a request for another module');
    const parameters = routes[this.#integer(routes.length - 1)]!;
    this.#text();
    this.#text();
    this.#textIfAny();
    this.#body();
    if (this.#integer(NUMBER_MAX) !== parameters)
      throw new RefusedMessage('sent a request with other parameters than its route has');
    for (let left = parameters; left > 0; left--) this.#text();
    this.#pairs();
    this.#pairs();
  }

  #answered(kind: number): void {
    switch (kind) {
      case KIND.reply:
      case KIND.bug:
        this.#text();
        break;
      case KIND.refusal:
        this.#known(REFUSALS);
        this.#text();
        this.#textIfAny();
        this.#textIfAny();
        break;
      case KIND.svcError:
        this.#svcError();
        break;
      case KIND.guestFault: {
        this.#known(CAUSES);
        this.#text();
        this.#limit();
        this.#textIfAny();
        this.#wasmFrames();
        for (let left = this.#integer(NUMBER_MAX); left > 0; left--) this.#text();
        this.#integer(1);
        break;
      }
      case KIND.response:
        if (this.#integer(599) < 200) throw new RefusedMessage('sent a status below 200');
        this.#pairs();
        this.#body();
        break;
      case KIND.cost:
        this.#integer(Number.MAX_SAFE_INTEGER);
        this.#integer(1);
        break;
      default:
        throw notTaken(kind);
    }
  }

  /** A code that is not known becomes SVC_CALL_UNCERTAIN: it may stand for a command that was executed. */
  #svcError(): void {
    const code = this.#text();
    const isKnown = CODES.has(code);
    if (!isKnown) {
      if (!CODE.test(code)) throw new RefusedMessage('sent an error without a code');
      this.#frames[this.#at - 1] = 'SVC_CALL_UNCERTAIN' satisfies SvcErrorCode;
    }
    const message = this.#text();
    if (!isKnown) this.#frames[this.#at - 1] = `${code}: ${message}`;
    const retryAfterMs = this.#next();
    if (retryAfterMs !== null && !Number.isFinite(retryAfterMs))
      throw new RefusedMessage('sent a time that is none');
  }

  #body(): void {
    const kind = this.#text();
    const content = this.#next();
    const isRight =
      kind === 'none'
        ? content === null
        : kind === 'bytes'
          ? content instanceof Uint8Array
          : (kind === 'json' || kind === 'text') &&
            typeof content === 'string' &&
            content.isWellFormed();
    if (!isRight) throw new RefusedMessage('sent a body that has not its kind');
  }

  #wasmFrames(): void {
    const text = this.#textIfAny();
    if (text === null) return;
    if (text.length > WASM_FRAMES_UNITS_MAX || !WASM_FRAMES.test(text))
      throw new RefusedMessage('sent a call stack that is none');
  }

  #limit(): void {
    const limit = this.#textIfAny();
    if (limit !== null && !LIMITS.has(limit)) this.#frames[this.#at - 1] = null;
  }

  #pairs(): void {
    for (let left = this.#integer(NUMBER_MAX); left > 0; left--) {
      this.#text();
      this.#text();
    }
  }

  #known(values: ReadonlySet<string>): void {
    if (!values.has(this.#text())) throw new RefusedMessage('sent a name that is not known');
  }

  #next(): Scalar {
    if (this.isAtEnd) throw new RefusedMessage('sent a frame that ends too early');
    return this.#frames[this.#at++]!;
  }

  /** Returns an integer from 0 to `max`. */
  #integer(max: number): number {
    const value = this.#next();
    if (typeof value === 'number' && value >= 0 && value <= max && Number.isInteger(value))
      return value;
    throw new RefusedMessage('sent a number that is not one of those that are allowed there');
  }

  #text(): string {
    const value = this.#next();
    if (typeof value === 'string') return value;
    throw new RefusedMessage('sent something else where a text belongs');
  }

  #textIfAny(): string | null {
    const value = this.#next();
    if (value === null || typeof value === 'string') return value;
    throw new RefusedMessage('sent something else where a text belongs');
  }
}

function notTaken(kind: number): RefusedMessage {
  return new RefusedMessage(`sent a frame of the kind ${kind}, which this side does not take`);
}
