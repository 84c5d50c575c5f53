// The bytes that a client's socket receives. Sockets of `node:net` and `node:tls` can read into a buffer that is given to them when
// they are opened, which costs less than their `data` events. All sockets of a thread share the buffer: a read is copied
// out of it before the next one.
import type { ByteSocket } from './socket-end.ts';

const READ_BYTES = 64 * 1024;
let shared: Buffer | undefined;

/** The option `onread` of `net.connect` and `tls.connect`. */
export interface OnRead {
  readonly buffer: Uint8Array;
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
}

export class SocketInput {
  readonly onread: OnRead;
  /** Whether bytes came before anybody asked for them. */
  hasEarlyBytes = false;
  #receive: ((bytes: Buffer) => void) | undefined;

  constructor() {
    const buffer = (shared ??= Buffer.allocUnsafeSlow(READ_BYTES));
    this.onread = {
      buffer,
      callback: (length) => {
        const bytes = Buffer.allocUnsafe(length);
        buffer.copy(bytes, 0, 0, length);
        this.#deliver(bytes);
        return true;
      },
    };
  }

  /** Gives `receive` what the socket receives from now on, whether or not it was opened with `onread`. */
  attach(socket: ByteSocket, receive: (bytes: Buffer) => void): void {
    this.#receive = receive;
    socket.on('data', (bytes: Buffer) => this.#deliver(bytes));
  }

  #deliver(bytes: Buffer): void {
    if (this.#receive === undefined) this.hasEarlyBytes = true;
    else this.#receive(bytes);
  }
}
