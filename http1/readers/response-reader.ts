// Reads the responses to requests, which the caller announces one at a time. Does no I/O and knows no clock. After a
// failure it drops all bytes.
import { failure, type FailureCode, type MessageFailure } from '../messages/failure.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { ResponsePart } from '../messages/parts.ts';
import { BodyReader } from './body-reader.ts';
import { ByteInput } from './byte-input.ts';
import { isInformational, responseHead } from './response-head.ts';
import { SectionReader } from './section-reader.ts';

/** `idle`: no response is expected. */
type State = 'idle' | 'head' | 'body' | 'failed';

export class ResponseReader {
  readonly #input = new ByteInput();
  readonly #section: SectionReader;
  readonly #body: BodyReader;
  readonly #informationalMax: number;
  #state: State = 'idle';
  /** Method of the request to which a response is expected. */
  #method = '';
  /** Informational responses to that request. */
  #informational = 0;

  constructor(limits: MessageLimits) {
    this.#section = new SectionReader('response', {
      bytesMax: limits.headBytesMax,
      fieldsMax: limits.fieldsMax,
      tooLarge: 'head-too-large',
    });
    this.#body = new BodyReader(limits);
    this.#informationalMax = limits.informationalMax;
  }

  /**
   * Announces the request that the next final response answers. Bytes that arrived before are no part of that response:
   * `next` then returns the failure `unsolicited`. Throws if a response is expected or not complete.
   */
  expect(requestMethod: string): void {
    if (this.#state === 'failed') return;
    if (this.#state !== 'idle') throw new Error('the response to the last request is not complete');
    if (!this.#input.isEmpty) return;
    this.#state = 'head';
    this.#method = requestMethod;
    this.#informational = 0;
  }

  /** Takes bytes. The reader keeps no reference to them once `next` has returned undefined. */
  push(bytes: Buffer): void {
    if (this.#state !== 'failed') this.#input.push(bytes);
  }

  /**
   * Returns the next part, or undefined if it needs more bytes. Bytes to which no announced request belongs are the
   * failure `unsolicited`. After a failure nothing follows.
   */
  next(): ResponsePart | undefined {
    switch (this.#state) {
      case 'idle':
        return this.#input.isEmpty ? undefined : this.#fail('unsolicited');
      case 'head':
        return this.#readHead();
      case 'body': {
        const part = this.#body.next(this.#input);
        if (part?.kind === 'end') this.#state = 'idle';
        if (part?.kind === 'failure') this.#drop();
        return part;
      }
      case 'failed':
        return undefined;
    }
  }

  #readHead(): ResponsePart | undefined {
    const result = this.#section.read(this.#input);
    if (result === 'more') return undefined;
    const head = result === 'done' ? responseHead(this.#section, this.#method) : result;
    this.#section.release();
    if (typeof head === 'string') return this.#fail(head);
    if (isInformational(head.status)) {
      this.#informational++;
      if (this.#informational > this.#informationalMax) return this.#fail('too-many-informational');
      return { kind: 'informational', head };
    }
    this.#body.begin(head.framing);
    this.#state = 'body';
    return { kind: 'head', head };
  }

  #fail(code: FailureCode): ResponsePart {
    this.#drop();
    return { kind: 'failure', failure: failure(code) };
  }

  #drop(): void {
    this.#state = 'failed';
    this.#input.clear();
  }

  /**
   * Takes the end of the peer's side, once `next` has returned undefined. Returns the failure of a response that is not
   * complete, or that was expected and has not begun. Completes a body that lasts until then: `next` returns its end.
   */
  finish(): MessageFailure | undefined {
    if (this.#state === 'head') return failure('incomplete-message');
    return this.#state === 'body' ? this.#body.close() : undefined;
  }

  /** Whether no byte of the expected response was read, and none that follows the last one. */
  get betweenMessages(): boolean {
    const isBetween = this.#state === 'idle' || this.#state === 'head';
    return isBetween && !this.#section.hasBegun && this.#input.isEmpty;
  }

  /** Bytes that were pushed and have not been given as parts. */
  get bufferedBytes(): number {
    return this.#input.byteLength + this.#section.byteLength + this.#body.byteLength;
  }
}
