// Reads requests from bytes that arrive at any split. Does no I/O and knows no clock. After a failure it drops all bytes.
import { failure, type FailureCode, type MessageFailure } from '../messages/failure.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { RequestPart } from '../messages/parts.ts';
import { BodyReader } from './body-reader.ts';
import { ByteInput } from './byte-input.ts';
import { requestHead } from './request-head.ts';
import { SectionReader } from './section-reader.ts';

type State = 'head' | 'body' | 'failed';

export class RequestReader {
  readonly #input = new ByteInput();
  readonly #section: SectionReader;
  readonly #body: BodyReader;
  #state: State = 'head';

  constructor(limits: MessageLimits) {
    this.#section = new SectionReader('request', {
      bytesMax: limits.headBytesMax,
      fieldsMax: limits.fieldsMax,
      tooLarge: 'head-too-large',
    });
    this.#body = new BodyReader(limits);
  }

  /** Takes bytes. The reader keeps no reference to them once `next` has returned undefined. */
  push(bytes: Buffer): void {
    if (this.#state !== 'failed') this.#input.push(bytes);
  }

  /**
   * Returns the next part, or undefined if it needs more bytes. After an end the head of the next request may follow;
   * after a failure nothing does.
   */
  next(): RequestPart | undefined {
    if (this.#state === 'head') return this.#readHead();
    if (this.#state === 'failed') return undefined;
    const part = this.#body.next(this.#input);
    if (part?.kind === 'end') this.#state = 'head';
    if (part?.kind === 'failure') this.#drop();
    return part;
  }

  #readHead(): RequestPart | undefined {
    const result = this.#section.read(this.#input);
    if (result === 'more') return undefined;
    const head = result === 'done' ? requestHead(this.#section) : result;
    this.#section.release();
    if (typeof head === 'string') return this.#fail(head);
    this.#body.begin(head.framing);
    this.#state = 'body';
    return { kind: 'head', head };
  }

  #fail(code: FailureCode): RequestPart {
    this.#drop();
    return { kind: 'failure', failure: failure(code) };
  }

  #drop(): void {
    this.#state = 'failed';
    this.#input.clear();
  }

  /** Takes the end of the peer's side, once `next` has returned undefined. Returns the failure of an incomplete request. */
  finish(): MessageFailure | undefined {
    if (this.#state === 'body') return this.#body.close();
    return this.#state === 'head' && !this.betweenMessages
      ? failure('incomplete-message')
      : undefined;
  }

  /** Whether the last request has ended, and nothing but an empty line was read since. */
  get betweenMessages(): boolean {
    return this.#state === 'head' && !this.#section.hasBegun && this.#input.isEmpty;
  }

  /** Bytes that were pushed and have not been given as parts. */
  get bufferedBytes(): number {
    return this.#input.byteLength + this.#section.byteLength + this.#body.byteLength;
  }
}
