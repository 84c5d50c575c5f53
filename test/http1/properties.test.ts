// For all messages: readers read what writers write, how bytes are split makes no difference, and no input makes a reader
// throw, go on for ever or keep more than its limits.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CHUNK_END,
  DEFAULT_MESSAGE_LIMITS,
  type MessageLimits,
  RequestReader,
  ResponseReader,
  chunkHead,
  encodeRequestHead,
  encodeResponseHead,
  encodeTrailers,
} from '../../http1/index.ts';
import {
  type ReadMessage,
  bytesOf,
  corpusCases,
  readRequests,
  readResponses,
} from '../support/http1/corpus.ts';
import { referenceRequests } from '../support/http1/reference-requests.ts';

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
const path = fc.stringMatching(/^\/[!"$-~]{0,30}$/);
const value = fc
  .stringMatching(/^[\t -~\u0080-\u00ff]{0,30}$/)
  .map((text) => text.replaceAll(/^[\t ]+|[\t ]+$/g, ''));
/** Names that say nothing of framing, routing or the connection. */
const name = token.map((text) => `X-${text}`);
const fields = fc.array(fc.tuple(name, value), { maxLength: 8 }).map((pairs) => pairs.flat());
const body = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { maxLength: 6 });
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });

/** Splits bytes at some fractions of their length. */
function split(bytes: Buffer, at: readonly number[]): Buffer[] {
  const positions = at.map((fraction) => Math.floor(fraction * bytes.length));
  const ends = [...positions.toSorted((left, right) => left - right), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const chunked = (pieces: readonly Uint8Array[], trailers: readonly string[]) =>
  Buffer.concat([
    ...pieces.flatMap((piece) => [chunkHead(piece.length), piece, CHUNK_END]),
    encodeTrailers(trailers),
  ]);
/** The bytes of a request that was read, with its body as one chunk if it was chunked. */
function forwarded(one: ReadMessage): Buffer[] {
  const { method, target, version, fields: flat, framing, trailers } = one;
  const head = encodeRequestHead(
    method as string,
    target as string,
    version as '1.0' | '1.1',
    flat as readonly string[],
  );
  const bytes = Buffer.from(one.body, 'latin1');
  const pieces = bytes.length === 0 ? [] : [bytes];
  return [head, framing === 'chunked' ? chunked(pieces, trailers) : bytes];
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('what writers write, readers read', () => {
  const request = fc.record({ method: token, path, fields, body });
  const withBody = fc.array(
    request.filter(({ method }) => method !== 'CONNECT'),
    { minLength: 1, maxLength: 3 },
  );

  test('requests with a length, one after the other', () => {
    const property = fc.property(withBody, cuts, (requests, at) => {
      const bytes = requests.flatMap((one) => [
        encodeRequestHead(one.method, one.path, '1.1', [
          'Host',
          'a',
          'Content-Length',
          String(one.body.length),
          ...one.fields,
        ]),
        one.body,
      ]);
      const read = readRequests(split(Buffer.concat(bytes), at));
      expect(read).toMatchObject(
        requests.map((one) => ({
          method: one.method,
          target: one.path,
          path: one.path,
          fields: ['Host', 'a', 'Content-Length', String(one.body.length), ...one.fields],
          framing: one.body.length,
          body: latin1(one.body),
          trailers: [],
        })),
      );
      expect(read.every(({ fails }) => fails === undefined)).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('chunked requests with trailers', () => {
    const property = fc.property(chunks, fields, cuts, (pieces, trailers, at) => {
      const head = ['Host', 'a', 'Transfer-Encoding', 'chunked'];
      const bytes = [encodeRequestHead('PUT', '/', '1.1', head), chunked(pieces, trailers)];
      const [read, ...others] = readRequests(split(Buffer.concat(bytes), at));
      const sent = pieces.map(latin1).join('');
      expect(read).toMatchObject({ framing: 'chunked', body: sent, trailers });
      expect([read?.fails, ...others]).toEqual([undefined]);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('responses', () => {
    const reason = fc.stringMatching(/^[\t -~\u0080-\u00ff]{0,20}$/);
    const status = fc
      .integer({ min: 200, max: 999 })
      .filter((code) => code !== 204 && code !== 304);
    const property = fc.property(status, reason, fields, chunks, cuts, (...parts) => {
      const [code, phrase, flat, pieces, at] = parts;
      const head = encodeResponseHead(code, phrase, ['Transfer-Encoding', 'chunked', ...flat]);
      const bytes = split(Buffer.concat([head, chunked(pieces, flat)]), at);
      const read = readResponses([{ method: 'GET', pieces: bytes }]);
      const sent = pieces.map(latin1).join('');
      expect(read).toHaveLength(1);
      expect(read[0]).toMatchObject({ status: code, reason: phrase, body: sent, trailers: flat });
      expect(read[0]?.fails).toBeUndefined();
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe('any input', () => {
  const limits: MessageLimits = {
    headBytesMax: 300,
    fieldsMax: 10,
    chunkLineBytesMax: 40,
    chunkExcessBytesMax: 100,
    trailerBytesMax: 200,
    informationalMax: 2,
  };
  const seeds = ['request-lines.json', 'fields.json', 'framing.json', 'chunks.json']
    .flatMap(corpusCases)
    .map(({ in: input }) => bytesOf(input))
    .filter(({ length }) => length > 0 && length < 1000);
  const responseSeeds = ['status-lines.json', 'response-framing.json']
    .flatMap(corpusCases)
    .filter(({ to }) => to === undefined || to.length === 1)
    .map(({ in: input }) => bytesOf(input))
    .filter(({ length }) => length > 0 && length < 1000);
  /** Bytes that mean something at some place. */
  const byte = fc.oneof(
    fc.constantFrom(...Buffer.from('\r\n\t :;=",0159afAFxGHTP/.\0\x7f\x80\xff', 'latin1')),
    fc.integer({ min: 0, max: 255 }),
  );
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.integer({ min: 0, max: 3 }),
    added: fc.array(byte, { maxLength: 3 }),
  });

  /** A message of the corpus, or two, with a few bytes changed. */
  const mutated = (from: readonly Buffer[]) =>
    fc
      .tuple(
        fc.array(fc.constantFrom(...from), { minLength: 1, maxLength: 2 }),
        fc.array(change, { maxLength: 4 }),
      )
      .map(([parts, changes]) => {
        let bytes = Buffer.concat(parts);
        for (const { at, removed, added } of changes) {
          const start = Math.floor(at * bytes.length);
          const rest = bytes.subarray(start + removed);
          bytes = Buffer.concat([bytes.subarray(0, start), Buffer.from(added), rest]);
        }
        return bytes;
      });
  const random = fc.array(byte, { maxLength: 400 }).map((bytes) => Buffer.from(bytes));

  test('is read the same at every split', () => {
    const input = fc.oneof({ arbitrary: mutated(seeds), weight: 4 }, random);
    const property = fc.property(input, cuts, (bytes, at) => {
      expect(readRequests(split(bytes, at))).toEqual(readRequests([bytes]));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('of responses, too', () => {
    const input = fc.oneof({ arbitrary: mutated(responseSeeds), weight: 4 }, random);
    const method = fc.constantFrom('GET', 'HEAD', 'POST');
    const property = fc.property(input, method, cuts, (bytes, asked, at) => {
      expect(readResponses([{ method: asked, pieces: split(bytes, at) }])).toEqual(
        readResponses([{ method: asked, pieces: [bytes] }]),
      );
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('is read as the reference reads it, which works in another way', () => {
    const input = fc.oneof({ arbitrary: mutated(seeds), weight: 9 }, random);
    const property = fc.property(input, (bytes) => {
      const read = readRequests([bytes]);
      const { messages, isClean } = referenceRequests(bytes.toString('latin1'));
      expect(read.filter(({ fails }) => fails === undefined)).toMatchObject(messages);
      expect(read.every(({ fails }) => fails === undefined)).toBe(isClean);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  test('that is accepted is the same request when it is written and read again', () => {
    const property = fc.property(mutated(seeds), (bytes) => {
      const accepted = readRequests([bytes]).filter(({ fails }) => fails === undefined);
      for (const one of accepted) expect(readRequests(forwarded(one))).toMatchObject([one]);
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('gives no more parts than bytes allow, and leaves no more than the limits', () => {
    const heldMax = limits.headBytesMax + limits.trailerBytesMax;
    const input = fc.oneof(mutated(seeds), mutated(responseSeeds), random);
    const property = fc.property(input, cuts, (bytes, at) => {
      const request = new RequestReader(limits);
      const response = new ResponseReader(limits);
      response.expect('GET');
      let parts = 0;
      for (const piece of split(bytes, at))
        for (const reader of [request, response]) {
          reader.push(piece);
          while (reader.next() !== undefined) parts++;
          expect(reader.bufferedBytes).toBeLessThanOrEqual(heldMax);
        }
      // A message has a head and an end, and no data without a byte.
      expect(parts).toBeLessThanOrEqual(2 * bytes.length + 4);
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

describe('a message that arrives byte by byte', () => {
  const size = 1024 * 1024;
  const limits = { ...DEFAULT_MESSAGE_LIMITS, headBytesMax: 2 * size, trailerBytesMax: 2 * size };

  /** The kinds of the parts of which there are others than data. */
  function kindsOf(text: string): string[] {
    const reader = new RequestReader(limits);
    const kinds: string[] = [];
    for (const byte of Buffer.from(text, 'latin1')) {
      reader.push(Buffer.of(byte));
      for (let part = reader.next(); part !== undefined; part = reader.next())
        if (part.kind !== 'data') kinds.push(part.kind);
    }
    return kinds;
  }

  // Work that grows with the square of the length would go on until the test is ended.
  test.each([
    ['one long field', `Host: a\r\nA: ${'b'.repeat(size)}\r\n\r\n`],
    [
      'trailers',
      `Host: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ${'b'.repeat(size)}\r\n\r\n`,
    ],
  ])('is read in linear time: %s', (_, rest) => {
    expect(kindsOf(`GET / HTTP/1.1\r\n${rest}`)).toEqual(['head', 'end']);
  });
});
