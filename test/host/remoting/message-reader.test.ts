// MessageReader: messages are the same however their bytes are divided, and a length alone takes no memory.
import { expect, test } from 'vitest';
import { MessageReader } from '../../../host/remoting/message-reader.ts';
import { RefusedMessage } from '../../../host/remoting/refused-message.ts';
import { Random } from '../../support/random.ts';

const BYTES_MAX = 64 * 1024 * 1024;

function framed(...bodies: readonly Buffer[]): Buffer {
  return Buffer.concat(
    bodies.flatMap((body) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      return [length, body];
    }),
  );
}

function readerOf(bytesMax = BYTES_MAX) {
  const messages: string[] = [];
  const reader = new MessageReader(bytesMax, (bytes, start, end) =>
    messages.push(bytes.toString('hex', start, end)),
  );
  return { reader, messages };
}

test('messages are the same however their bytes are divided', () => {
  const random = new Random(3);
  for (let round = 0; round < 300; round++) {
    const bodies = Array.from({ length: 1 + random.below(5) }, () =>
      Buffer.alloc(random.pick([0, 1, 3, 4, 5, 100, 5_000, 20_000]), random.below(256)),
    );
    const bytes = framed(...bodies);
    const { reader, messages } = readerOf();
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random.below(random.pick([3, 10, 5_000]));
      reader.read(bytes.subarray(at, at + size));
      at += size;
    }
    expect(messages).toEqual(bodies.map((body) => body.toString('hex')));
    expect(reader.isIncomplete).toBe(false);
    expect(reader.heldBytes).toBe(0);
  }
});

test('the memory for a message grows with the bytes that have arrived, whatever its length says', () => {
  const { reader } = readerOf();
  const header = Buffer.alloc(4);
  header.writeUInt32BE(BYTES_MAX);
  reader.read(header);
  expect(reader.isIncomplete).toBe(true);
  expect(reader.heldBytes).toBeLessThanOrEqual(4_096);
  let arrived = 0;
  for (const size of [1, 10, 5_000, 1, 100_000, 64 * 1024]) {
    reader.read(Buffer.alloc(size));
    arrived += size;
    expect(reader.heldBytes).toBeLessThanOrEqual(2 * arrived + 4_096);
  }
});

test('a length beyond the bound is refused before any byte of the message arrives', () => {
  const { reader } = readerOf(10);
  expect(() => reader.read(Buffer.from('0000000b', 'hex'))).toThrow(RefusedMessage);
  const { reader: other } = readerOf(10);
  other.read(Buffer.from('ff', 'hex'));
  expect(() => other.read(Buffer.from('ffffff', 'hex'))).toThrow('4294967295 bytes, and 10 are');
});

test('a reader that was stopped by a message passes on nothing more', () => {
  const messages: number[] = [];
  const reader: MessageReader = new MessageReader(BYTES_MAX, (_, start, end) => {
    messages.push(end - start);
    reader.stop();
  });
  reader.read(framed(Buffer.alloc(3), Buffer.alloc(4)));
  reader.read(framed(Buffer.alloc(5)));
  expect(messages).toEqual([3]);
  expect(reader.isIncomplete).toBe(false);
});
