// ServiceExchange: one request to a service that was found, and its response, which is kept in memory until it is complete.
//
// Invariants:
// - A response is complete, or it is one of the runtime's own (@svc/forward/answers). Nothing of a response that broke off or is
//   too large reaches the module.
// - The memory that a response takes is counted until the exchange is over, however small the pieces are that it comes in.
// - Only a GET or HEAD is sent a second time: once, on a new connection, and only if the first one closed before any byte of a
//   response.
import type { ServiceReference } from '@svc/client';
import { answer, type NamedService } from '@svc/forward/answers';
import { answerMessage, type OwnAnswer } from '@svc/forward/own-answer';
import type { ForwardedHead } from '@svc/forward/forwarded-head';
import { passedResponseFields } from '@svc/forward/response-fields';
import type { ServiceTarget } from '@svc/forward/service-targets';
import type { TargetOutcome } from '@svc/forward/target';
import type {
  ClientExchange,
  ClientFailure,
  Framing,
  ResponseHead,
  ResponseReceiver,
} from '@svc/http1';
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import type { HeaderList } from '@svc/model/endpoint';
import type { KeptBytes } from '@svc/model/kept-bytes';
import type { ServiceResponse } from '@svc/model/service-call';

/** Methods whose request has a length even if its body is empty (RFC 9110, section 8.6). */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export interface ServiceExchangeOptions {
  readonly target: ServiceTarget;
  readonly head: ForwardedHead;
  readonly body: Uint8Array;
  /** The service, for messages. */
  readonly called: NamedService;
  readonly responseBytesMax: number;
  /** Counts the memory of the response; the exchange frees it. */
  readonly kept: KeptBytes;
  /** Receives the response, once. */
  readonly done: (response: ServiceResponse) => void;
}

export class ServiceExchange implements ResponseReceiver {
  readonly #options: ServiceExchangeOptions;
  #cancelTaking: (() => void) | undefined;
  #client: ClientExchange | undefined;
  #response: ResponseHead | undefined;
  /** Whether the request may be sent once more. */
  #mayRepeat: boolean;
  #isOver = false;
  #gathered: GatheredBytes;
  #bytes = 0;

  constructor(options: ServiceExchangeOptions) {
    this.#options = options;
    this.#mayRepeat = REPEATABLE.has(options.head.method);
    this.#gathered = new GatheredBytes(options.responseBytesMax);
  }

  start(): void {
    this.#take(false);
  }

  /** Breaks the exchange off; `done` is not called any more. */
  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTaking?.();
    this.#client?.cancel();
    this.#forget();
  }

  #take(fresh: boolean): void {
    const taking = { fresh, canRepeat: this.#mayRepeat };
    this.#cancelTaking = this.#options.target.take(taking, (outcome) => {
      if (!this.#isOver) this.#send(outcome);
    });
  }

  #send(outcome: TargetOutcome): void {
    if (outcome.connection === undefined) return this.#settle(responseOf(outcome.answer));
    const { head, body } = this.#options;
    const { method, path, fields } = head;
    const framing: Framing =
      body.length > 0 || WITH_BODY.has(method)
        ? { kind: 'length', bytes: body.length }
        : { kind: 'none' };
    this.#client = outcome.connection.send(
      { method, target: path, version: '1.1', fields, framing },
      this,
    );
    if (body.length > 0)
      this.#client.body.write(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    this.#client.body.end();
  }

  // The response.

  informational(): void {
    this.#mayRepeat = false;
  }

  head(head: ResponseHead): void {
    this.#response = head;
    if (head.framing.kind === 'length' && head.framing.bytes > this.#options.responseBytesMax)
      this.#tooLarge();
  }

  data(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#options.responseBytesMax) this.#tooLarge();
    else if (this.#options.kept.fits(this.#gathered.bytesWith(bytes)))
      this.#gathered.addCopy(bytes);
    else this.#refuse(answer('responses-too-large', { called: this.#options.called }));
  }

  end(): void {
    if (this.#isOver) return;
    const { status, fields } = this.#response!;
    const passed = passedResponseFields(fields, this.#options.target.responder);
    this.#settle({ status, headers: pairs(passed), body: this.#gathered.whole });
  }

  failed(failure: ClientFailure): void {
    this.#client = undefined;
    if (this.#isOver) return;
    if (failure.kind === 'closed-before-response' && this.#mayRepeat) {
      this.#mayRepeat = false;
      this.#take(true);
    } else this.#settle(responseOf(this.#options.target.answerTo(failure)));
  }

  #tooLarge(): void {
    const { called, responseBytesMax: bytesMax } = this.#options;
    this.#refuse(answer('response-too-large', { called, bytesMax }));
  }

  #refuse(own: OwnAnswer): void {
    this.#client?.cancel();
    this.#settle(responseOf(own));
  }

  #settle(response: ServiceResponse): void {
    this.#isOver = true;
    this.#forget();
    this.#options.done(response);
  }

  #forget(): void {
    this.#client = undefined;
    this.#gathered = new GatheredBytes(0);
    this.#options.kept.free();
  }
}

/** Returns the answer to a request whose service cannot be found. */
export function unfoundService(called: ServiceReference): ServiceResponse {
  return responseOf(answer('service-not-found', { called }));
}

/** Returns an answer of the runtime as a process behind the proxy would receive it. */
export function responseOf(own: OwnAnswer): ServiceResponse {
  const { status, fields, body } = answerMessage(own);
  return { status, headers: pairs(fields), body };
}

function pairs(flat: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) list.push([flat[at]!.toLowerCase(), flat[at + 1]!]);
  return list;
}
