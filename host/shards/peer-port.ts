// PeerPort: one of the two ends between two shards. It sends calls of the other's entities and hears how they came
// out, and has the calls that the other sends done. What one turn of the event loop has to say goes in one
// message. Invariants:
// I1  A call that was taken settles once: with its outcome, or with the end of the other side.
// I2  Whoever stops waiting for a call leaves it to settle: none is kept longer than the other side works on it.
// I3  Of a call that fails with SVC_SHARD_UNAVAILABLE nothing was done; SVC_CALL_UNCERTAIN says that this is unknown.
import type { MessagePort } from 'node:worker_threads';
import {
  type ForwardedCall,
  type Frames,
  readFrames,
  writeCall,
  writeFailure,
  writeOutcome,
} from './frame.ts';
import type { Awaitable, Refusal, Reply } from '../model/call.ts';
import { SvcError } from '../model/svc-error.ts';

/** Calls that wait for the other shard; further ones are SVC_OVERLOADED. */
export const CALLS_UNDER_WAY_MAX = 10_000;
/** UTF-16 units of their inputs; a call that is larger goes alone. */
const UNITS_UNDER_WAY_MAX = 128 * 1024 * 1024;

type Outcome = Reply | Refusal;

interface UnderWay {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (failure: unknown) => void;
  readonly units: number;
  isSent: boolean;
}

export interface PeerPortOptions {
  /** Does a call of the other shard. */
  readonly serve: (call: ForwardedCall) => Awaitable<Outcome>;
  /** Is told of each failure that the other shard will learn of. */
  readonly failed: (failure: unknown) => void;
  /** Is told of each failure that came from the other shard, which was told of it itself. */
  readonly learned: (failure: Error) => void;
  /** The other side has ended; every call under way has failed. */
  readonly ended: () => void;
}

export class PeerPort {
  readonly #port: MessagePort;
  readonly #options: PeerPortOptions;
  readonly #unitsMax: number;
  readonly #underWay = new Map<number, UnderWay>();
  #unitsUnderWay = 0;
  #nextNumber = 0;
  #hasEnded = false;
  /** Of this turn, not sent yet. */
  #frames: Frames = [];
  /** Those of `#frames` that are calls. */
  #unsent: UnderWay[] = [];
  readonly #send = (): void => {
    const frames = this.#frames;
    this.#frames = [];
    for (const call of this.#unsent) call.isSent = true;
    this.#unsent = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(frames);
  };

  constructor(port: MessagePort, options: PeerPortOptions, unitsMax = UNITS_UNDER_WAY_MAX) {
    this.#port = port;
    this.#options = options;
    this.#unitsMax = unitsMax;
    const reader = {
      call: (number: number, call: ForwardedCall) => this.#serve(number, call),
      outcome: (number: number, outcome: Outcome) => this.#take(number)?.resolve(outcome),
      failure: (number: number, failure: Error) => {
        options.learned(failure);
        this.#take(number)?.reject(failure);
      },
    };
    port.on('message', (frames: Frames) => readFrames(frames, reader));
    port.on('close', () => this.#end());
  }

  get callsUnderWay(): number {
    return this.#underWay.size;
  }

  /** Throws SVC_SHARD_UNAVAILABLE, SVC_OVERLOADED; rejects as the other engine does, and with SVC_CALL_UNCERTAIN. */
  call(call: ForwardedCall): Promise<Outcome> {
    if (this.#hasEnded) throw shardUnavailable();
    if (this.#underWay.size >= CALLS_UNDER_WAY_MAX)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${CALLS_UNDER_WAY_MAX} calls wait for another shard of the service. Try again later.`,
      );
    const { length: units } = call[2];
    if (this.#unitsUnderWay > 0 && this.#unitsUnderWay + units > this.#unitsMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `Calls with inputs of ${this.#unitsUnderWay} characters wait for another shard of the service. ` +
          'Try again later.',
      );
    const number = this.#nextNumber++;
    writeCall(this.#framesOfTurn(), number, call);
    this.#unitsUnderWay += units;
    return new Promise((resolve, reject) => {
      const underWay = { resolve, reject, units, isSent: false };
      this.#underWay.set(number, underWay);
      this.#unsent.push(underWay);
    });
  }

  #serve(number: number, call: ForwardedCall): void {
    let outcome: Awaitable<Outcome>;
    try {
      outcome = this.#options.serve(call);
    } catch (error) {
      return this.#fail(number, error);
    }
    if (outcome instanceof Promise)
      outcome.then(
        (later) => this.#answer(number, later),
        (error: unknown) => this.#fail(number, error),
      );
    else this.#answer(number, outcome);
  }

  #answer(number: number, outcome: Outcome): void {
    if (!this.#hasEnded) writeOutcome(this.#framesOfTurn(), number, outcome);
  }

  #fail(number: number, failure: unknown): void {
    this.#options.failed(failure);
    if (!this.#hasEnded) writeFailure(this.#framesOfTurn(), number, failure);
  }

  /** What is added leaves after the callbacks of this turn of the event loop. */
  #framesOfTurn(): Frames {
    if (this.#frames.length === 0) setImmediate(this.#send);
    return this.#frames;
  }

  #take(number: number): UnderWay | undefined {
    const underWay = this.#underWay.get(number);
    this.#underWay.delete(number);
    this.#unitsUnderWay -= underWay?.units ?? 0;
    return underWay;
  }

  #end(): void {
    this.#hasEnded = true;
    const underWay = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { isSent, reject } of underWay) reject(isSent ? uncertain() : shardUnavailable());
    this.#options.ended();
  }
}

/** `backAtMs`: when the shard is started again, where that is known, as `performance.now()` counts. */
export function shardUnavailable(backAtMs?: number): SvcError {
  const retryAfterMs = backAtMs === undefined ? undefined : backAtMs - performance.now();
  return new SvcError(
    'SVC_SHARD_UNAVAILABLE',
    'The shard to which the entity belongs is being started again, and the call was not sent to it. ' +
      'Try again.',
    { retryAfterMs },
  );
}

function uncertain(): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    'The shard to which the entity belongs ended while the call was under way, so whether it was done is ' +
      'unknown. Look at the entity before it is made again, or give such calls an idempotency key.',
  );
}
