// Sender: makes one attempt of a delivery: a POST to the URL of a subscription, and what became of it.
//
// Invariants
// S1  An attempt is one request at most: nothing is sent a second time, and nothing is sent once the time of the attempt is over.
// S2  It connects to addresses that ReceiverAddresses has checked, and to no proxy.
// S3  Its result is decided by the head of the final response. It keeps no more of a response than the limits say.
// S4  It never rejects, and its result has no text of the receiver.
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { type AttemptError, AttemptFailure, attemptErrorOf } from './attempt-error.ts';
import type { ReceiverAddresses } from './receiver-addresses.ts';
import { receiverUrl } from './receiver-url.ts';
import type { SenderLimits } from './sender-limits.ts';
import { type SignedDelivery, signedHeaders } from './signed-headers.ts';

export interface SenderOptions {
  readonly addresses: ReceiverAddresses;
  readonly limits: SenderLimits;
  /** Certificates of further authorities whose receivers are trusted, in PEM, besides those that Node brings. */
  readonly authorities?: readonly string[];
  /** Time in milliseconds since 1970, for signatures. */
  readonly nowMs: () => number;
}

/** A delivery, with its subscription as it is now. */
export interface SentDelivery extends SignedDelivery {
  /** Absolute, http or https. */
  readonly url: string;
}

export interface AttemptResult {
  /** True: the receiver has answered with a 2xx status. */
  readonly isDelivered: boolean;
  /** Status of the answer; null if there was none. */
  readonly status: number | null;
  readonly error: AttemptError | null;
  /** From the beginning until the head of the answer, or until it was certain that there is none. */
  readonly durationMs: number;
}

const STATUS_SWITCHING_PROTOCOLS = 101;
/** Informational responses before the final one. */
const INFORMATIONAL_MAX = 16;

export class Sender implements AsyncDisposable {
  readonly #options: SenderOptions;
  readonly #agent: Agent;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { addresses, limits, authorities = [] } = options;
    this.#agent = new Agent({
      allowH2: false,
      maxHeaderSize: limits.headBytesMax,
      keepAliveTimeout: limits.idleTimeoutMs,
      keepAliveMaxTimeout: limits.idleTimeoutMs,
      // The time of the attempt is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: limits.attemptTimeoutMs,
        lookup: addresses.lookup,
        secureContext: createSecureContext({
          minVersion: 'TLSv1.2',
          ca: [...getCACertificates(), ...authorities],
        }),
        // The environment could turn it off.
        rejectUnauthorized: true,
        // Node does not check the certificate of a resumed session.
        maxCachedSessions: 0,
      },
    });
  }

  /**
   * Makes the attempt. Resolves within its time, once the body of the answer is read or left, so that an attempt under way has at most one connection.
   * Never rejects.
   */
  async attempt(delivery: SentDelivery): Promise<AttemptResult> {
    const startedMs = performance.now();
    const { addresses, limits, nowMs } = this.#options;
    const { promise, resolve } = Promise.withResolvers<AttemptResult>();
    try {
      const url = receiverUrl(delivery.url);
      addresses.check(url);
      const headers = signedHeaders(delivery, url.pathname, nowMs());
      const handler = new AttemptHandler(startedMs, limits, resolve);
      this.#agent.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'POST',
          headers,
          body: delivery.body,
        },
        handler,
      );
    } catch (error) {
      resolve(failed(startedMs, attemptErrorOf(error)));
    }
    return await promise;
  }

  /** Ends all attempts under way, which are interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.addresses.cancel();
    await this.#agent.destroy();
  }
}

/** Receives the events of one attempt from undici. */
class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #startedMs: number;
  readonly #limits: SenderLimits;
  readonly #resolve: (result: AttemptResult) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #result: AttemptResult | undefined;
  #isOver = false;
  #bodyBytes = 0;
  #informational = 0;

  constructor(startedMs: number, limits: SenderLimits, resolve: (result: AttemptResult) => void) {
    this.#startedMs = startedMs;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#end('timeout'), limits.attemptTimeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new AttemptFailure('timeout'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status === STATUS_SWITCHING_PROTOCOLS) return this.#end('protocol');
    if (status < 200) {
      if (++this.#informational > INFORMATIONAL_MAX) this.#end('protocol');
      return;
    }
    this.#result = {
      isDelivered: status < 300,
      status,
      error: status >= 300 && status < 400 ? 'redirect' : null,
      durationMs: performance.now() - this.#startedMs,
    };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#limits.bodyBytesMax) this.#end('protocol');
  }

  onResponseEnd(): void {
    // The connection is kept for the next attempt.
    this.#controller = undefined;
    this.#end('protocol');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(attemptErrorOf(error));
  }

  /** `error`: of an attempt without a final response. A request that still is under way breaks off with its connection. */
  #end(error: AttemptError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#controller?.abort(new AttemptFailure(error));
    this.#resolve(this.#result ?? failed(this.#startedMs, error));
  }
}

function failed(startedMs: number, error: AttemptError): AttemptResult {
  return {
    isDelivered: false,
    status: null,
    error,
    durationMs: performance.now() - startedMs,
  };
}
