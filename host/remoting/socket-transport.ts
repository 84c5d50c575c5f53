// SocketTransport is the PeerTransport between two nodes: frames travel as lists of scalars over a connection (frame.ts,
// message-connection.ts), those of a turn of the event loop together. Every frame that arrives is checked before it is passed on.
//
// Invariants beside those of PeerTransport
// - The side that has connected passes on an answer only to a call or request that waits for it, each once, and of its kind.
// - The side that has accepted works on one call or request under a number at a time, so that their count has a bound, too.
// - A call has possibly been sent once it was given to the socket.
import type { Metadata, Refusal, Reply } from '@svc/model/call';
import type { EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ForwardedCall,
  type FrameReader,
  type Frames,
  readFrames,
  type RequestCost,
  writeCall,
  writeCancel,
  writeCost,
  writeFailure,
  writeHead,
  writeLook,
  writeOutcome,
  writeRequest,
  writeTaken,
} from '../shards/frame.ts';
import { slotOf } from '../shards/numbered-slots.ts';
import type { PeerReceiver, PeerTransport, SendPosition } from '../shards/peer-transport.ts';
import { checkFrames, type ReceivingSide } from './checked-frames.ts';
import type { Scalar } from './flat-list.ts';
import { GatheredFrames } from './gathered-frames.ts';
import type { MessageConnection } from './message-connection.ts';
import { RefusedMessage } from './refused-message.ts';
import { REQUEST_QUEUED_BYTES_MAX } from './remoting-limits.ts';

export interface SocketTransportOptions {
  readonly connection: Pick<MessageConnection, 'send' | 'queuedBytes'>;
  readonly side: ReceivingSide;
  /** Whether both nodes run the same module, so that whole requests can be sent. */
  readonly sharesModule: boolean;
}

export class SocketTransport implements PeerTransport {
  readonly #options: SocketTransportOptions;
  readonly #gathered = new GatheredFrames();
  #receiver: PeerReceiver | undefined;
  /** Numbers of calls and of requests that wait for an answer of the other node, indexed by their slots. */
  readonly #calls: (number | undefined)[] = [];
  readonly #requests: (number | undefined)[] = [];
  /** Numbers of calls and requests of the other node that have no answer yet, indexed by their slots. */
  readonly #served: (number | undefined)[] = [];
  /** Number of calls and requests that were ever gathered, and of those that were given to the socket. */
  #gatheredCalls = 0;
  #sentCalls = 0;
  #isScheduled = false;
  #hasEnded = false;

  constructor(options: SocketTransportOptions) {
    this.#options = options;
  }

  start(receiver: PeerReceiver): void {
    this.#receiver = receiver;
  }

  /** Passes on the frames of a message. Throws RefusedMessage. */
  received(values: Scalar[]): void {
    checkFrames(values, this.#options.side);
    readFrames(values, this.#frames);
  }

  /** The connection has ended. */
  ended(): void {
    this.#hasEnded = true;
    this.#receiver?.ended();
  }

  sendCall(number: number, call: ForwardedCall): SendPosition {
    this.#calls[slotOf(number)] = number;
    if (!this.#add((frames) => writeCall(frames, number, call)))
      queueMicrotask(() => this.#fail(number, tooLarge()));
    return this.#gatheredCalls++;
  }

  sendRequest(
    number: number,
    request: EndpointRequest,
    metadata: Metadata,
  ): SendPosition | undefined {
    const { connection, sharesModule } = this.#options;
    if (!sharesModule || connection.queuedBytes > REQUEST_QUEUED_BYTES_MAX) return undefined;
    let isWritten = true;
    const isAdded = this.#add((frames) => {
      isWritten = writeRequest(frames, number, request, metadata);
    });
    if (!isAdded || !isWritten) return undefined;
    this.#requests[slotOf(number)] = number;
    return this.#gatheredCalls++;
  }

  sendReply(number: number, outcome: Reply | Refusal): void {
    if (!this.#answers(number)) return;
    if (!this.#add((frames) => writeOutcome(frames, number, outcome)))
      this.#add((frames) => writeFailure(frames, number, dropped(), true));
  }

  sendResponse(number: number, outcome: EndpointResponse | Refusal, cost: RequestCost): void {
    if (!this.#answers(number)) return;
    this.#add((frames) => writeCost(frames, number, cost));
    if (!this.#add((frames) => writeOutcome(frames, number, outcome)))
      this.#add((frames) => writeFailure(frames, number, dropped(), true));
  }

  sendFailure(
    number: number,
    failure: unknown,
    isLogged: boolean,
    cost: RequestCost | undefined,
  ): void {
    if (!this.#answers(number)) return;
    if (cost !== undefined) this.#add((frames) => writeCost(frames, number, cost));
    if (!this.#add((frames) => writeFailure(frames, number, failure, isLogged)))
      this.#add((frames) => writeFailure(frames, number, dropped(), isLogged));
  }

  sendCancel(number: number, reason: GuestFault): void {
    this.#add((frames) => writeCancel(frames, number, reason));
  }

  sendTaken(number: number): void {
    this.#add((frames) => writeTaken(frames, number));
  }

  sendHead(slice: number, off: number): void {
    this.#add((frames) => writeHead(frames, slice, off));
  }

  sendLook(): void {
    this.#add(writeLook);
  }

  hasSent(position: SendPosition): boolean {
    return position < this.#sentCalls;
  }

  /** Adds a frame to those of this turn. Returns false if it is too large. */
  #add(write: (frames: Frames) => void): boolean {
    if (this.#hasEnded) return true;
    const isAdded = this.#gathered.add(write);
    if (isAdded && !this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#flush());
    }
    return isAdded;
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#hasEnded) return;
    this.#sentCalls = this.#gatheredCalls;
    for (const frames of this.#gathered.take()) this.#options.connection.send(frames);
  }

  /** Receives frames that were checked one by one, and checks them against what was sent. */
  readonly #frames: FrameReader = {
    call: (number, call) => {
      this.#serves(number);
      this.#receiver!.call(number, call);
    },
    request: (number, request, metadata) => {
      this.#serves(number);
      this.#receiver!.request(number, request, metadata);
    },
    cancel: (number, reason) => this.#receiver!.cancel(number, reason),
    taken: (number) => this.#receiver!.taken(number),
    cost: (number, cost) => {
      if (this.#requests[slotOf(number)] !== number) throw notAsked();
      this.#receiver!.cost(number, cost);
    },
    outcome: (number, outcome) => {
      if (!this.#take(number, outcome.kind !== 'response', outcome.kind !== 'reply'))
        throw notAsked();
      this.#receiver!.outcome(number, outcome);
    },
    failure: (number, failure, isLogged) => {
      if (!this.#take(number, true, true)) throw notAsked();
      this.#receiver!.failure(number, failure, isLogged);
    },
    head: (slice, off) => this.#receiver!.head?.(slice, off),
    look: () => this.#receiver!.look?.(),
  };

  /** Returns whether a call, or a request, of this number waits for an answer, and notes that it has one. */
  #take(number: number, isOfCall: boolean, isOfRequest: boolean): boolean {
    const slot = slotOf(number);
    if (isOfCall && this.#calls[slot] === number) this.#calls[slot] = undefined;
    else if (isOfRequest && this.#requests[slot] === number) this.#requests[slot] = undefined;
    else return false;
    return true;
  }

  /** Fails a call of this side that was not sent. */
  #fail(number: number, failure: Error): void {
    if (!this.#hasEnded && this.#take(number, true, false))
      this.#receiver!.failure(number, failure, true);
  }

  /** Notes a call or request of the other side. */
  #serves(number: number): void {
    const slot = slotOf(number);
    if (this.#served[slot] !== undefined)
      throw new RefusedMessage(
        'sent a call under the number of another one that has no answer yet',
      );
    this.#served[slot] = number;
  }

  /** Notes that the call or request has its answer. Returns false if the connection has ended. */
  #answers(number: number): boolean {
    this.#served[slotOf(number)] = undefined;
    return !this.#hasEnded;
  }
}

function notAsked(): RefusedMessage {
  return new RefusedMessage('answered a call or request that does not wait for such an answer');
}

function tooLarge(): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    'The call was not made: its input is larger than a message between two nodes of the service may be. Make it smaller.',
  );
}

function dropped(): SvcError {
  return new SvcError(
    'SVC_RESPONSE_DROPPED',
    'A response was thrown away: it is larger than a message between two nodes of the service may be.',
  );
}
