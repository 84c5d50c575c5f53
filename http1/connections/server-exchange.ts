// One request of a connection and its response. The response of a pipelined request is held until those before it are
// complete; its producer is asked to wait meanwhile.
//
// Invariants:
// - There is at most one final response, and no informational one after it.
// - An exchange that has ended (answered, refused, or its client is gone) writes nothing and calls nobody.
import type { MessageFailure } from '../messages/failure.ts';
import type { FieldList } from '../messages/field-list.ts';
import { CHUNKED, type Framing, NO_BODY, UNTIL_CLOSE } from '../messages/framing.ts';
import type { RequestHead } from '../messages/heads.ts';
import { responseHeadText } from '../writers/head-writer.ts';
import type { BodyReceiver, BodySink } from './body.ts';
import { type BodyTarget, BodyWriter } from './body-writer.ts';
import { framedFields } from './framing-fields.ts';
import type { Bytes } from './output.ts';
import type { WholeResponse } from './whole-responses.ts';
import type { ByteSocket } from './socket-end.ts';

/** A request that its handler answers. */
export interface ServerExchange {
  readonly head: RequestHead;
  readonly socket: ByteSocket;
  /** Called at most once, when a response that is not complete can no longer reach the client. */
  onGone: (() => void) | undefined;
  /** Whether the request was received to its end. */
  readonly isRequestComplete: boolean;
  /**
   * Receives the body, and its end for a request without one. May call the receiver before it returns. A handler that has
   * not called it when it responds gets nothing of the body.
   */
  receive(receiver: BodyReceiver): void;
  /** Stops giving the body, until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends a response with a status from 100 to 199. Not to HTTP/1.0, and not to a client that reads too slowly. */
  informational(status: number, reason: string, fields: readonly string[]): void;
  /**
   * Begins the response. `fields` is name, value, name, value and so on, without those that the framing demands, and
   * without Connection. A body of unknown length (chunked or until-close) is sent as the client's version allows. Nothing of
   * the body is sent for HEAD, 204 and 304.
   */
  respond(status: number, reason: string, fields: readonly string[], framing: Framing): BodySink;
  /**
   * Sends a whole response, whose fields are as for `respond`. `onSent`: called once, when the socket has taken the response or
   * the connection is closed. Nothing more of the exchange is called.
   */
  answer(response: WholeResponse, onSent?: () => void): void;
  /** The connection closes after this response. Has to be called before `respond` and `answer`. */
  closeAfterResponse(): void;
  /** Breaks the connection off. */
  reset(): void;
}

/** The connection of an exchange. */
export interface ExchangeOwner {
  readonly socket: ByteSocket;
  /** Value of the field Keep-Alive of responses after which the connection stays open; undefined: they have none. */
  readonly keepAlive: string | undefined;
  /** Writes bytes of the exchange whose turn it is. */
  put(bytes: Bytes): boolean;
  /** Calls back once, when the client has taken all bytes that were put, or the connection is closed. */
  whenTaken(callback: () => void): void;
  /** Bytes that the client has not taken. */
  readonly waitingBytes: number;
  /** Decides whether the connection closes after the response of this exchange, which begins now. */
  closesAfter(exchange: OpenExchange): boolean;
  /** The handler of the exchange may be given more of the request. */
  proceed(exchange: OpenExchange): void;
  responseEnded(exchange: OpenExchange): void;
  /** Closes the connection in place of a response of which no byte was sent. */
  endUnanswered(): void;
  /** Breaks the connection off. */
  cut(): void;
}

/** Bytes that may wait for a slow client before informational responses are dropped. */
const INFORMATIONAL_WAITING_BYTES_MAX = 64 * 1024;

const FINISHED_SINK: BodySink = {
  onDrain: undefined,
  write: () => true,
  end: () => undefined,
  destroy: () => undefined,
};

export class OpenExchange implements ServerExchange, BodyTarget {
  readonly head: RequestHead;
  onGone: (() => void) | undefined;
  isRequestComplete = false;
  /** The connection closes after the response. */
  closes = false;
  readonly #owner: ExchangeOwner;
  #receiver: BodyReceiver | undefined;
  #trailers: FieldList | undefined;
  #isPaused = false;
  #isTurn = false;
  /** A byte of the body has come. */
  #hasBody = false;
  /** The handler has asked for the body with 100 (Continue). */
  #hasContinued = false;
  #hasResponded = false;
  #isResponseComplete = false;
  #isOver = false;
  /** The handler has broken the response off. */
  #isCut = false;
  #writer: BodyWriter | undefined;
  #held: Bytes[] = [];
  #heldBytes = 0;
  /** Called when the response was sent, once it is the turn of the exchange. */
  #onSent: (() => void) | undefined;

  constructor(owner: ExchangeOwner, head: RequestHead) {
    this.#owner = owner;
    this.head = head;
  }

  get socket(): ByteSocket {
    return this.#owner.socket;
  }

  receive(receiver: BodyReceiver): void {
    if (this.#isOver) return;
    this.#receiver = receiver;
    if (this.#trailers !== undefined) receiver.end(this.#trailers);
    else this.#owner.proceed(this);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isOver) this.#owner.proceed(this);
  }

  informational(status: number, reason: string, fields: readonly string[]): void {
    if (this.#isOver || this.#hasResponded || this.head.version === '1.0') return;
    const waitingBytes = this.#isTurn ? this.#owner.waitingBytes : this.#heldBytes;
    if (waitingBytes <= INFORMATIONAL_WAITING_BYTES_MAX)
      this.put(responseHeadText(status, reason, framedFields(fields, NO_BODY, 'forbidden', [])));
    if (status === 100 && !this.#hasContinued) {
      this.#hasContinued = true;
      this.#owner.proceed(this);
    }
  }

  closeAfterResponse(): void {
    this.closes = true;
  }

  respond(status: number, reason: string, fields: readonly string[], framing: Framing): BodySink {
    if (this.#isOver) return FINISHED_SINK;
    if (this.#hasResponded) throw new Error('a request has one response');
    const isBodyless = this.head.method === 'HEAD' || status === 204 || status === 304;
    const isUnbounded = framing.kind === 'chunked' || framing.kind === 'until-close';
    const isOld = this.head.version === '1.0';
    const wire = isBodyless ? NO_BODY : isUnbounded ? (isOld ? UNTIL_CLOSE : CHUNKED) : framing;
    if (wire === UNTIL_CLOSE) this.closes = true;
    this.closes = this.#owner.closesAfter(this);
    // Without a length, a client would read a response that has no body until the end of the connection.
    const described = wire.kind === 'none' && !isBodyless ? EMPTY_BODY : wire;
    const role = status === 204 ? 'forbidden' : isBodyless ? 'described' : 'own';
    const all = framedFields(fields, described, role, this.#connectionFields());
    const head = responseHeadText(status, reason, all);
    this.#hasResponded = true;
    this.put(head);
    this.#writer = new BodyWriter(this, described);
    return this.#writer;
  }

  answer({ status, reason, fields, body }: WholeResponse, onSent?: () => void): void {
    if (this.#isOver) {
      onSent?.();
      return;
    }
    this.respond(status, reason, fields, { kind: 'length', bytes: body.length });
    this.#send(status, body, onSent);
  }

  /** Sends the whole body, after the head, and ends the response. */
  #send(status: number, body: Bytes, onSent: (() => void) | undefined): void {
    this.#onSent = onSent;
    this.#writer = undefined;
    if (this.head.method !== 'HEAD' && status !== 204 && status !== 304) this.put(body);
    if (this.#isTurn) this.#reportSent();
    this.bodyEnded();
  }

  #reportSent(): void {
    const onSent = this.#onSent;
    this.#onSent = undefined;
    if (onSent !== undefined) this.#owner.whenTaken(onSent);
  }

  #connectionFields(): readonly string[] {
    if (this.closes) return CLOSING;
    const { keepAlive } = this.#owner;
    return keepAlive === undefined ? [] : ['Keep-Alive', keepAlive];
  }

  reset(): void {
    if (!this.#isOver) this.#owner.cut();
  }

  // The rest is called by the writer of the body and by the connection.

  put(bytes: Bytes): boolean {
    if (this.#isTurn) return this.#owner.put(bytes);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return false;
  }

  bodyEnded(): void {
    this.#isResponseComplete = true;
    if (this.#isTurn) this.#owner.responseEnded(this);
  }

  bodyCut(): void {
    this.#isCut = true;
    if (this.#isTurn) this.#owner.cut();
  }

  /** Bytes of the response that wait for those before it. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  get isResponseComplete(): boolean {
    return this.#isResponseComplete;
  }

  /** Whether the handler can be given more of the request: it has a receiver that is not paused, or ignores the body. */
  get takesRequest(): boolean {
    if (this.#receiver === undefined)
      return this.#hasResponded || this.head.framing.kind === 'none' || this.#isOver;
    return !this.#isPaused || this.#isOver;
  }

  /** Whether the handler has begun its response without asking for the body. */
  get ignoresBody(): boolean {
    return this.#receiver === undefined;
  }

  /** Whether the client may wait for a response before it sends the body. */
  get awaitsContinue(): boolean {
    const mayHaveSeen = this.#hasContinued && this.#isTurn;
    return this.head.expectsContinue && !this.#hasBody && !mayHaveSeen;
  }

  data(bytes: Buffer): void {
    this.#hasBody = true;
    if (!this.#isOver) this.#receiver?.data(bytes);
  }

  requestEnded(trailers: FieldList): void {
    this.isRequestComplete = true;
    this.#trailers = trailers;
    if (!this.#isOver) this.#receiver?.end(trailers);
  }

  /** The rest of the request is malformed or late, or the client has left. */
  broken(failure: MessageFailure): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    if (!this.#isOver) receiver?.broken(failure);
  }

  /** The responses before this one are complete: sends what was held. */
  takeTurn(): void {
    this.#isTurn = true;
    if (this.#isCut) {
      this.#owner.endUnanswered();
      return;
    }
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    let isReady = true;
    for (const bytes of held) isReady = this.#owner.put(bytes);
    this.#reportSent();
    if (held.length > 0 && isReady) this.drained();
  }

  drained(): void {
    if (!this.#isResponseComplete) this.#writer?.onDrain?.();
  }

  /** Takes the exchange from its handler: nothing that the handler does has an effect any more. */
  gone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#writer?.detach();
    this.#held = [];
    this.#heldBytes = 0;
    if (!this.#isResponseComplete) this.onGone?.();
    const onSent = this.#onSent;
    this.#onSent = undefined;
    onSent?.();
  }

  /** Answers instead of the handler, and reports to it that the exchange is gone. */
  refuse({ status, reason, fields, body }: WholeResponse): void {
    this.gone();
    this.closes = true;
    const framing: Framing = { kind: 'length', bytes: body.length };
    this.#hasResponded = true;
    this.put(responseHeadText(status, reason, framedFields(fields, framing, 'own', CLOSING)));
    this.#send(status, body, undefined);
  }
}

const EMPTY_BODY: Framing = { kind: 'length', bytes: 0 };
const CLOSING: readonly string[] = ['Connection', 'close'];
