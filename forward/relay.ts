// Relay: one request on its way to a target, and the response on its way back. Bodies stream both ways, and each side waits for
// the other to take what it was given.
//
// Invariants:
// - Only a GET or HEAD is sent a second time: once, on a new connection, and only if the first one closed before any byte of a
//   response. What was received of its body is kept for that, if there is room (KeptBodies).
// - A request that is not complete never ends validly at the target, nor does such a response at the client.
// - The client gets one final response: the target's, or one answer of whoever forwards.
// - The target learns once that the request is over.
import {
  type ClientExchange,
  type ClientFailure,
  type FieldList,
  type ResponseHead,
  type ResponseReceiver,
  type ServerExchange,
  type BodySink,
} from '@svc/http1';
import { respondWith } from './answer-response.ts';
import type { ForwardedHead } from './forwarded-head.ts';
import type { KeptBodies, KeptBody } from './kept-bodies.ts';
import type { OwnAnswer } from './own-answer.ts';
import { passedTrailers } from './request-fields.ts';
import { passedResponseFields } from './response-fields.ts';
import type { Target, TargetOutcome } from './target.ts';

const CLOSED: ClientFailure = { kind: 'closed-before-response', isUnsent: false };

export class Relay implements ResponseReceiver {
  readonly #exchange: ServerExchange;
  readonly #head: ForwardedHead;
  readonly #target: Target;
  /** The body so far, of a request that may be sent once more; undefined: it may not. */
  #kept: KeptBody | undefined;
  /** Trailers of the request; undefined: it is not complete. */
  #trailers: FieldList | undefined;
  #client: ClientExchange | undefined;
  #cancelTaking: (() => void) | undefined;
  /** The request was sent, or is being sent, for the second time. */
  #isRepeated = false;
  #response: BodySink | undefined;
  #isReceiving = false;
  #isOver = false;

  constructor(
    exchange: ServerExchange,
    head: ForwardedHead,
    target: Target,
    keptBodies: KeptBodies,
  ) {
    this.#exchange = exchange;
    this.#head = head;
    this.#target = target;
    const { method } = exchange.head;
    this.#kept = method === 'GET' || method === 'HEAD' ? keptBodies.begin() : undefined;
  }

  start(): void {
    const onGone = (): void => this.#leave();
    this.#exchange.onGone = onGone;
    this.#take(false);
  }

  // The connection to the target.

  #take(fresh: boolean): void {
    const canRepeat = this.#kept !== undefined;
    this.#cancelTaking = this.#target.take({ fresh, canRepeat }, (outcome) => {
      if (!this.#isOver) this.#send(outcome);
    });
  }

  #send(outcome: TargetOutcome): void {
    if (outcome.connection === undefined) {
      this.#answer(outcome.answer);
      return;
    }
    const { framing } = this.#exchange.head;
    const { method, path, fields } = this.#head;
    const client = outcome.connection.send(
      { method, target: path, version: '1.1', fields, framing },
      this,
    );
    this.#client = client;
    const onDrain = (): void => this.#exchange.resume();
    client.body.onDrain = onDrain;
    if (this.#kept !== undefined) client.body.write(this.#kept.whole);
    if (this.#trailers !== undefined) client.body.end(passedTrailers(this.#trailers));
    else if (this.#isReceiving) this.#exchange.resume();
    else this.#receive();
  }

  // The request.

  #receive(): void {
    this.#isReceiving = true;
    this.#exchange.receive({
      data: (bytes) => this.#requestData(bytes),
      end: (trailers) => {
        this.#trailers = trailers;
        this.#client?.body.end(passedTrailers(trailers));
      },
      broken: () => this.#requestBroken(),
    });
  }

  /** The connection answers the client, unless the response has begun. */
  #requestBroken(): void {
    const response = this.#response;
    const wasOver = this.#isOver;
    this.#leave();
    if (!wasOver) response?.destroy();
  }

  #requestData(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#keep(bytes);
    if (this.#client !== undefined) {
      if (!this.#client.body.write(bytes)) this.#exchange.pause();
    } else if (this.#kept !== undefined) {
      // The second connection is being opened.
      this.#exchange.pause();
    } else {
      this.#cancelTaking?.();
      this.#answer(this.#target.answerTo(CLOSED));
    }
  }

  #keep(bytes: Buffer): void {
    if (this.#kept?.keep(bytes) === false) this.#forget();
  }

  // The response.

  informational({ status, reason, fields }: ResponseHead): void {
    this.#forget();
    const passed = passedResponseFields(fields, this.#target.responder);
    this.#exchange.informational(status, reason, passed);
  }

  head({ status, reason, fields, framing }: ResponseHead): void {
    this.#forget();
    const passed = passedResponseFields(fields, this.#target.responder);
    const response = this.#exchange.respond(status, reason, passed, framing);
    const onDrain = (): void => this.#client?.resume();
    response.onDrain = onDrain;
    this.#response = response;
  }

  data(bytes: Buffer): void {
    if (this.#response?.write(bytes) === false) this.#client?.pause();
  }

  end(trailers: FieldList): void {
    this.#client = undefined;
    this.#response?.end(passedTrailers(trailers));
    this.#finish();
  }

  failed(failure: ClientFailure): void {
    this.#client = undefined;
    if (this.#response !== undefined) {
      this.#response.destroy();
      this.#finish();
    } else if (this.#mayRepeat(failure)) {
      this.#isRepeated = true;
      this.#take(true);
    } else {
      this.#answer(this.#target.answerTo(failure));
    }
  }

  /** Forgets the body: the request is not sent once more. */
  #forget(): void {
    this.#kept?.forget();
    this.#kept = undefined;
  }

  #mayRepeat({ kind }: ClientFailure): boolean {
    return kind === 'closed-before-response' && this.#kept !== undefined && !this.#isRepeated;
  }

  #answer(answer: OwnAnswer): void {
    this.#finish();
    respondWith(this.#exchange, answer);
  }

  #finish(): void {
    this.#isOver = true;
    this.#forget();
    this.#target.ended?.();
  }

  /** Ends the request at the target without a valid end: the client is gone, or its request broke off. */
  #leave(): void {
    if (this.#isOver) return;
    this.#cancelTaking?.();
    this.#client?.cancel();
    this.#client = undefined;
    this.#finish();
  }
}
