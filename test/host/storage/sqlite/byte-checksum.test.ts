import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { byteChecksum } from '../../../../host/storage/sqlite/byte-checksum.ts';
import { Random } from '../../../support/random.ts';

test('the checksum of bytes in the midst of others is that of zlib, wherever they begin and end', () => {
  const random = new Random(5);
  const held = Uint8Array.from({ length: 120 }, () => random.below(256));
  // In a buffer that begins before them.
  const bytes = held.subarray(3);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let from = 0; from < 12; from++)
    for (let until = from; until <= bytes.length; until++) {
      const before = random.below(2 ** 32);
      const those = bytes.subarray(from, until);
      expect(byteChecksum(bytes, view, from, until, before)).toBe(crc32(those, before));
    }
});
