// PeerPort: one of the two ends between two shards. It sends calls of the other's entities, and requests that are about one,
// hears how they came out, and has done what the other sends. What one turn of the event loop has to say goes together: what
// is common through shared memory (ring-frames.ts), the rest in one message. While there is something to say or to
// hear, the memory is looked at in every turn of the event loop; soon after, this end sleeps, and is woken by a message.
// Invariants:
// I1  A call or request that was taken settles once: with its outcome, or with the end of the other side.
//     Its large answer is counted here until the other side says that it has come.
// I2  Whoever stops waiting for it leaves it to settle: none is kept longer than the other side works on it.
// I3  Of what fails with SVC_SHARD_UNAVAILABLE nothing was done; SVC_CALL_UNCERTAIN says that this is unknown.
import type { MessagePort } from 'node:worker_threads';
import type { Awaitable, Metadata, Refusal, Reply } from '../model/call.ts';
import type { ByteBudget } from '../model/byte-budget.ts';
import {
  type AnswerWaiter,
  type EndpointRequest,
  type EndpointResponse,
  outcomeBytes,
} from '../model/endpoint.ts';
import type { GuestFault } from '../model/guest-fault.ts';
import type { HandlerPlaces } from '../model/handler-places.ts';
import { KeptBytes, responseDropped, SMALL_BYTES } from '../model/kept-bytes.ts';
import { SvcError } from '../model/svc-error.ts';
import { FrameRingReader, FrameRingWriter } from './frame-ring.ts';
import {
  type ForwardedCall,
  type FrameOutcome,
  type FrameReader,
  type Frames,
  readFrames,
  type RequestCost,
  writeCall,
  writeCost,
  writeFailure,
  writeGiveUp,
  writeOutcome,
  writeTaken,
} from './frame.ts';
import { NumberedSlots, slotOf } from './numbered-slots.ts';
import type { PeerLink } from './peer-link.ts';
import { RingFrames } from './ring-frames.ts';
import { ServedRequest } from './served-request.ts';

/** Calls and requests that wait for the other shard; further calls are SVC_OVERLOADED, further requests stay here. */
export const CALLS_UNDER_WAY_MAX = 10_000;
/** UTF-16 units of their inputs; a call that is larger goes alone. */
const UNITS_UNDER_WAY_MAX = 128 * 1024 * 1024;
/** So many turns with nothing to say or to hear, some microseconds each, and this end sleeps. */
const IDLE_TURNS_MAX = 4;
/** Before all that wait. */
const SENT = -1;

type CallOutcome = Reply | Refusal;
type RequestOutcome = EndpointResponse | Refusal;

interface UnderWay {
  readonly resolve: (outcome: FrameOutcome) => void;
  readonly reject: (failure: unknown) => void;
  readonly units: number;
  /** Of a request. */
  readonly learnCost: ((cost: RequestCost) => void) | undefined;
  /** Which one it was of those that wait for the end of their turn; -1: it was sent at once. */
  readonly order: number;
}

export interface PeerPortOptions {
  /** Does a call of the other shard. */
  readonly serve: (call: ForwardedCall) => Awaitable<CallOutcome>;
  /** Does a request of the other shard. */
  readonly serveRequest: (
    request: EndpointRequest,
    metadata: Metadata,
    served: ServedRequest,
  ) => Awaitable<RequestOutcome>;
  /** Is told of each failure that the other shard will learn of. Says whether the log has what the module said of it. */
  readonly failed: (failure: unknown) => boolean;
  /** Is told of each failure that came from the other shard, which has counted it; `isTold` as `failed` says there. */
  readonly learned: (failure: Error, isTold: boolean) => void;
  /** What the service keeps for callers. */
  readonly unsent: ByteBudget;
  /** The other side has ended; every call under way has failed. */
  readonly ended: () => void;
}

export class PeerPort {
  readonly #port: MessagePort;
  readonly #outbox: FrameRingWriter;
  readonly #inbox: FrameRingReader;
  readonly #ring: RingFrames;
  readonly #options: PeerPortOptions;
  readonly #unitsMax: number;
  readonly #underWay = new NumberedSlots<UnderWay>();
  #unitsUnderWay = 0;
  /** How many there ever were that wait for the end of their turn, and how many of them were sent. */
  #count = 0;
  #sent = 0;
  /** Requests of the other side whose handlers are not done, by their numbers there. */
  readonly #served: (ServedRequest | undefined)[] = [];
  /** Large answers that were sent and that the other side has not taken yet, by their numbers there. */
  readonly #untaken = new Map<number, KeptBytes>();
  #hasEnded = false;
  /** Of this turn, not sent yet: what is not in the outbox. */
  #frames: Frames = [];
  /** Something since the last turn. */
  #hasSaid = false;
  #isAwake = false;
  #idleTurns = 0;
  readonly #reader: FrameReader;
  readonly #turn = (): void => {
    const hasHeard = this.#ring.read(this.#reader);
    this.#idleTurns = hasHeard || this.#hasSaid ? 0 : this.#idleTurns + 1;
    this.#send();
    this.#isAwake = !this.#hasEnded && (this.#idleTurns < IDLE_TURNS_MAX || !this.#inbox.sleep());
    if (this.#isAwake) setImmediate(this.#turn);
  };

  constructor(
    { port, outbox, inbox }: PeerLink,
    places: HandlerPlaces,
    options: PeerPortOptions,
    unitsMax = UNITS_UNDER_WAY_MAX,
  ) {
    this.#port = port;
    this.#outbox = new FrameRingWriter(outbox);
    this.#inbox = new FrameRingReader(inbox);
    this.#ring = new RingFrames(places, this.#outbox, this.#inbox);
    this.#options = options;
    this.#unitsMax = unitsMax;
    this.#reader = {
      call: (number, call) => this.#serve(number, call),
      request: (number, request, metadata) => this.#serveRequest(number, request, metadata),
      cost: (number, cost) => this.#underWay.get(number)?.learnCost?.(cost),
      giveUp: (number, reason) => {
        options.learned(reason, true);
        this.#servedOf(number)?.giveUp?.(reason);
      },
      taken: (number) => this.#hasTaken(number),
      outcome: (number, outcome) => {
        const underWay = this.#take(number);
        if (outcomeBytes(outcome) > SMALL_BYTES) this.#tellTaken(number);
        underWay?.resolve(outcome);
      },
      failure: (number, failure, isTold) => {
        options.learned(failure, isTold);
        this.#take(number)?.reject(failure);
      },
    };
    port.on('message', (frames: Frames | null) => {
      this.#wake();
      if (frames === null) return;
      // What it says may be about what was said in memory before.
      this.#ring.read(this.#reader);
      readFrames(frames, this.#reader);
    });
    port.on('close', () => this.#end());
    // What the other side has said before this one was there.
    this.#wake();
  }

  get callsUnderWay(): number {
    return this.#underWay.size;
  }

  /** Throws SVC_SHARD_UNAVAILABLE, SVC_OVERLOADED; rejects as the other engine does, and with SVC_CALL_UNCERTAIN. */
  call(call: ForwardedCall): Promise<CallOutcome> {
    if (this.#hasEnded) throw shardUnavailable();
    if (this.#underWay.size >= CALLS_UNDER_WAY_MAX)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${CALLS_UNDER_WAY_MAX} calls and requests wait for another shard of the service. Try again later.`,
      );
    const { length: units } = call[2];
    if (this.#unitsUnderWay > 0 && this.#unitsUnderWay + units > this.#unitsMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `Calls with inputs of ${this.#unitsUnderWay} characters wait for another shard of the service. ` +
          'Try again later.',
      );
    const { next: number } = this.#underWay;
    const isSent = this.#ring.writeCall(number, call);
    if (!isSent) writeCall(this.#frames, number, call);
    this.#unitsUnderWay += units;
    const order = isSent ? SENT : this.#count++;
    return this.#settled({ units, order, learnCost: undefined }) as Promise<CallOutcome>;
  }

  /**
   * Undefined: it is not one that is sent, and nothing was done. Rejects as a handler does, and with SVC_CALL_UNCERTAIN.
   * `hasStrayed`: is called when its handler has first asked for an entity that is not the other shard's.
   */
  request(
    request: EndpointRequest,
    metadata: Metadata,
    waiter: AnswerWaiter | undefined,
    hasStrayed: () => void,
  ): Promise<RequestOutcome> | undefined {
    if (this.#hasEnded || this.#underWay.size >= CALLS_UNDER_WAY_MAX) return undefined;
    const { next: number } = this.#underWay;
    if (!this.#ring.writeRequest(number, request, metadata)) return undefined;
    if (waiter !== undefined) waiter.giveUp = (reason) => this.#giveUp(number, reason);
    const learnCost = (cost: RequestCost): void => {
      if (waiter !== undefined) waiter.fuel += cost.fuel;
      if (cost.hasStrayed) hasStrayed();
    };
    return this.#settled({ units: 0, order: SENT, learnCost }) as Promise<RequestOutcome>;
  }

  /** Of what was written with the next number. */
  #settled(call: Omit<UnderWay, 'resolve' | 'reject'>): Promise<FrameOutcome> {
    this.#says();
    return new Promise((resolve, reject) => {
      this.#underWay.add({ ...call, resolve, reject });
    });
  }

  #giveUp(number: number, reason: GuestFault): void {
    if (this.#hasEnded || this.#underWay.get(number) === undefined) return;
    writeGiveUp(this.#frames, number, reason);
    this.#says();
  }

  #tellTaken(number: number): void {
    if (this.#hasEnded) return;
    writeTaken(this.#frames, number);
    this.#says();
  }

  #hasTaken(number: number): void {
    this.#untaken.get(number)?.free();
    this.#untaken.delete(number);
  }

  /** False: there is no room for it. What is small is not counted: what may be under way bounds it. */
  #countUntaken(number: number, bytes: number, kept: KeptBytes): boolean {
    if (this.#hasEnded || bytes <= SMALL_BYTES) kept.free();
    else if (kept.fits(bytes)) this.#untaken.set(number, kept);
    else return false;
    return true;
  }

  #serve(number: number, call: ForwardedCall): void {
    let outcome: Awaitable<CallOutcome>;
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

  #serveRequest(number: number, request: EndpointRequest, metadata: Metadata): void {
    const served = new ServedRequest(number, new KeptBytes(this.#options.unsent));
    let outcome: Awaitable<RequestOutcome>;
    try {
      outcome = this.#options.serveRequest(request, metadata, served);
    } catch (error) {
      return this.#failRequest(number, served, error);
    }
    if (!(outcome instanceof Promise)) return this.#respond(number, served, outcome);
    this.#served[slotOf(number)] = served;
    outcome.then(
      (later) => this.#respond(number, served, later),
      (error: unknown) => this.#failRequest(number, served, error),
    );
  }

  #answer(number: number, outcome: CallOutcome): void {
    if (this.#hasEnded) return;
    if (!this.#countUntaken(number, outcomeBytes(outcome), new KeptBytes(this.#options.unsent))) {
      this.#fail(number, responseDropped());
      return;
    }
    if (outcome.kind !== 'reply' || !this.#ring.writeReply(number, outcome.json))
      writeOutcome(this.#frames, number, outcome);
    this.#says();
  }

  #fail(number: number, failure: unknown): void {
    const isTold = this.#options.failed(failure);
    if (this.#hasEnded) return;
    writeFailure(this.#frames, number, failure, isTold);
    this.#says();
  }

  #respond(number: number, served: ServedRequest, outcome: RequestOutcome): void {
    if (!this.#countUntaken(number, outcomeBytes(outcome), served.kept)) {
      this.#failRequest(number, served, responseDropped());
      return;
    }
    this.#forget(served);
    if (this.#hasEnded) return;
    if (outcome.kind !== 'response' || !this.#ring.writeResponse(number, outcome, served)) {
      writeCost(this.#frames, number, served);
      writeOutcome(this.#frames, number, outcome);
    }
    this.#says();
  }

  #failRequest(number: number, served: ServedRequest, failure: unknown): void {
    this.#forget(served);
    served.kept.free();
    if (!this.#hasEnded) writeCost(this.#frames, number, served);
    this.#fail(number, failure);
  }

  #servedOf(number: number): ServedRequest | undefined {
    const served = this.#served[slotOf(number)];
    return served?.number === number ? served : undefined;
  }

  #forget({ number }: ServedRequest): void {
    if (this.#servedOf(number) !== undefined) this.#served[slotOf(number)] = undefined;
  }

  /** Of what was said the other side learns after the callbacks of this turn of the event loop, if it sleeps. */
  #says(): void {
    this.#hasSaid = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#isAwake || this.#hasEnded) return;
    this.#isAwake = true;
    this.#idleTurns = 0;
    this.#inbox.wake();
    setImmediate(this.#turn);
  }

  #send(): void {
    if (!this.#hasSaid) return;
    this.#hasSaid = false;
    const mustWake = this.#outbox.wakesReader();
    const frames = this.#frames;
    if (frames.length > 0) {
      this.#frames = [];
      this.#sent = this.#count;
    } else if (!mustWake) return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(frames.length > 0 ? frames : null);
  }

  #take(number: number): UnderWay | undefined {
    const underWay = this.#underWay.take(number);
    this.#unitsUnderWay -= underWay?.units ?? 0;
    return underWay;
  }

  #end(): void {
    // The other side may have said more before it ended.
    this.#ring.read(this.#reader);
    this.#hasEnded = true;
    for (const number of this.#untaken.keys()) this.#hasTaken(number);
    for (const { order, reject } of this.#underWay.takeAll())
      reject(order < this.#sent ? uncertain() : shardUnavailable());
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
    'The shard to which the entity belongs ended while it worked on the call or request, so whether that was ' +
      'done is unknown. Look at the entity before it is made again, or give such requests an idempotency key.',
  );
}
