// Listener: a receiver of deliveries on this machine, for development. It verifies each one, shows it, and passes it on to a program if there is one.
//
// Invariants
// - Only what is verified is passed on, signed afresh: the program may have another path and another secret than the subscription.
// - The program's answer becomes that of the delivery, so that its attempts are as they will be without the listener.
// - Whoever can reach the port can take a bounded part of its memory: a delivery is answered once it has been shown.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  verifyWebhook,
  WEBHOOK_DELIVERY_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_PREVIOUS_SIGNATURE_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type Subscription,
} from '@svc/client';
import { sendLocally } from './local-receiver.ts';

/** A program that gets what is verified. */
export interface ForwardTo {
  readonly url: URL;
  /** Secret with which deliveries are signed for it. Undefined: that of the subscription. */
  readonly secret: string | undefined;
}

export interface ListenerOptions {
  /** Port of 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  /** Undefined: deliveries are answered 204. */
  readonly forwardTo: ForwardTo | undefined;
  /** The delivery is answered once this has resolved. */
  readonly onDelivery: (delivery: ReceivedDelivery) => Promise<void>;
}

export interface ReceivedDelivery {
  readonly id: string;
  readonly eventType: string;
  /** Undefined if it is refused: anybody may have sent it. */
  readonly body: string | undefined;
  /** Why it is not a delivery of the subscription; undefined if it is one. */
  readonly refusal: string | undefined;
  readonly status: number;
  /** Why the program did not answer, if it did not. */
  readonly failure: string | undefined;
}

type Signed = Required<Pick<Subscription, 'secret'>> & Pick<Subscription, 'signing'>;

/** A delivery has the metadata of a dataset, of at most 64 KiB. */
const BODY_BYTES_MAX = 1024 * 1024;
/** The sender waits five seconds. */
const FORWARD_TIMEOUT_MS = 4_500;
/** The service has 16 attempts of a subscription under way at most. */
const CONNECTIONS_MAX = 64;
const REQUEST_TIMEOUT_MS = 10_000;
/** Headers of the connection, those that `fetch` sets itself, and those of the signature. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
  ...[WEBHOOK_SIGNATURE_HEADER, WEBHOOK_PREVIOUS_SIGNATURE_HEADER, WEBHOOK_TIMESTAMP_HEADER].map(
    (name) => name.toLowerCase(),
  ),
]);

export class Listener {
  readonly #server: Server;
  readonly #options: ListenerOptions;
  #subscription: Signed | undefined;

  private constructor(server: Server, options: ListenerOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Rejects with the error of Node if the port cannot be had. */
  static async open(options: ListenerOptions): Promise<Listener> {
    const server = createServer({
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    });
    server.maxConnections = CONNECTIONS_MAX;
    const listener = new Listener(server, options);
    server.on('request', (request: IncomingMessage, response) => {
      void listener.#answer(request).then((status) => response.writeHead(status).end());
    });
    server.listen({ host: '127.0.0.1', port: options.port, exclusive: true });
    await once(server, 'listening');
    return listener;
  }

  /** URL at which this machine reaches it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Until then, requests are answered 503. */
  expect(subscription: Signed): void {
    this.#subscription = subscription;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage): Promise<number> {
    const subscription = this.#subscription;
    if (subscription === undefined) return 503;
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) return 413;
    const { signing, secret } = subscription;
    const verification = await verifyWebhook({
      headers: request.headers,
      secrets: [secret],
      ...(signing.over === 'path' ? { path: request.url ?? '/' } : { body }),
    });
    const refusal = verification.kind === 'refused' ? verification.message : undefined;
    const { status, failure } =
      refusal === undefined ? await this.#passedOn(request, body, subscription) : { status: 401 };
    await this.#options.onDelivery({
      id: String(request.headers[WEBHOOK_DELIVERY_HEADER.toLowerCase()] ?? ''),
      eventType: String(request.headers[WEBHOOK_EVENT_HEADER.toLowerCase()] ?? ''),
      body: refusal === undefined ? body.toString() : undefined,
      refusal,
      status,
      failure,
    });
    return status;
  }

  async #passedOn(
    { headers }: IncomingMessage,
    body: Buffer,
    { signing: { over }, secret }: Signed,
  ): Promise<{ readonly status: number; readonly failure?: string }> {
    const { forwardTo } = this.#options;
    if (forwardTo === undefined) return { status: 204 };
    const passed = Object.entries(headers).filter(([name]) => !NOT_PASSED.has(name));
    const { status = 502, failure } = await sendLocally(forwardTo.url, {
      headers: Object.fromEntries(passed.map(([name, value]) => [name, String(value)])),
      body: new Uint8Array(body),
      over,
      secret: forwardTo.secret ?? secret,
      timeoutMs: FORWARD_TIMEOUT_MS,
    });
    return { status, ...(failure !== undefined && { failure }) };
  }
}

/** Rejects if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new RangeError('the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
