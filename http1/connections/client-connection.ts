// One connection of a client: one request at a time, and its response.
//
// Invariants:
// - Bytes that no request asked for close the connection and are never the beginning of a response.
// - A connection is used again only after a complete request and a complete response whose end was certain, with no byte
//   left over.
// - After a failure, or after an early response is complete, the connection is broken off.
import type { ResponsePart } from '../messages/parts.ts';
import type { ResponseHead } from '../messages/heads.ts';
import { ResponseReader } from '../readers/response-reader.ts';
import { requestHeadText } from '../writers/head-writer.ts';
import {
  ClientExchange,
  type ClientExchangeOwner,
  type ClientRequest,
  type ResponseReceiver,
} from './client-exchange.ts';
import type { ClientFailure } from './client-failure.ts';
import type { ClientLimits, ClientTimes } from './client-limits.ts';
import { framedFields } from './framing-fields.ts';
import { Output } from './output.ts';
import { type ByteSocket, cut, type Transport } from './socket-end.ts';
import { SocketInput } from './socket-input.ts';
import type { Sweep, Swept } from './sweep.ts';

export interface ClientConnectionOptions {
  readonly limits: ClientLimits;
  readonly times: ClientTimes;
  readonly sweep: Sweep;
  /** The connection can be used again. Called before the receiver learns of the end. */
  readonly onIdle: (connection: ClientConnection) => void;
  /** The connection cannot be used again. May be called more than once. */
  readonly onClosed: (connection: ClientConnection) => void;
}

const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,9})/i;

export class ClientConnection implements ClientExchangeOwner, Swept {
  readonly socket: ByteSocket;
  deadlineMs = Infinity;
  readonly #transport: Transport | undefined;
  readonly #options: ClientConnectionOptions;
  readonly #reader: ResponseReader;
  readonly #output: Output;
  readonly #retiresAtMs: number;
  #exchange: ClientExchange | undefined;
  #response: ResponseHead | undefined;
  /** Whether a byte of the current request was given to the socket. */
  #isSent = false;
  /** Whether a byte of the current response has arrived. */
  #hasAnswered = false;
  #isPumping = false;
  #isPaused = false;
  #isRetired = false;
  /** No more bytes will come. */
  #hasInputEnded = false;
  /** They ended by the closing of the connection, not by the peer's ending its side. */
  #isBroken = false;
  #idleSinceMs: number;
  /** When the peer last took bytes of the request, and how many it had taken. */
  #takenAtMs = 0;
  #takenBytes = 0;

  constructor(
    socket: ByteSocket,
    options: ClientConnectionOptions,
    input: SocketInput = new SocketInput(),
    transport?: Transport,
  ) {
    const { sweep, limits, times } = options;
    this.socket = socket;
    this.#transport = transport;
    this.#options = options;
    this.#reader = new ResponseReader(limits.message);
    this.#output = new Output(
      socket,
      () => this.#exchange?.drained(),
      () => this.#flushed(),
    );
    this.#idleSinceMs = sweep.now();
    this.#retiresAtMs = this.#idleSinceMs + times.lifetimeMs();
    input.attach(socket, (bytes) => this.#received(bytes));
    socket.on('end', () => this.#inputEnded(false));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#inputEnded(true));
    sweep.add(this);
    if (input.hasEarlyBytes) this.#close();
    // It is used at once, however short the time of idle connections is.
    else this.deadlineMs = Math.min(this.#idleSinceMs + times.responseMs, this.#retiresAtMs);
  }

  /** Whether a request can be sent. */
  get isUsable(): boolean {
    return (
      this.#exchange === undefined &&
      !this.#hasInputEnded &&
      !this.#isRetired &&
      !this.socket.destroyed &&
      this.deadlineMs > this.#options.sweep.now()
    );
  }

  idleMs(): number {
    return this.#options.sweep.now() - this.#idleSinceMs;
  }

  /** Sends a request. Its head, and what of the body is given in this turn, leave together. */
  send(request: ClientRequest, receiver: ResponseReceiver): ClientExchange {
    if (!this.isUsable) throw new Error('the connection is not idle');
    const { method, target, version, fields, framing } = request;
    const all = framedFields(fields, framing, 'own', []);
    const head = requestHeadText(method, target, version, all);
    const exchange = new ClientExchange(this, framing, receiver);
    this.#exchange = exchange;
    this.#response = undefined;
    this.#isSent = false;
    this.#hasAnswered = false;
    this.#reader.expect(method);
    this.#output.put(head);
    this.#taken();
    return exchange;
  }

  /** Closes the connection after its current response, or now. */
  retire(): void {
    this.#isRetired = true;
    if (this.#exchange === undefined) this.#close();
  }

  // Called by the exchange.

  put(bytes: Buffer, afterReads: boolean): boolean {
    return this.#output.put(bytes, afterReads);
  }

  proceed(exchange: ClientExchange): void {
    if (exchange === this.#exchange) this.#pump();
  }

  cancel(exchange: ClientExchange): void {
    if (exchange !== this.#exchange) return;
    this.#release();
    this.#close();
  }

  // Reading.

  #received(bytes: Buffer): void {
    if (this.#exchange === undefined || !this.#isSent) {
      this.#fail({ kind: 'closed-before-response', isUnsent: true });
      return;
    }
    this.#hasAnswered = true;
    this.#reader.push(bytes);
    this.#pump();
  }

  #inputEnded(isBroken: boolean): void {
    if (!this.#hasInputEnded) {
      this.#hasInputEnded = true;
      this.#isBroken = isBroken;
    }
    if (this.#exchange === undefined) this.#close();
    else this.#pump();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      for (let exchange = this.#exchange; exchange !== undefined && !exchange.isPaused;) {
        const part = this.#reader.next();
        if (part !== undefined) this.#take(exchange, part);
        else if (this.#hasInputEnded) this.#finishReading();
        else break;
        exchange = this.#exchange === exchange ? exchange : undefined;
      }
    } finally {
      this.#isPumping = false;
    }
    this.#regulate();
  }

  #take(exchange: ClientExchange, part: ResponsePart): void {
    const { receiver } = exchange;
    switch (part.kind) {
      case 'informational':
        receiver.informational(part.head);
        break;
      case 'head':
        this.#response = part.head;
        this.deadlineMs = Infinity;
        receiver.head(part.head);
        break;
      case 'data':
        receiver.data(part.bytes);
        break;
      case 'end':
        this.#complete(exchange);
        receiver.end(part.trailers);
        break;
      case 'failure':
        this.#fail({ kind: 'protocol', failure: part.failure });
        break;
    }
  }

  /** No bytes are left and none will come. */
  #finishReading(): void {
    const isUntilClose = this.#response?.framing.kind === 'until-close';
    if (this.#isBroken || !isUntilClose || this.#reader.finish() !== undefined)
      this.#fail(
        this.#hasAnswered
          ? { kind: 'closed-while-answering' }
          : { kind: 'closed-before-response', isUnsent: !this.#isSent },
      );
  }

  #complete(exchange: ClientExchange): void {
    const { keepsOpen, fields } = this.#response!;
    const canReuse =
      keepsOpen &&
      exchange.isRequestComplete &&
      !this.#output.isPending &&
      this.#reader.bufferedBytes === 0;
    this.#release();
    if (canReuse) this.#becomeIdle(fields.first('keep-alive'));
    if (canReuse && this.isUsable) this.#options.onIdle(this);
    else this.#close();
  }

  /** Stops reading while nobody takes what is read. */
  #regulate(): void {
    const mustPause =
      this.#exchange?.isPaused === true &&
      this.#reader.bufferedBytes >= this.#options.limits.readAheadBytesMax;
    if (mustPause === this.#isPaused) return;
    this.#isPaused = mustPause;
    if (mustPause) this.socket.pause();
    else this.socket.resume();
  }

  // Time and the end.

  /** Bytes of the request were given to the socket. */
  #flushed(): void {
    this.#isSent = true;
    this.#exchange?.headWritten();
    this.#taken();
  }

  #becomeIdle(keepAlive: string | undefined): void {
    const { sweep, times } = this.#options;
    this.#idleSinceMs = sweep.now();
    const timeout = keepAlive?.match(KEEP_ALIVE_TIMEOUT)?.[1];
    const idleMs = Math.min(
      times.idleMs,
      timeout === undefined ? Infinity : Number(timeout) * 1000,
    );
    this.deadlineMs = Math.min(this.#idleSinceMs + idleMs, this.#retiresAtMs);
  }

  /** Notes that bytes were given to the socket: the time for the response begins anew. */
  #taken(): void {
    if (this.#exchange === undefined || this.#response !== undefined) return;
    this.#takenAtMs = this.#options.sweep.now();
    this.#takenBytes = this.#output.takenBytes;
    // Each sweep looks for progress while the peer has not taken what was written.
    this.deadlineMs =
      this.#output.waitingBytes > 0
        ? this.#takenAtMs
        : this.#takenAtMs + this.#options.times.responseMs;
  }

  onDeadline(nowMs: number): void {
    if (this.#exchange === undefined) {
      this.#close();
      return;
    }
    const takenBytes = this.#output.takenBytes;
    if (takenBytes > this.#takenBytes) {
      this.#taken();
      return;
    }
    if (nowMs >= this.#takenAtMs + this.#options.times.responseMs)
      this.#fail({ kind: 'response-timeout' });
  }

  #fail(failure: ClientFailure): void {
    const exchange = this.#exchange;
    this.#release();
    this.#close();
    exchange?.receiver.failed(failure);
  }

  #release(): void {
    this.#exchange?.detach();
    this.#exchange = undefined;
  }

  #close(): void {
    this.deadlineMs = Infinity;
    this.#isRetired = true;
    this.#options.sweep.remove(this);
    cut(this.socket, this.#transport);
    this.#options.onClosed(this);
  }
}
