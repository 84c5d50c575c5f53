// What a caller may rely on: when parts come, what a reader keeps, and what it says of its state.
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_MESSAGE_LIMITS,
  RequestReader,
  type RequestPart,
  ResponseReader,
  type ResponsePart,
} from '../../http1/index.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n';

function kinds(reader: { next(): RequestPart | ResponsePart | undefined }): string[] {
  const found: string[] = [];
  for (let part = reader.next(); part !== undefined; part = reader.next())
    found.push(part.kind === 'failure' ? part.failure.code : part.kind);
  return found;
}

function requests(...texts: readonly string[]): RequestReader {
  const reader = new RequestReader(DEFAULT_MESSAGE_LIMITS);
  for (const text of texts) reader.push(bytes(text));
  return reader;
}

function responses(...texts: readonly string[]): ResponseReader {
  const reader = new ResponseReader(DEFAULT_MESSAGE_LIMITS);
  reader.expect('GET');
  for (const text of texts) reader.push(bytes(text));
  return reader;
}

describe('a request reader', () => {
  test('gives data as parts of what it was given, without a copy', () => {
    const reader = new RequestReader(DEFAULT_MESSAGE_LIMITS);
    const pushed = bytes(`${POST}hello`);
    reader.push(pushed);
    reader.next();
    const data = reader.next();
    expect(data).toMatchObject({ kind: 'data' });
    if (data?.kind !== 'data') return;
    pushed.write('J', POST.length);
    expect(data.bytes.toString()).toBe('Jello');
  });

  test('gives a message with its end before it reads the next', () => {
    const reader = requests(GET + GET);
    expect(reader.next()?.kind).toBe('head');
    expect(reader.next()?.kind).toBe('end');
    expect(reader.betweenMessages).toBe(false);
    expect(reader.bufferedBytes).toBe(GET.length);
    expect(kinds(reader)).toEqual(['head', 'end']);
    expect(reader.betweenMessages).toBe(true);
    expect(reader.bufferedBytes).toBe(0);
  });

  test('reads what was pushed before anything was read', () => {
    expect(
      kinds(requests('GET / HT', 'TP/1.1\r\nHost', ': a\r\n\r\n', `${POST}he`, 'llo')),
    ).toEqual(['head', 'end', 'head', 'data', 'end']);
  });

  test('is between messages until the first byte of a request, and again after its end', () => {
    const reader = requests();
    expect(reader.betweenMessages).toBe(true);
    for (const text of ['\r', '\n']) {
      reader.push(bytes(text));
      expect(kinds(reader)).toEqual([]);
      expect(reader.betweenMessages).toBe(true);
      expect(reader.finish()).toBeUndefined();
    }
    reader.push(bytes('G'));
    expect(reader.betweenMessages).toBe(false);
    expect(kinds(reader)).toEqual([]);
    expect(reader.betweenMessages).toBe(false);
    expect(reader.finish()?.code).toBe('incomplete-message');
  });

  test('counts the bytes of a head that is not complete', () => {
    const reader = requests('GET / HTTP/1.1\r\n', 'Host');
    expect(reader.bufferedBytes).toBe(20);
    expect(kinds(reader)).toEqual([]);
    expect(reader.bufferedBytes).toBe(20);
  });

  test('says nothing after a failure, whatever follows', () => {
    const reader = requests('GET /\n', GET);
    expect(kinds(reader)).toEqual(['bare-line-feed']);
    reader.push(bytes(GET));
    expect(kinds(reader)).toEqual([]);
    expect(reader.bufferedBytes).toBe(0);
    expect(reader.finish()).toBeUndefined();
  });

  test('gives each failure its status and a sentence without a byte of the peer', () => {
    const reader = requests('GET / HTTP/7.7\r\n');
    expect(reader.next()).toEqual({
      kind: 'failure',
      failure: {
        code: 'unsupported-version',
        status: 505,
        reason: 'The HTTP version is neither 1.0 nor 1.1.',
      },
    });
  });

  test('reads many requests on one connection alike', () => {
    const reader = requests();
    for (let count = 0; count < 1000; count++) {
      reader.push(bytes(count % 2 === 0 ? GET : `${POST}hello`));
      expect(kinds(reader)).toEqual(count % 2 === 0 ? ['head', 'end'] : ['head', 'data', 'end']);
    }
  });

  test('keeps its limits for the head after a large one', () => {
    const large = `GET / HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(1999)}\r\n`;
    const reader = requests(large, GET, large.slice(0, 4000), large.slice(4000), GET);
    expect(kinds(reader)).toEqual(Array.from({ length: 4 }, () => ['head', 'end']).flat());
  });
});

describe('a response reader', () => {
  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi';

  test('waits for a request before a response', () => {
    const reader = new ResponseReader(DEFAULT_MESSAGE_LIMITS);
    expect(reader.betweenMessages).toBe(true);
    expect(reader.next()).toBeUndefined();
    expect(reader.finish()).toBeUndefined();
    reader.expect('GET');
    reader.push(bytes(OK));
    expect(kinds(reader)).toEqual(['head', 'data', 'end']);
    expect(reader.betweenMessages).toBe(true);
    reader.expect('GET');
    reader.push(bytes(OK));
    expect(kinds(reader)).toEqual(['head', 'data', 'end']);
  });

  test('never takes bytes that arrived before a request for its response', () => {
    const reader = responses(OK + OK);
    expect([reader.next(), reader.next(), reader.next()].map((part) => part?.kind)).toEqual([
      'head',
      'data',
      'end',
    ]);
    reader.expect('GET');
    expect(kinds(reader)).toEqual(['unsolicited']);
  });

  test('is told of a request only when the last one was answered', () => {
    const reader = responses('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 200 OK\r\n');
    expect(() => reader.expect('GET')).toThrow('not complete');
    expect(kinds(reader)).toEqual(['informational']);
    expect(() => reader.expect('GET')).toThrow('not complete');
  });

  test('takes the end of a connection before an answer for a failure', () => {
    const reader = responses();
    expect(reader.betweenMessages).toBe(true);
    expect(reader.finish()?.code).toBe('incomplete-message');
  });

  test('gives the end of a body that lasts as long as its connection', () => {
    const reader = responses('HTTP/1.1 200 OK\r\n\r\nhello');
    expect(kinds(reader)).toEqual(['head', 'data']);
    expect(reader.betweenMessages).toBe(false);
    expect(reader.finish()).toBeUndefined();
    expect(kinds(reader)).toEqual(['end']);
    expect(kinds(reader)).toEqual([]);
  });

  test('says nothing after a failure', () => {
    const reader = responses('HTTP/1.1 101 X\r\n\r\n', OK);
    expect(kinds(reader)).toEqual(['switching-protocols']);
    reader.expect('GET');
    reader.push(bytes(OK));
    expect(kinds(reader)).toEqual([]);
    expect(reader.finish()).toBeUndefined();
  });
});
