import { describe, expect, test } from 'vitest';
import { GatheredBytes } from '../../kit/gathered-bytes.ts';

describe('bytes that come in pieces', () => {
  test('are what came, in its order', () => {
    const gathered = new GatheredBytes(100);
    for (const text of ['a', 'bc', '', 'def', 'g'.repeat(40)]) gathered.add(Buffer.from(text));
    expect(gathered.whole.toString()).toBe(`abcdef${'g'.repeat(40)}`);
    expect(new GatheredBytes(100).whole).toHaveLength(0);
  });

  test('that come at once stay where they are', () => {
    const gathered = new GatheredBytes(100);
    const piece = Buffer.from('whole');
    gathered.add(piece);
    expect(gathered.whole.buffer).toBe(piece.buffer);
  });

  test('that are copied keep no larger buffer in memory', () => {
    const gathered = new GatheredBytes(100);
    const read = Buffer.alloc(64 * 1024, 'ab');
    gathered.addCopy(read.subarray(0, 1));
    expect(gathered.whole.buffer.byteLength).toBe(1);
    gathered.addCopy(read.subarray(1, 2));
    expect(gathered.whole.toString()).toBe('ab');
  });

  test('take no more than twice their length, however small the pieces are, and no more than may come', () => {
    const gathered = new GatheredBytes(1_000);
    const piece = Buffer.from('x');
    for (let length = 1; length <= 1_000; length++) {
      const bytes = gathered.bytesWith(piece);
      gathered.add(piece);
      expect(bytes).toBeGreaterThanOrEqual(length);
      expect(bytes).toBeLessThanOrEqual(Math.min(2 * length, 1_000));
    }
    expect(gathered.whole.toString()).toBe('x'.repeat(1_000));
  });
});
