// The corpus of requests and responses in fixtures/http1: its form, and what a reader makes of the bytes of a case.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DEFAULT_MESSAGE_LIMITS,
  type Framing,
  type MessageFailure,
  type RequestHead,
  RequestReader,
  type RequestPart,
  type ResponseHead,
  ResponseReader,
  type ResponsePart,
} from '../../../http1/index.ts';

type Text = string | { readonly repeat: string; readonly times: number };

/** A message, with those of its properties that the case is about. Absent: no body, no trailers, no failure. */
export interface ExpectedMessage {
  readonly body?: string;
  readonly trailers?: readonly string[];
  /** Code of the failure, after its status for a request. */
  readonly fails?: string;
  readonly [property: string]: unknown;
}

export interface CorpusCase {
  readonly name: string;
  /** RFC and section that say so. */
  readonly rfc: string;
  /** What arrives before the peer ends its side, in latin1. */
  readonly in: Text | readonly Text[];
  readonly out: readonly ExpectedMessage[];
  /**
   * Methods of the requests that are answered, in a file of responses; a GET if it is absent. If there are several, `in`
   * has the bytes that arrive between a request and the next.
   */
  readonly to?: readonly string[];
}

export function corpusCases(file: string): readonly CorpusCase[] {
  const path = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'http1', file);
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly CorpusCase[] }).cases;
}

export function bytesOf(input: CorpusCase['in']): Buffer {
  const texts = Array.isArray(input) ? (input as readonly Text[]) : [input as Text];
  const whole = texts.map((text) =>
    typeof text === 'string' ? text : text.repeat.repeat(text.times),
  );
  return Buffer.from(whole.join(''), 'latin1');
}

/** What a reader makes of a message. Bodies are latin1. */
export interface ReadMessage {
  body: string;
  trailers: readonly string[];
  fails?: string;
  [property: string]: unknown;
}

/** Collects the parts of messages. */
class Messages {
  readonly list: ReadMessage[] = [];
  readonly #shown: (failure: MessageFailure) => string;
  /** The message that has not ended. */
  #open: ReadMessage | undefined;

  constructor(shown: (failure: MessageFailure) => string) {
    this.#shown = shown;
  }

  take(part: RequestPart | ResponsePart): void {
    switch (part.kind) {
      case 'informational':
        this.list.push({ ...headOf(part.head), informational: true });
        break;
      case 'head':
        this.#open = headOf(part.head);
        this.list.push(this.#open);
        break;
      case 'data':
        if (this.#open !== undefined) this.#open.body += part.bytes.toString('latin1');
        break;
      case 'end':
        if (this.#open !== undefined) this.#open.trailers = part.trailers.flat;
        this.#open = undefined;
        break;
      case 'failure':
        this.fail(part.failure);
        break;
    }
  }

  fail(failure: MessageFailure): void {
    const fails = this.#shown(failure);
    if (this.#open === undefined) this.list.push({ fails, body: '', trailers: [] });
    else this.#open.fails = fails;
  }
}

function headOf({ fields, framing, ...head }: RequestHead | ResponseHead): ReadMessage {
  return { ...head, fields: fields.flat, framing: framingOf(framing), body: '', trailers: [] };
}

function framingOf(framing: Framing): string | number {
  return framing.kind === 'length' ? framing.bytes : framing.kind;
}

/** Reads requests from pieces of bytes, to the end of the client's side. */
export function readRequests(pieces: Iterable<Buffer>): readonly ReadMessage[] {
  const reader = new RequestReader(DEFAULT_MESSAGE_LIMITS);
  const messages = new Messages(({ status, code }) => `${status} ${code}`);
  for (const piece of pieces) {
    reader.push(piece);
    for (let part = reader.next(); part !== undefined; part = reader.next()) messages.take(part);
  }
  const failure = reader.finish();
  if (failure !== undefined) messages.fail(failure);
  return messages.list;
}

/** A request and the bytes that arrive after it and before the next one. */
export interface Exchange {
  /** Undefined: no request was sent. */
  readonly method: string | undefined;
  readonly pieces: readonly Buffer[];
}

/** Reads responses, to the end of the server's side. */
export function readResponses(exchanges: readonly Exchange[]): readonly ReadMessage[] {
  const reader = new ResponseReader(DEFAULT_MESSAGE_LIMITS);
  const messages = new Messages(({ code }) => code);
  const drain = () => {
    for (let part = reader.next(); part !== undefined; part = reader.next()) messages.take(part);
  };
  for (const { method, pieces } of exchanges) {
    if (method !== undefined) reader.expect(method);
    for (const piece of pieces) {
      reader.push(piece);
      drain();
    }
  }
  const failure = reader.finish();
  if (failure !== undefined) messages.fail(failure);
  drain();
  return messages.list;
}
