// Limits and times of the connections that a server accepts. Each is an argument; these are the defaults.
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from '../messages/limits.ts';

export interface ServerLimits {
  readonly message: MessageLimits;
  /** Open connections; a socket beyond is closed at once. */
  readonly connectionsMax: number;
  /** Requests of all connections whose response is not complete; one beyond is refused with 503. */
  readonly requestsMax: number;
  /** Requests of one connection that are given to the handler before the first of them is answered. At least 1. */
  readonly pipelinedMax: number;
  /** Bytes that a connection reads ahead of its handler. It may exceed them by what one read gives. */
  readonly readAheadBytesMax: number;
  /** Bytes of the unfinished heads of all connections together; a request with which they would be more is refused with 503. */
  readonly unfinishedHeadBytesMax: number;
  /** Bytes of responses that wait for one before them while further requests are given to the handler. */
  readonly heldBytesMax: number;
  /** Bytes that are read and thrown away of a client that still sends after its last response. */
  readonly lingerBytesMax: number;
}

export interface ServerTimes {
  /** From the first byte of a head, or the begin of the connection, to the head's end. */
  readonly headMs: number;
  /** Without a byte of a body that the handler waits for. */
  readonly bodyMs: number;
  /** From the first byte of a head to the end of the request. */
  readonly requestMs: number;
  /** Without a request. */
  readonly idleMs: number;
  /** After the last response, until the client closes its side too. */
  readonly lingerMs: number;
  /**
   * Without a byte to a client that has ended its side before its response is complete: until it is sent an informational
   * response, which shows whether it still reads; within a response, until it counts as gone.
   */
  readonly halfClosedMs: number;
  /** Without a request, once the connection is to close. */
  readonly retiredIdleMs: number;
  /** Age at which a connection is to close after its current response; called for each connection. */
  readonly lifetimeMs: () => number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  message: DEFAULT_MESSAGE_LIMITS,
  connectionsMax: 10_000,
  requestsMax: 10_000,
  pipelinedMax: 16,
  readAheadBytesMax: 64 * 1024,
  unfinishedHeadBytesMax: 64 * 1024 * 1024,
  heldBytesMax: 64 * 1024,
  lingerBytesMax: 1024 * 1024,
};

export const DEFAULT_SERVER_TIMES: ServerTimes = {
  headMs: 10_000,
  bodyMs: 60_000,
  requestMs: Infinity,
  idleMs: 75_000,
  lingerMs: 2_000,
  halfClosedMs: 300,
  retiredIdleMs: 1_000,
  lifetimeMs: () => Infinity,
};
