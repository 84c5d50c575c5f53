// One request on a client's connection and its response.
import type { FieldList } from '../messages/field-list.ts';
import type { Framing } from '../messages/framing.ts';
import type { HttpVersion, ResponseHead } from '../messages/heads.ts';
import type { BodySink } from './body.ts';
import { type BodyTarget, BodyWriter } from './body-writer.ts';
import type { ClientFailure } from './client-failure.ts';

export interface ClientRequest {
  readonly method: string;
  /** Request target as it is written. */
  readonly target: string;
  readonly version: HttpVersion;
  /** Name, value, name, value and so on, without those that the framing demands, and without Connection. */
  readonly fields: readonly string[];
  /** Framing of the body: none, a length or chunked. */
  readonly framing: Framing;
}

/** Receives a response. Exactly one of `end` and `failed` is called, and nothing after it. */
export interface ResponseReceiver {
  /** A response with a status from 100 to 199, which another one follows. */
  informational(head: ResponseHead): void;
  head(head: ResponseHead): void;
  /** The bytes belong to the receiver. */
  data(bytes: Buffer): void;
  end(trailers: FieldList): void;
  failed(failure: ClientFailure): void;
}

/** The connection of an exchange. */
export interface ClientExchangeOwner {
  put(bytes: Buffer, afterReads: boolean): boolean;
  proceed(exchange: ClientExchange): void;
  /** Breaks the connection off: nobody wants the response. */
  cancel(exchange: ClientExchange): void;
}

export class ClientExchange implements BodyTarget {
  /** Takes the body of the request. Without a body it has to be ended all the same. */
  readonly body: BodySink;
  readonly receiver: ResponseReceiver;
  isRequestComplete = false;
  isPaused = false;
  readonly #owner: ClientExchangeOwner;
  readonly #writer: BodyWriter;
  #isBodyFirst = true;

  constructor(owner: ClientExchangeOwner, framing: Framing, receiver: ResponseReceiver) {
    this.#owner = owner;
    this.receiver = receiver;
    this.#writer = new BodyWriter(this, framing);
    this.body = this.#writer;
  }

  /** Stops giving the response, until `resume`. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.#owner.proceed(this);
  }

  /** Breaks the connection off. The receiver is not called any more. */
  cancel(): void {
    this.#owner.cancel(this);
  }

  // The rest is called by the writer of the body and by the connection.

  put(bytes: Buffer): boolean {
    // Bytes that are put together with the head leave with it.
    return this.#owner.put(bytes, !this.#isBodyFirst);
  }

  /** The head has been written: what follows is written on its own. */
  headWritten(): void {
    this.#isBodyFirst = false;
  }

  bodyEnded(): void {
    this.isRequestComplete = true;
  }

  bodyCut(): void {
    this.#owner.cancel(this);
  }

  drained(): void {
    if (!this.isRequestComplete) this.#writer.onDrain?.();
  }

  /** The exchange is over: what is still written of the request is thrown away. */
  detach(): void {
    this.#writer.detach();
  }
}
