// Sender: makes one attempt of a delivery: a POST to the URL of a subscription, and what became of it.
//
// Invariants
// S1  An attempt is one request at most: nothing is sent a second time, and nothing is sent once the time of the attempt is over.
// S2  It connects to addresses that ReceiverAddresses has checked, and to no proxy.
// S3  Its result is decided by the head of the final response. It keeps no more of a response than the limits say.
// S4  It never rejects, and its result has no text of the receiver.
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { Clock } from '@svc/kit/clock';
import { type AttemptError, AttemptFailure, attemptErrorOf } from './attempt-error.ts';
import type { ReceiverAddresses } from './receiver-addresses.ts';
import { ReceiverConnection } from './receiver-connection.ts';
import { receiverUrl } from './receiver-url.ts';
import type { SenderLimits } from './sender-limits.ts';
import { type SignedDelivery, signedHeaders } from './signed-headers.ts';

export interface SenderOptions {
  readonly addresses: ReceiverAddresses;
  readonly limits: SenderLimits;
  /** Certificates of further authorities whose receivers are trusted, in PEM, besides those that Node brings. */
  readonly authorities?: readonly string[];
  readonly clock: Clock;
  /** Connects to a host whose addresses it takes from `addresses.lookup`. Default: sockets of the system. */
  readonly connect?: buildConnector.connector;
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

export class Sender implements AsyncDisposable {
  readonly #options: SenderOptions;
  readonly #agent: Agent;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { limits, connect = systemConnector(options) } = options;
    this.#agent = new Agent({
      allowH2: false,
      maxHeaderSize: limits.headBytesMax,
      keepAliveTimeout: limits.idleTimeoutMs,
      keepAliveMaxTimeout: limits.idleTimeoutMs,
      // The time of the attempt is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) =>
        connect(target, (...[error, socket]) => {
          if (error !== null) callback(error, null);
          // undici needs a duplex stream alone.
          else callback(null, new ReceiverConnection(socket, limits) as unknown as typeof socket);
        }),
    });
  }

  /**
   * Makes the attempt. Resolves within its time, once the body of the answer is read or left, so that an attempt under way has at most one connection.
   * Never rejects.
   */
  async attempt(delivery: SentDelivery): Promise<AttemptResult> {
    const { addresses, limits, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const { promise, resolve } = Promise.withResolvers<AttemptResult>();
    try {
      const url = receiverUrl(delivery.url);
      addresses.check(url);
      const headers = signedHeaders(delivery, url.pathname, clock.nowMs());
      const handler = new AttemptHandler({ limits, clock, resolve });
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
      resolve(failed(attemptErrorOf(error), clock.monotonicMs() - startedMs));
    }
    return await promise;
  }

  /** Ends all attempts under way, which are interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.addresses.cancel();
    await this.#agent.destroy();
  }
}

interface AttemptOptions extends Pick<SenderOptions, 'limits' | 'clock'> {
  readonly resolve: (result: AttemptResult) => void;
}

/** Receives the events of one attempt from undici. */
class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #options: AttemptOptions;
  readonly #startedMs: number;
  readonly #cancelTimeout: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #result: AttemptResult | undefined;
  #isOver = false;

  constructor(options: AttemptOptions) {
    const { clock, limits } = options;
    this.#options = options;
    this.#startedMs = clock.monotonicMs();
    this.#cancelTimeout = clock.after(limits.attemptTimeoutMs, () => this.#end('timeout'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new AttemptFailure('timeout'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status === STATUS_SWITCHING_PROTOCOLS) return this.#end('protocol');
    if (status < 200) return;
    this.#result = {
      isDelivered: status < 300,
      status,
      error: status >= 300 && status < 400 ? 'redirect' : null,
      durationMs: this.#durationMs(),
    };
  }

  /** The body is read to its end, or to the limit of the connection, and dropped. */
  onResponseData(): void {}

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
    this.#cancelTimeout();
    this.#controller?.abort(new AttemptFailure(error));
    this.#options.resolve(this.#result ?? failed(error, this.#durationMs()));
  }

  #durationMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedMs;
  }
}

function failed(error: AttemptError, durationMs: number): AttemptResult {
  return { isDelivered: false, status: null, error, durationMs };
}

function systemConnector({
  addresses,
  limits,
  authorities = [],
}: SenderOptions): buildConnector.connector {
  return buildConnector({
    allowH2: false,
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
  });
}
