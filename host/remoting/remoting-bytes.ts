// RemotingBytes counts what the connections of a shard with other nodes hold in memory, so that many connections together stay
// within bounds that one alone may use.
import { REMOTING_BOUNDS, type RemotingBounds } from './remoting-limits.ts';

export class RemotingBytes {
  readonly bounds: RemotingBounds;
  /** Bytes that wait to be sent. */
  queued = 0;
  /** Memory of messages that have arrived in part, in bytes. */
  arriving = 0;

  constructor(bounds = REMOTING_BOUNDS) {
    this.bounds = bounds;
  }

  /** Whether a connection for which this many of the bytes wait has to be ended. */
  mayNotQueue(own: number): boolean {
    const { queuedBytesMax, queuedBytesTotalMax, freeBytes } = this.bounds;
    return own > queuedBytesMax || (this.queued > queuedBytesTotalMax && own > freeBytes);
  }

  /** Whether a connection on which this many of the bytes arrive has to be ended. */
  mayNotReceive(own: number): boolean {
    const { arrivingBytesTotalMax, freeBytes } = this.bounds;
    return this.arriving > arrivingBytesTotalMax && own > freeBytes;
  }
}
