// RemotingLimits are the bounds of the connections between nodes. The port takes connections of anybody, so each bound holds
// whatever the other side sends. They are no settings: both ends of a connection have to agree on some of them.

/** Version of the protocol. A node refuses another version. */
export const REMOTING_PROTOCOL = 1;
/** Size of a message, in bytes. A call or an answer that is larger fails. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Number of values in a message. */
export const MESSAGE_VALUES_MAX = 65_536;
/** Size of the first message of each side, in bytes. */
export const HELLO_BYTES_MAX = 4_096;
/** Bytes and values after which the frames of a turn continue in another message. */
export const GATHERED_BYTES_MAX = 256 * 1024;
export const GATHERED_VALUES_MAX = 8_192;

/** Time from the connection to the end of the handshake, in milliseconds. With TLS its handshake has as much before. */
export const HANDSHAKE_MS = 5_000;
/** Advice for a connection of which one side speaks TLS, and the other one does not. */
export const TLS_DIFFERS = 'svc.remoting.tls has to be the same in all nodes of a service';

/** How often each side sends a heartbeat, in milliseconds. */
export const HEARTBEAT_MS = 1_000;
/** A connection on which nothing arrives for this long has ended, in milliseconds. */
export const SILENCE_MS_MAX = 3_000;
/** A connection whose other side reads nothing for this long has ended, in milliseconds. */
export const UNREAD_MS_MAX = 30_000;
/** Time from the first byte of a message to its last, in milliseconds. */
export const MESSAGE_MS_MAX = 30_000;

/** Number of connections whose handshake is done; further ones are refused. */
export const CONNECTIONS_MAX = 256;
/** Number of connections whose handshake is not done. A further one ends the oldest of them. */
export const HANDSHAKES_MAX = 64;

/** Bounds of what the connections of a shard hold in memory. */
export interface RemotingBounds {
  /** Bytes that wait to be sent on one connection. With more, the connection is ended. */
  readonly queuedBytesMax: number;
  /** Bytes that wait to be sent on all connections. With more, a connection for which many wait is ended. */
  readonly queuedBytesTotalMax: number;
  /** Bytes of incomplete messages on all connections. With more, a connection with a large one is ended. */
  readonly arrivingBytesTotalMax: number;
  /** Bytes of a connection with which it is never ended for the bounds of all connections together. */
  readonly freeBytes: number;
  /** UTF-16 units of calls and requests of other nodes that are worked on. Further ones fail with SVC_OVERLOADED. */
  readonly servedUnitsMax: number;
}

export const REMOTING_BOUNDS: RemotingBounds = {
  queuedBytesMax: 256 * 1024 * 1024,
  queuedBytesTotalMax: 512 * 1024 * 1024,
  arrivingBytesTotalMax: 256 * 1024 * 1024,
  freeBytes: 1024 * 1024,
  servedUnitsMax: 256 * 1024 * 1024,
};
/** UTF-16 units that a call or request counts beside its texts. */
export const SERVED_UNITS_EACH = 1_024;
/** UTF-16 units of the inputs of calls that wait for one other node. */
export const WAITING_UNITS_MAX = 64 * 1024 * 1024;
/** A whole request is not sent while this many bytes wait to be sent. */
export const REQUEST_QUEUED_BYTES_MAX = 16 * 1024 * 1024;
