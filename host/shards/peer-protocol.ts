// PeerProtocol is this shard's end of the protocol between two shards, of one node or of two. It sends calls of entities that the other shard
// owns, and requests that are about such an entity, and matches what comes back with its caller. It also serves the
// calls and requests of the other shard. How frames travel is the transport's concern (peer-transport.ts).
// Invariants:
// P1  Every call or request that was accepted settles once: with its outcome, its failure, or the end of the link.
// P2  SVC_SHARD_UNAVAILABLE means that nothing was done: the frame was never sent. SVC_CALL_UNCERTAIN means that this
//     is unknown: the frame may have arrived, and the link ended before the answer.
// P3  A cancelled request still settles, and is kept as long as the other side works on it. Calls are not cancelled.
// P4  A large answer counts against the service's memory budget until the other side has acknowledged it. The side that
//     sends it counts it.
import type { Awaitable, Metadata, Refusal, Reply } from '@svc/model/call';
import type { ByteBudget } from '@svc/model/byte-budget';
import {
  type AnswerWaiter,
  type EndpointRequest,
  type EndpointResponse,
  outcomeBytes,
} from '@svc/model/endpoint';
import type { GuestFault } from '@svc/model/guest-fault';
import { KeptBytes, responseDropped, SMALL_BYTES } from '@svc/model/kept-bytes';
import { SvcError } from '@svc/kit/svc-error';
import type { ForwardedCall, FrameOutcome, RequestCost } from './frame.ts';
import { NumberedSlots, slotOf } from './numbered-slots.ts';
import { callUncertain, type PeerKind, shardUnavailable } from './peer-failures.ts';
import type { PeerReceiver, PeerTransport, SendPosition } from './peer-transport.ts';
import { ServedRequest } from './served-request.ts';

/**
 * Maximum number of calls and requests that wait for the other shard. At this number further calls fail with
 * SVC_OVERLOADED, and further requests are handled by this shard.
 */
export const CALLS_IN_FLIGHT_MAX = 10_000;
/**
 * Maximum number of UTF-16 units in the inputs of all calls that wait. A call whose input alone has more is sent when
 * no other call waits.
 */
const UNITS_IN_FLIGHT_MAX = 128 * 1024 * 1024;

type CallOutcome = Reply | Refusal;
type RequestOutcome = EndpointResponse | Refusal;

/** A call or request that waits for the other shard's answer. */
interface InFlight {
  readonly resolve: (outcome: FrameOutcome) => void;
  readonly reject: (failure: unknown) => void;
  /** UTF-16 units of the input of a call; 0 for a request. */
  readonly units: number;
  /** Receives the cost of a request; undefined for a call. */
  readonly learnCost: ((cost: RequestCost) => void) | undefined;
  readonly position: SendPosition;
}

export interface PeerProtocolOptions {
  /** Serves a call of the other shard. */
  readonly serve: (call: ForwardedCall) => Awaitable<CallOutcome>;
  /** Serves a request of the other shard. */
  readonly serveRequest: (
    request: EndpointRequest,
    metadata: Metadata,
    served: ServedRequest,
  ) => Awaitable<RequestOutcome>;
  /**
   * Called with each failure of a call or request that this shard served. Returns whether this shard's log has the
   * module's message.
   */
  readonly failed: (failure: unknown) => boolean;
  /**
   * Called with each failure, and each reason of a cancellation, that was received: the other shard has counted it.
   * `isLogged`: whether the other shard's log has the module's message.
   */
  readonly learned: (failure: Error, isLogged: boolean) => void;
  /** Budget, shared by all shards, for the bytes held for callers until they have received their responses. */
  readonly unsent: ByteBudget;
  /** Called when the link has ended and every call in flight has failed. */
  readonly ended: () => void;
  /** Absent: the other side is a shard of this node. */
  readonly peer?: PeerKind;
  /** Receives the heads of slices that another node has named. */
  readonly head?: (slice: number, off: number) => void;
  /** Called when another node reports that owners of slices have changed. */
  readonly look?: () => void;
}

export class PeerProtocol {
  readonly #transport: PeerTransport;
  readonly #options: PeerProtocolOptions;
  readonly #unitsMax: number;
  readonly #inFlight = new NumberedSlots<InFlight>();
  #unitsInFlight = 0;
  /** Requests of the other shard whose handlers still run, indexed by the slots of their numbers. */
  readonly #served: (ServedRequest | undefined)[] = [];
  /** Large answers that were sent and not acknowledged yet, indexed by the numbers of their requests. */
  readonly #untaken = new Map<number, KeptBytes>();
  #hasEnded = false;

  constructor(
    transport: PeerTransport,
    options: PeerProtocolOptions,
    unitsMax = UNITS_IN_FLIGHT_MAX,
  ) {
    this.#transport = transport;
    this.#options = options;
    this.#unitsMax = unitsMax;
    transport.start(this.#receiver());
  }

  /** Number of calls and requests that wait for the other shard. */
  get callsInFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Calls an entity of the other shard. Throws SVC_SHARD_UNAVAILABLE and SVC_OVERLOADED. Rejects as the other shard's
   * engine does, with SVC_RESPONSE_DROPPED when the service's memory budget has no room for the answer, and with
   * SVC_SHARD_UNAVAILABLE or SVC_CALL_UNCERTAIN when the link ends (P2).
   */
  call(call: ForwardedCall): Promise<CallOutcome> {
    const { peer = 'shard' } = this.#options;
    if (this.#hasEnded) throw shardUnavailable(undefined, peer);
    if (this.#inFlight.size >= CALLS_IN_FLIGHT_MAX)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${CALLS_IN_FLIGHT_MAX} calls and requests wait for another ${peer} of the service. Try again later.`,
      );
    const { length: units } = call[2];
    if (this.#unitsInFlight > 0 && this.#unitsInFlight + units > this.#unitsMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `Calls with inputs of ${this.#unitsInFlight} characters wait for another ${peer} of the service. ` +
          'Try again later.',
      );
    const position = this.#transport.sendCall(this.#inFlight.next, call);
    this.#unitsInFlight += units;
    return this.#answerTo({ units, position, learnCost: undefined }) as Promise<CallOutcome>;
  }

  /**
   * Sends a request to the other shard. Returns undefined when it cannot be sent; then nothing was done. Rejects as a
   * handler does, and otherwise as `call` does.
   * `wasMisrouted`: called when the first entity that the handler called does not belong to the other shard.
   */
  request(
    request: EndpointRequest,
    metadata: Metadata,
    waiter: AnswerWaiter | undefined,
    wasMisrouted: () => void,
  ): Promise<RequestOutcome> | undefined {
    if (this.#hasEnded || this.#inFlight.size >= CALLS_IN_FLIGHT_MAX) return undefined;
    const { next: number } = this.#inFlight;
    const position = this.#transport.sendRequest(number, request, metadata);
    if (position === undefined) return undefined;
    const cancel = (reason: GuestFault): void => this.#cancel(number, reason);
    if (waiter !== undefined) waiter.cancel = cancel;
    const learnCost = (cost: RequestCost): void => {
      if (waiter !== undefined) waiter.fuel += cost.fuel;
      if (cost.wasMisrouted) wasMisrouted();
    };
    return this.#answerTo({ units: 0, position, learnCost }) as Promise<RequestOutcome>;
  }

  /** Names the last record of a slice that is on disk, before the answer after which it is known. */
  sendHead(slice: number, off: number): void {
    if (!this.#hasEnded) this.#transport.sendHead?.(slice, off);
  }

  /** Reports to the other node that owners of slices have changed. */
  sendLook(): void {
    if (!this.#hasEnded) this.#transport.sendLook?.();
  }

  #receiver(): PeerReceiver {
    const { learned } = this.#options;
    return {
      call: (number, call) => this.#serve(number, call),
      request: (number, request, metadata) => this.#serveRequest(number, request, metadata),
      cost: (number, cost) => this.#inFlight.get(number)?.learnCost?.(cost),
      cancel: (number, reason) => {
        learned(reason, true);
        this.#servedOf(number)?.cancel?.(reason);
      },
      taken: (number) => this.#freeUntaken(number),
      outcome: (number, outcome) => {
        const inFlight = this.#take(number);
        if (outcomeBytes(outcome) > SMALL_BYTES && !this.#hasEnded)
          this.#transport.sendTaken(number);
        inFlight?.resolve(outcome);
      },
      failure: (number, failure, isLogged) => {
        learned(failure, isLogged);
        this.#take(number)?.reject(failure);
      },
      head: (slice, off) => this.#options.head?.(slice, off),
      look: () => this.#options.look?.(),
      ended: () => this.#end(),
    };
  }

  /** Returns the answer to the frame that was just sent with the next number. */
  #answerTo(sent: Omit<InFlight, 'resolve' | 'reject'>): Promise<FrameOutcome> {
    return new Promise((resolve, reject) => {
      this.#inFlight.add({ ...sent, resolve, reject });
    });
  }

  #cancel(number: number, reason: GuestFault): void {
    if (this.#hasEnded || this.#inFlight.get(number) === undefined) return;
    this.#transport.sendCancel(number, reason);
  }

  #freeUntaken(number: number): void {
    this.#untaken.get(number)?.free();
    this.#untaken.delete(number);
  }

  /**
   * Counts the bytes of a large answer until it is acknowledged. Returns false when the memory budget has no room for
   * it. Small answers are not counted, because CALLS_IN_FLIGHT_MAX bounds them.
   */
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
      return this.#failRequest(served, error);
    }
    if (!(outcome instanceof Promise)) return this.#respond(served, outcome);
    this.#served[slotOf(number)] = served;
    outcome.then(
      (later) => this.#respond(served, later),
      (error: unknown) => this.#failRequest(served, error),
    );
  }

  #answer(number: number, outcome: CallOutcome): void {
    if (this.#hasEnded) return;
    if (!this.#countUntaken(number, outcomeBytes(outcome), new KeptBytes(this.#options.unsent)))
      this.#fail(number, responseDropped());
    else this.#transport.sendReply(number, outcome);
  }

  #fail(number: number, failure: unknown, cost?: RequestCost): void {
    const isLogged = this.#options.failed(failure);
    if (!this.#hasEnded) this.#transport.sendFailure(number, failure, isLogged, cost);
  }

  #respond(served: ServedRequest, outcome: RequestOutcome): void {
    const { number, kept } = served;
    if (!this.#countUntaken(number, outcomeBytes(outcome), kept)) {
      this.#failRequest(served, responseDropped());
      return;
    }
    this.#forget(served);
    if (!this.#hasEnded) this.#transport.sendResponse(number, outcome, served);
  }

  #failRequest(served: ServedRequest, failure: unknown): void {
    this.#forget(served);
    served.kept.free();
    this.#fail(served.number, failure, served);
  }

  #servedOf(number: number): ServedRequest | undefined {
    const served = this.#served[slotOf(number)];
    return served?.number === number ? served : undefined;
  }

  #forget({ number }: ServedRequest): void {
    if (this.#servedOf(number) !== undefined) this.#served[slotOf(number)] = undefined;
  }

  #take(number: number): InFlight | undefined {
    const inFlight = this.#inFlight.take(number);
    this.#unitsInFlight -= inFlight?.units ?? 0;
    return inFlight;
  }

  #end(): void {
    this.#hasEnded = true;
    const { peer } = this.#options;
    for (const number of this.#untaken.keys()) this.#freeUntaken(number);
    for (const { position, reject } of this.#inFlight.takeAll())
      reject(
        this.#transport.hasSent(position) ? callUncertain(peer) : shardUnavailable(undefined, peer),
      );
    this.#options.ended();
  }
}
