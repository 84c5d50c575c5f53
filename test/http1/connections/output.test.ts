// The bytes that wait for a socket that takes none.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { Output } from '../../../http1/connections/output.ts';
import type { ByteSocket } from '../../../http1/connections/socket-end.ts';

/** A socket of a peer that reads nothing until `take` is called. */
class StalledSocket extends EventEmitter {
  readonly writable = true;
  readonly writableLength = 0;
  writableNeedDrain = true;
  readonly pieces: Buffer[] = [];
  cork(): void {}
  uncork(): void {}

  write(bytes: Buffer | string): boolean {
    this.pieces.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return true;
  }

  take(): void {
    this.writableNeedDrain = false;
    this.emit('drain');
  }
}

test('small pieces that wait are joined, in their order, and large ones stay as they are', () => {
  const socket = new StalledSocket();
  const output = new Output(socket as unknown as ByteSocket, () => undefined);
  const large = Buffer.alloc(8_000, '*');
  const put: string[] = [];
  for (let index = 0; index < 9_000; index++) {
    const chunk = ['1\r\n', Buffer.from([index % 256]), '\r\n'];
    for (const piece of index === 4_000 ? [large, ...chunk] : chunk) {
      output.put(piece);
      put.push(piece.toString('latin1'));
    }
  }
  expect(socket.pieces).toEqual([]);
  socket.take();
  expect(Buffer.concat(socket.pieces).toString('latin1')).toBe(put.join(''));
  // 27,001 pieces were put: one of 256 is left of them, and those that were not joined yet.
  expect(socket.pieces.length).toBeLessThan(27_000 / 256 + 600);
  expect(socket.pieces).toContain(large);
});
