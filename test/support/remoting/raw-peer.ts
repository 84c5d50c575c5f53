// RawPeer: the other side of a connection between nodes, which sends what a test wants.
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { decodeList, encodeList, type Scalar } from '../../../host/remoting/flat-list.ts';
import { helloTo } from '../../../host/remoting/handshake.ts';
import { MessageReader } from '../../../host/remoting/message-reader.ts';
import { CALLING, SERVING, until } from './remote-pair.ts';

export class RawPeer {
  readonly socket: Socket;
  /** Messages that have arrived, without heartbeats. */
  readonly received: Scalar[][] = [];
  heartbeats = 0;
  hasEnded = false;

  private constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = new MessageReader(2 ** 31, (bytes, start, end) => {
      const values = decodeList(bytes, start, end, 1_000_000);
      if (values.length === 1) this.heartbeats++;
      else this.received.push(values);
    });
    this.socket.on('data', (chunk: Buffer) => reader.read(chunk));
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.hasEnded = true;
    });
    onTestFinished(() => void this.socket.destroy());
  }

  static async connected(port: number): Promise<RawPeer> {
    const peer = new RawPeer(port);
    await until('a connection', () => !peer.socket.connecting);
    return peer;
  }

  /** Connects, and introduces itself. */
  static async introduced(port: number): Promise<RawPeer> {
    const peer = await RawPeer.connected(port);
    peer.send(helloTo(CALLING, SERVING));
    await until('the hello', () => peer.received.length > 0 || peer.hasEnded);
    return peer;
  }

  send(values: readonly Scalar[]): void {
    this.write(encodeList(values));
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  async ended(): Promise<void> {
    await until('the end of the connection', () => this.hasEnded);
  }
}

/** The length of a message, and as much of it as is given. */
export function framed(length: number, ...bytes: readonly number[]): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  return Buffer.concat([header, Buffer.from(bytes)]);
}
