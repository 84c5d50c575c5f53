// PeerLink: what two shards are brought together with: for each the memory that it writes, the memory that it reads, and a
// port, which wakes it, carries what does not fit into memory, and closes when the other one ends.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { frameRing } from './frame-ring.ts';

export interface PeerLink {
  readonly port: MessagePort;
  readonly outbox: SharedArrayBuffer;
  readonly inbox: SharedArrayBuffer;
}

/** The two ends of a link between two of so many shards. The port is to be transferred with its end. */
export function peerLinks(shards: number): readonly [PeerLink, PeerLink] {
  const { port1, port2 } = new MessageChannel();
  const [there, back] = [frameRing(shards), frameRing(shards)];
  return [
    { port: port1, outbox: there, inbox: back },
    { port: port2, outbox: back, inbox: there },
  ];
}
