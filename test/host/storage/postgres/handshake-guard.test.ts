// The guard of a handshake passes on what a server sends, however it is divided, and nothing that is not whole and well-formed.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DatabaseFailure } from '../../../../host/storage/postgres/database-failure.ts';
import { HandshakeGuard } from '../../../../host/storage/postgres/handshake-guard.ts';

const message = (code: string, body: string): Buffer => {
  const bytes = Buffer.from(`${code}\0\0\0\0${body}`, 'latin1');
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
};
const GOOD = Buffer.concat([
  message('R', '\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'),
  message('R', '\0\0\0\x0br=abc,s=def,i=4096'),
  message('R', '\0\0\0\x0cv=abc'),
  message('N', 'SWARNING\0C01000\0Mhello\0\0'),
  message('R', '\0\0\0\0'),
  message('S', 'server_version\x0018.4\0'),
  message('S', 'application_name\0\0'),
  message('K', '\0\0\0\x01\0\0\0\x02'),
  message('Z', 'I'),
  // Whatever comes now is not looked at.
  message('D', 'rows'),
  Buffer.from('anything'),
]);

describe('a handshake', () => {
  test('is passed on as it is, in whole messages, however it is divided', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(GOOD.length), { maxLength: 8 }), (cuts) => {
        const guard = new HandshakeGuard();
        const ends = [...new Set([...cuts, GOOD.length])].toSorted((a, b) => a - b);
        let from = 0;
        const passed = ends.map((end) => {
          const bytes = guard.pass(GOOD.subarray(from, end));
          from = end;
          return bytes;
        });
        expect(Buffer.concat(passed)).toEqual(GOOD);
        expect(guard.isDone).toBe(true);
      }),
    );
  });

  test.each([
    ['HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['SMTP', '220 mail.example.com ESMTP\r\n'],
    ['the length 3', 'R\0\0\0\x03\0\0\0\0'],
    ['the length 0', 'E\0\0\0\0\0\0\0\0'],
    ['a length without end', 'R\xff\xff\xff\xff'],
    ['a length of megabytes', 'E\x00\x10\x00\x00'],
    ['an authentication without code', message('R', '\0\0')],
    ['an authentication with more', message('R', '\0\0\0\0more')],
    ['a salt that is too short', message('R', '\0\0\0\x05ab')],
    ['mechanisms without end', message('R', '\0\0\0\x0aSCRAM')],
    ['an error without end', message('E', 'SFATAL')],
    ['an error whose last field has no end', message('E', 'SFATAL\0Mx')],
    ['an error without its last zero', message('E', 'SFATAL\0')],
    ['an empty error', message('E', '')],
    ['an error with more after its end', message('E', 'SFATAL\0\0more')],
    ['a parameter without value', message('S', 'name\0')],
    ['a parameter without end', message('S', 'name\0value')],
    ['a short key', message('K', 'abcd')],
    ['its end before the authentication', message('Z', 'I')],
    ['its end with more', Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'II')])],
    ['a row', message('D', '\0\0')],
    ['a message of an unknown kind', message('?', '')],
  ])('with %s is refused', (_, bytes) => {
    const guard = new HandshakeGuard();
    expect(() => guard.pass(Buffer.from(bytes as string, 'latin1'))).toThrow(DatabaseFailure);
  });

  test('that asks for an unknown authentication is refused with a reason of its own', () => {
    const guard = new HandshakeGuard();
    expect(() => guard.pass(message('R', '\0\0\0\x07'))).toThrow(
      'the server asks for an authentication that svc does not know',
    );
  });

  test('that never ends is refused', () => {
    const guard = new HandshakeGuard();
    const notice = message('N', `M${'x'.repeat(1_000)}\0\0`);
    expect(() => {
      for (let sent = 0; sent < 1_000; sent++) guard.pass(notice);
    }).toThrow(DatabaseFailure);
  });

  test('of random messages is refused or passed on, and always ends', () => {
    const anyMessage = fc
      .tuple(fc.constantFrom(...Array.from('RENSKZDTC?')), fc.uint8Array({ maxLength: 20 }))
      .map(([code, body]) => message(code, Buffer.from(body).toString('latin1')));
    fc.assert(
      fc.property(fc.array(fc.oneof(anyMessage, fc.uint8Array({ maxLength: 12 }))), (chunks) => {
        const guard = new HandshakeGuard();
        let refusal: unknown;
        try {
          for (const chunk of chunks) guard.pass(Buffer.from(chunk));
        } catch (error) {
          refusal = error;
        }
        expect(refusal === undefined || refusal instanceof DatabaseFailure).toBe(true);
      }),
    );
  });
});
