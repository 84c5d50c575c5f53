// RingTransport is the PeerTransport between two threads of a process: common frames go through shared memory
// (ring-frames.ts), all others through a message port, those of one turn of the event loop in one message. A request
// that does not fit into shared memory is not sent.
//
// Sleep and wake: while there is something to send or to receive, the memory is polled in every turn of the event
// loop. After a few idle turns this end sleeps; the other end then wakes it with a message.
//
// Invariants: a frame in shared memory has been sent as soon as it is written; a frame in `#frames` is sent when the
// turn ends. Before the frames of a message are read, the memory is read, because its frames were sent earlier.
import type { MessagePort } from 'node:worker_threads';
import type { Metadata, Refusal, Reply } from '@svc/model/call';
import type { EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { GuestFault } from '@svc/model/guest-fault';
import type { HandlerTable } from '@svc/model/handler-table';
import {
  type ForwardedCall,
  type Frames,
  readFrames,
  type RequestCost,
  writeCall,
  writeCancel,
  writeCost,
  writeFailure,
  writeOutcome,
  writeTaken,
} from './frame.ts';
import { FrameRingReader, FrameRingWriter } from './frame-ring.ts';
import type { PeerLink } from './peer-link.ts';
import type { PeerReceiver, PeerTransport, SendPosition } from './peer-transport.ts';
import { RingFrames } from './ring-frames.ts';

/** Turns of the event loop, some microseconds each, without a frame in either direction before this end sleeps. */
const IDLE_TURNS_MAX = 4;
/** Position of every frame in shared memory, less than that of any queued frame: such a frame is sent at once. */
const SENT_AT_ONCE = -1;

export class RingTransport implements PeerTransport {
  readonly #port: MessagePort;
  readonly #outgoing: FrameRingWriter;
  readonly #incoming: FrameRingReader;
  readonly #ring: RingFrames;
  #receiver!: PeerReceiver;
  #hasEnded = false;
  /** Frames of this turn for the port. */
  #frames: Frames = [];
  /** Number of calls that were ever put into `#frames`, and of those that were posted. */
  #queuedCalls = 0;
  #sentCalls = 0;
  /** Whether a frame was sent since the last turn. */
  #hasNews = false;
  #isAwake = false;
  #idleTurns = 0;
  readonly #turn = (): void => {
    const hasReceived = this.#ring.read(this.#receiver);
    this.#idleTurns = hasReceived || this.#hasNews ? 0 : this.#idleTurns + 1;
    this.#flush();
    this.#isAwake =
      !this.#hasEnded && (this.#idleTurns < IDLE_TURNS_MAX || !this.#incoming.sleep());
    if (this.#isAwake) setImmediate(this.#turn);
  };

  /** `handlerTable`: handlers of the module that both shards run. */
  constructor({ port, outgoing, incoming }: PeerLink, handlerTable: HandlerTable) {
    this.#port = port;
    this.#outgoing = new FrameRingWriter(outgoing);
    this.#incoming = new FrameRingReader(incoming);
    this.#ring = new RingFrames(handlerTable, this.#outgoing, this.#incoming);
  }

  start(receiver: PeerReceiver): void {
    this.#receiver = receiver;
    this.#port.on('message', (frames: Frames | null) => {
      this.#wake();
      if (frames === null) return;
      this.#ring.read(receiver);
      readFrames(frames, receiver);
    });
    this.#port.on('close', () => this.#end());
    // The other side may already have written to the memory.
    this.#wake();
  }

  sendCall(number: number, call: ForwardedCall): SendPosition {
    const isSent = this.#ring.writeCall(number, call);
    if (!isSent) writeCall(this.#frames, number, call);
    this.#sends();
    return isSent ? SENT_AT_ONCE : this.#queuedCalls++;
  }

  sendRequest(
    number: number,
    request: EndpointRequest,
    metadata: Metadata,
  ): SendPosition | undefined {
    if (!this.#ring.writeRequest(number, request, metadata)) return undefined;
    this.#sends();
    return SENT_AT_ONCE;
  }

  sendReply(number: number, outcome: Reply | Refusal): void {
    if (outcome.kind !== 'reply' || !this.#ring.writeReply(number, outcome.json))
      writeOutcome(this.#frames, number, outcome);
    this.#sends();
  }

  sendResponse(number: number, outcome: EndpointResponse | Refusal, cost: RequestCost): void {
    if (outcome.kind !== 'response' || !this.#ring.writeResponse(number, outcome, cost)) {
      writeCost(this.#frames, number, cost);
      writeOutcome(this.#frames, number, outcome);
    }
    this.#sends();
  }

  sendFailure(
    number: number,
    failure: unknown,
    isLogged: boolean,
    cost: RequestCost | undefined,
  ): void {
    if (cost !== undefined) writeCost(this.#frames, number, cost);
    writeFailure(this.#frames, number, failure, isLogged);
    this.#sends();
  }

  sendCancel(number: number, reason: GuestFault): void {
    writeCancel(this.#frames, number, reason);
    this.#sends();
  }

  sendTaken(number: number): void {
    writeTaken(this.#frames, number);
    this.#sends();
  }

  hasSent(position: SendPosition): boolean {
    return position < this.#sentCalls;
  }

  /**
   * Schedules the turn that posts the queued frames, and wakes the other end if it sleeps. The current callbacks run
   * first, so that all their frames go together.
   */
  #sends(): void {
    this.#hasNews = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#isAwake || this.#hasEnded) return;
    this.#isAwake = true;
    this.#idleTurns = 0;
    this.#incoming.wake();
    setImmediate(this.#turn);
  }

  #flush(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    const mustWake = this.#outgoing.wakesReader();
    const frames = this.#frames;
    if (frames.length > 0) {
      this.#frames = [];
      this.#sentCalls = this.#queuedCalls;
    } else if (!mustWake) return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(frames.length > 0 ? frames : null);
  }

  #end(): void {
    // The other side may have written more before it ended.
    this.#ring.read(this.#receiver);
    this.#hasEnded = true;
    this.#receiver.ended();
  }
}
