// RemotingBytes counts what the connections of a shard with other nodes hold in memory, so that many connections together stay
// within bounds that one alone may use.
export class RemotingBytes {
  /** Bytes that wait to be sent. */
  queued = 0;
  /** Bytes of messages that have arrived in part. */
  arriving = 0;
}
