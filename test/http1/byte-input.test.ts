// How much bytes cost that wait to be read: counted in buffers and in looks at them, not in time.
import { describe, expect, test } from 'vitest';
import { DEFAULT_MESSAGE_LIMITS, RequestReader, ResponseReader } from '../../http1/index.ts';
import { ByteInput } from '../../http1/readers/byte-input.ts';

/** Bytes from `seed` on, each one more than that before it. */
const counting = (length: number, seed = 0) =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => seed + at));

/** Everything that waits, as the buffers that it is given in. */
function taken(input: ByteInput): Buffer[] {
  const found: Buffer[] = [];
  while (!input.isEmpty) found.push(input.take(Infinity));
  return found;
}

describe('bytes that wait', () => {
  test.each([
    ['one byte each', [1]],
    ['small', [7, 1, 200]],
    ['large ones among small ones', [1, 1024]],
    ['almost large', [1023]],
  ])('are few buffers, in their order: %s', (_, lengths) => {
    const input = new ByteInput();
    const pushed: Buffer[] = [];
    let bytes = 0;
    for (let at = 0; bytes < 64 * 1024; at++) {
      const next = counting(lengths[at % lengths.length]!, bytes);
      input.push(next);
      pushed.push(next);
      bytes += next.length;
      expect(input.byteLength).toBe(bytes);
    }
    const found = taken(input);
    expect(found.length).toBeLessThanOrEqual(200);
    expect(Buffer.concat(found).equals(Buffer.concat(pushed))).toBe(true);
    expect(input.byteLength).toBe(0);
    const backing = new Set(found.map(({ buffer }) => buffer));
    const held = [...backing].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(held).toBeLessThan(4 * bytes);
  });

  test('stay in order while some are read in between', () => {
    const input = new ByteInput();
    const found: Buffer[] = [];
    const pushed: Buffer[] = [];
    for (let at = 0; at < 5000; at++) {
      const next = counting(at % 7 === 0 ? 1500 : (at % 5) * 20, at);
      input.push(next);
      pushed.push(next);
      if (at % 3 !== 0 && !input.isEmpty) found.push(input.take(at % 400));
    }
    const read = found.reduce((sum, { length }) => sum + length, 0);
    const all = Buffer.concat(pushed);
    expect(input.byteLength).toBe(all.length - read);
    expect(Buffer.concat([...found, ...taken(input)]).equals(all)).toBe(true);
  });

  test('are counted without looking at each of them again', () => {
    let looks = 0;
    const input = new ByteInput();
    for (let at = 0; at < 1000; at++) {
      const { length } = counting(2048);
      const watched = Object.defineProperty(counting(length), 'length', {
        get: () => {
          looks++;
          return length;
        },
      });
      input.push(watched);
      expect(input.byteLength).toBe((at + 1) * length);
    }
    expect(looks).toBeLessThan(10_000);
  });

  test('are read where they are if they came alone', () => {
    const input = new ByteInput();
    const alone = counting(5);
    input.push(alone);
    expect(input.take(Infinity)).toBe(alone);
  });

  test('are all dropped', () => {
    const input = new ByteInput();
    for (const length of [1, 2, 2000, 3]) input.push(counting(length));
    input.clear();
    expect([input.isEmpty, input.byteLength]).toEqual([true, 0]);
    input.push(counting(2, 5));
    expect(taken(input)).toEqual([counting(2, 5)]);
  });
});

describe('a body that nobody takes', () => {
  const SMALL = 66_000;

  test('is read in few parts when somebody does, if it came byte by byte', () => {
    const request = new RequestReader(DEFAULT_MESSAGE_LIMITS);
    request.push(Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${SMALL}\r\n\r\n`));
    expect(request.next()?.kind).toBe('head');
    const response = new ResponseReader(DEFAULT_MESSAGE_LIMITS);
    response.expect('GET');
    response.push(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${SMALL}\r\n\r\n`));
    expect(response.next()?.kind).toBe('head');
    for (const reader of [request, response]) {
      for (let at = 0; at < SMALL; at++) reader.push(Buffer.of(at));
      expect(reader.bufferedBytes).toBe(SMALL);
      let parts = 0;
      while (reader.bufferedBytes > 0) {
        expect(reader.next()?.kind).toBe('data');
        parts++;
      }
      expect(parts).toBeLessThan(50);
    }
  });
});
