// PeerTransport carries the frames of the protocol between two shards (peer-protocol.ts), without knowing their
// meaning. Threads of one process use shared memory and a message port (ring-transport.ts), nodes use a socket
// (host/remoting/socket-transport.ts).
//
// Invariants of every implementation:
// T1  Frames arrive in the order in which they were sent, each at most once, until the link ends.
// T2  Sending never waits and never throws: a frame that cannot leave at once is queued.
// T3  `ended` is the receiver's last call, after every frame that still arrived.
import type { Metadata, Refusal, Reply } from '@svc/model/call';
import type { EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { GuestFault } from '@svc/model/guest-fault';
import type { ForwardedCall, FrameReader, RequestCost } from './frame.ts';

/** Receives the frames of the other side. */
export interface PeerReceiver extends FrameReader {
  /** The link has ended: nothing arrives any more, and nothing that is sent leaves. */
  ended(): void;
}

/** Position of a sent frame, for `hasSent`. */
export type SendPosition = number;

export interface PeerTransport {
  /** Begins to receive, starting with what the other side sent earlier. Call it once, before anything is sent. */
  start(receiver: PeerReceiver): void;
  /** `number` names the call in the frames that answer it: 0 to 2^31 - 1. The other methods take the same number. */
  sendCall(number: number, call: ForwardedCall): SendPosition;
  /** Returns undefined, and sends nothing, when the transport cannot carry the request, such as a too large one. */
  sendRequest(
    number: number,
    request: EndpointRequest,
    metadata: Metadata,
  ): SendPosition | undefined;
  /** Answers a call. */
  sendReply(number: number, outcome: Reply | Refusal): void;
  /** Answers a request. */
  sendResponse(number: number, outcome: EndpointResponse | Refusal, cost: RequestCost): void;
  /** Fails a call, or a request, which has a cost. `isLogged`: this side's log has the module's message. */
  sendFailure(
    number: number,
    failure: unknown,
    isLogged: boolean,
    cost: RequestCost | undefined,
  ): void;
  /** Cancels a request: its client has gone, or its deadline has passed. */
  sendCancel(number: number, reason: GuestFault): void;
  /** Acknowledges a large answer. */
  sendTaken(number: number): void;
  /** Names the last record of a slice that is on disk, before the answer after which it is known. Between nodes only. */
  sendHead?(slice: number, off: number): void;
  /** Reports that owners of slices have changed. Between nodes only. */
  sendLook?(): void;
  /** Whether the frame may have reached the other side. False means that it certainly has not. */
  hasSent(position: SendPosition): boolean;
}
