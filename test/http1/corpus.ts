// The corpus of requests and responses in fixtures/http1: its form, and what a reader makes of the bytes of a case.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DEFAULT_MESSAGE_LIMITS,
  type FieldList,
  type Framing,
  type MessageFailure,
  RequestReader,
  type RequestPart,
  ResponseReader,
  type ResponsePart,
} from '../../http1/index.ts';

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
  const path = join(import.meta.dirname, '..', '..', 'fixtures', 'http1', file);
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
  #isOpen = false;
  readonly #shown: (failure: MessageFailure) => string;

  constructor(shown: (failure: MessageFailure) => string) {
    this.#shown = shown;
  }

  take(part: RequestPart | ResponsePart): void {
    if (part.kind === 'head' || part.kind === 'informational') {
      const { fields, framing, ...head } = part.head;
      const informational = part.kind === 'informational' ? { informational: true } : {};
      this.list.push({
        ...head,
        ...informational,
        fields: fields.flat,
        framing: framingOf(framing),
        body: '',
        trailers: [],
      });
      this.#isOpen = part.kind === 'head';
    } else if (part.kind === 'data') this.list.at(-1)!.body += part.bytes.toString('latin1');
    else if (part.kind === 'end') this.#end(part.trailers);
    else this.fail(part.failure);
  }

  #end(trailers: FieldList): void {
    this.list.at(-1)!.trailers = trailers.flat;
    this.#isOpen = false;
  }

  fail(failure: MessageFailure): void {
    const fails = this.#shown(failure);
    if (this.#isOpen) this.list.at(-1)!.fails = fails;
    else this.list.push({ fails, body: '', trailers: [] });
  }
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
