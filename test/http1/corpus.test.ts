// Each request and response of the corpus is read as RFC 9110 and 9112 say, or refused, however its bytes are split.
import { describe, expect, test } from 'vitest';
import {
  type CorpusCase,
  type ExpectedMessage,
  type ReadMessage,
  bytesOf,
  corpusCases,
  readRequests,
  readResponses,
} from '../support/http1/corpus.ts';
import { referenceRequests } from '../support/http1/reference-requests.ts';

const REQUESTS = [
  'request-lines.json',
  'targets.json',
  'hosts.json',
  'fields.json',
  'framing.json',
  'chunks.json',
];
const RESPONSES = ['status-lines.json', 'response-framing.json'];
/** Inputs with more bytes are not split at every point, but at some that are spread over them. */
const LONG_BYTES = 2000;
const SPLITS_OF_LONG = 50;

/** Positions at which an input is split in two. */
function splitPoints(length: number): readonly number[] {
  const step = length > LONG_BYTES ? Math.floor(length / SPLITS_OF_LONG) : 1;
  return Array.from({ length: Math.floor(length / step) }, (_, index) => index * step);
}

const single = (bytes: Buffer) => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
const halves = (bytes: Buffer, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];

/** The properties of a message that the case names. */
function named(message: ReadMessage | undefined, expected: ExpectedMessage): unknown {
  const { body, trailers, fails } = message ?? {};
  const properties = Object.keys(expected).map((key) => [key, message?.[key]]);
  return { body, trailers, fails, ...Object.fromEntries(properties) };
}

function expectMessages(read: readonly ReadMessage[], { out }: CorpusCase): void {
  const shown = out.map((expected, index) => named(read[index], expected));
  const expected = out.map((message) => ({ body: '', trailers: [], ...message }));
  expect(shown).toEqual(expected);
  expect(read).toHaveLength(out.length);
}

/** The reference knows no limits. */
function expectAsReference(read: readonly ReadMessage[], bytes: Buffer): void {
  if (bytes.length > LONG_BYTES) return;
  const { messages, isClean } = referenceRequests(bytes.toString('latin1'));
  expect(read.filter(({ fails }) => fails === undefined)).toMatchObject(messages);
  expect(read.every(({ fails }) => fails === undefined)).toBe(isClean);
}

test('has at least 250 cases, each with its RFC and section', () => {
  const cases = [...REQUESTS, ...RESPONSES].flatMap(corpusCases);
  expect(cases.length).toBeGreaterThanOrEqual(250);
  expect(cases.filter(({ rfc }) => !/^91(10|12) \d+(\.\d+)*$/.test(rfc))).toEqual([]);
});

describe.each(REQUESTS)('requests: %s', (file) => {
  test.each(corpusCases(file))('$name', (one) => {
    const bytes = bytesOf(one.in);
    const atOnce = readRequests([bytes]);
    expectMessages(atOnce, one);
    expectAsReference(atOnce, bytes);
    for (const at of splitPoints(bytes.length))
      expect(readRequests(halves(bytes, at)), `split at ${at}`).toEqual(atOnce);
    expect(readRequests(single(bytes)), 'byte by byte').toEqual(atOnce);
  });
});

describe.each(RESPONSES)('responses: %s', (file) => {
  test.each(corpusCases(file))('$name', (one) => {
    const methods = one.to ?? ['GET'];
    const [first] = methods;
    const inputs =
      methods.length > 1
        ? (one.in as readonly string[]).map((input) => bytesOf(input))
        : [bytesOf(one.in)];
    const read = (pieces: (bytes: Buffer) => readonly Buffer[]) =>
      readResponses(
        inputs.map((bytes, index) => ({
          method: index === 0 ? first : methods[index],
          pieces: pieces(bytes),
        })),
      );
    const atOnce = read((bytes) => [bytes]);
    expectMessages(atOnce, one);
    const longest = Math.max(...inputs.map(({ length }) => length));
    for (const at of splitPoints(longest))
      expect(
        read((bytes) => halves(bytes, at)),
        `split at ${at}`,
      ).toEqual(atOnce);
    expect(read(single), 'byte by byte').toEqual(atOnce);
  });
});
