// PeerLink is one end of the link between two shards that are threads: the memory that this end writes, the memory that
// it reads, and a message port. The port wakes this end, carries what does not fit into memory, and closes when the
// other shard ends.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { frameRing } from './frame-ring.ts';

export interface PeerLink {
  readonly port: MessagePort;
  readonly outgoing: SharedArrayBuffer;
  readonly incoming: SharedArrayBuffer;
}

/** Creates both ends of a link between two of `shards` shards. Transfer each port together with its end. */
export function peerLinks(shards: number): readonly [PeerLink, PeerLink] {
  const { port1, port2 } = new MessageChannel();
  const [there, back] = [frameRing(shards), frameRing(shards)];
  return [
    { port: port1, outgoing: there, incoming: back },
    { port: port2, outgoing: back, incoming: there },
  ];
}
