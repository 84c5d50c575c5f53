// Limits and times of a client's connections. Each is an argument; these are the defaults.
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from '../messages/limits.ts';

export interface ClientLimits {
  readonly message: MessageLimits;
  /** Connections of a pool that wait for a request; the one that has waited longest is closed for another. */
  readonly idleMax: number;
  /** Connections of a pool that are being opened; further requests wait for one that becomes idle, or for their turn. */
  readonly openingMax: number;
  /** Bytes that a connection reads ahead of its receiver. It may exceed them by what one read gives. */
  readonly readAheadBytesMax: number;
}

export interface ClientTimes {
  /** To open a connection, and to wait for one. */
  readonly connectMs: number;
  /** From the last byte of the request that the peer took, or that left this process, to the begin of the final response. */
  readonly responseMs: number;
  /** Without a request, unless the peer names a shorter time in `Keep-Alive: timeout`. */
  readonly idleMs: number;
  /** Age at which a connection is not used again; called for each connection. */
  readonly lifetimeMs: () => number;
}

export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  message: DEFAULT_MESSAGE_LIMITS,
  idleMax: 256,
  openingMax: 8,
  readAheadBytesMax: 64 * 1024,
};

export const DEFAULT_CLIENT_TIMES: ClientTimes = {
  connectMs: 5_000,
  responseMs: 60_000,
  idleMs: 55_000,
  lifetimeMs: () => Infinity,
};
