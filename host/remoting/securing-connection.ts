// SecuringConnection is a connection that another node has made, until its handshake of TLS is done.
//
// Invariant: its end is reported once.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionEnd } from './message-connection.ts';

export type EndOfSecuring =
  /** The other side has proved that it is this service. */
  | { readonly kind: 'secured'; readonly socket: TLSSocket }
  | ({ readonly kind: 'failed' } & ConnectionEnd);

export class SecuringConnection {
  /** Address of the other side. */
  readonly address: string;
  readonly #raw: Socket;
  readonly #ended: (end: EndOfSecuring) => void;
  #hasEnded = false;

  constructor(raw: Socket, ended: (end: EndOfSecuring) => void) {
    this.address = raw.remoteAddress ?? '';
    this.#raw = raw;
    this.#ended = ended;
    raw.once('close', () => this.failed({ problem: 'ended the connection', isRefusal: false }));
  }

  secured(socket: TLSSocket): void {
    this.#end({ kind: 'secured', socket });
  }

  failed({ problem, isRefusal }: ConnectionEnd): void {
    this.#end({ kind: 'failed', problem, isRefusal });
  }

  /** Ends the connection at once. `problem`: the rest of a sentence that begins with "the other side". */
  refuse(problem: string): void {
    this.failed({ problem, isRefusal: true });
    this.#raw.destroy();
  }

  /** Ends the connection at once. */
  close(): void {
    this.failed({ problem: 'is needed no more', isRefusal: false });
    this.#raw.destroy();
  }

  #end(end: EndOfSecuring): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#ended(end);
  }
}
