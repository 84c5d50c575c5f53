// The connection to a receiver whose answer comes in pieces of any size.
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { ReceiverConnection } from '../../../webhooks/sending/receiver-connection.ts';
import { SENDER_LIMITS_DEFAULT } from '../../../webhooks/sending/sender-limits.ts';

/** Connects with a request under way. `receive` gets what the receiver sends. */
async function connected(): Promise<{
  readonly connection: ReceiverConnection;
  readonly receive: (piece: Buffer) => void;
}> {
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  const connection = new ReceiverConnection(socket, SENDER_LIMITS_DEFAULT);
  await new Promise((sent) => connection.write('POST / HTTP/1.1\r\n\r\n', sent));
  return { connection, receive: (piece) => void socket.emit('data', piece) };
}

test('a head that comes byte by byte is put together once, and passed on as it is', async () => {
  const { connection, receive } = await connected();
  const { headBytesMax } = SENDER_LIMITS_DEFAULT;
  const head = `HTTP/1.1 204 ${'a'.repeat(headBytesMax - 17)}\r\n\r\n`;
  const concat = vi.spyOn(Buffer, 'concat');
  for (const byte of Buffer.from(head)) receive(Buffer.of(byte));
  expect(concat).toHaveBeenCalledTimes(1);
  concat.mockRestore();
  expect(String(connection.read())).toBe(head);
});

test('a head of one byte too many is refused, and what is no HTTP is passed on at once', async () => {
  const large = await connected();
  const refused = once(large.connection, 'error');
  const { headBytesMax } = SENDER_LIMITS_DEFAULT;
  for (const byte of Buffer.from(`HTTP/1.1 204 ${'a'.repeat(headBytesMax)}`))
    large.receive(Buffer.of(byte));
  expect(await refused).toMatchObject([{ reason: 'protocol' }]);

  const other = await connected();
  for (const byte of Buffer.from('SSH-2.0')) other.receive(Buffer.of(byte));
  expect(other.connection.readableLength).toBe('SSH-2.0'.length);
});
