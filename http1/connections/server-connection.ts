// One connection of a server: reads requests, gives them to the handler in their order, and writes the responses in the
// same order.
//
// Requests are read ahead while others are answered, up to limits. Reading goes on during a response, because only
// reading shows that the client has left.
//
// Invariants:
// - After a request that was refused, after one that asked for closing, and after a response that announced it, nothing
//   of the client is interpreted.
// - No response announces closing while the handler has a later request of the connection.
// - The connection ends this side first and then reads for a while: an immediate close would destroy the response on its
//   way if the client still sends.
import { failure, type MessageFailure } from '../messages/failure.ts';
import type { RequestHead } from '../messages/heads.ts';
import type { RequestPart } from '../messages/parts.ts';
import { RequestReader } from '../readers/request-reader.ts';
import { ConnectionClock } from './connection-clock.ts';
import type { ConnectionOwner } from './connection-owner.ts';
import { HalfClose } from './half-close.ts';
import { type Bytes, Output } from './output.ts';
import { type ExchangeOwner, OpenExchange } from './server-exchange.ts';
import { type ByteSocket, cut, type Transport } from './socket-end.ts';
import type { Swept } from './sweep.ts';
import { UnfinishedHead } from './unfinished-head.ts';
import { type Refusal, TOO_MANY_REQUESTS, UNREADABLE } from './whole-responses.ts';

export class ServerConnection implements ExchangeOwner, Swept {
  readonly socket: ByteSocket;
  deadlineMs: number;
  readonly #owner: ConnectionOwner<ServerConnection>;
  readonly #transport: Transport | undefined;
  readonly #reader: RequestReader;
  readonly #output: Output;
  /** Exchanges whose response is not complete, in their order. */
  readonly #line: OpenExchange[] = [];
  /** The exchange whose request is being read. */
  #incoming: OpenExchange | undefined;
  #isPumping = false;
  #isPaused = false;
  /** The request that is being read is the last one. */
  #isLast = false;
  /** Nothing that arrives is interpreted any more. */
  #isInputOver = false;
  /** Present once the client has ended its side. */
  #halfClose: HalfClose | undefined;
  /** This side was ended after the last response. */
  #isLingering = false;
  #isRetired = false;
  #ignoredBytes = 0;
  readonly #head: UnfinishedHead;
  readonly #clock: ConnectionClock;

  constructor(owner: ConnectionOwner<ServerConnection>, socket: ByteSocket, transport?: Transport) {
    this.#owner = owner;
    this.socket = socket;
    this.#transport = transport;
    this.#reader = new RequestReader(owner.limits.message);
    this.#head = new UnfinishedHead(owner);
    this.#output = new Output(socket, () => {
      this.#line[0]?.drained();
      this.#pump();
    });
    this.#clock = new ConnectionClock(owner.times, owner.sweep);
    this.deadlineMs = this.#clock.headDeadlineMs();
    socket.on('data', (bytes: Buffer) => this.#received(bytes));
    socket.on('end', () => this.#inputEnded());
    // The close that follows says what matters.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
    owner.sweep.add(this);
  }

  /** Bytes of responses that the client has not taken. */
  get waitingBytes(): number {
    return this.#output.waitingBytes;
  }

  /** Bytes of responses that the client has taken since the connection began. */
  get takenBytes(): number {
    return this.#output.takenBytes;
  }

  /** Whether no request waits for its response or for the rest of it. */
  get isIdle(): boolean {
    return this.#line.length === 0 && this.waitingBytes === 0;
  }

  /**
   * Closes the connection after the responses that are due and at most one more request. Without a request, it closes after
   * a time: one that was sent before the client learned of the end is not lost.
   */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    if (this.#line.length === 0) this.#clock.idle();
    this.#schedule();
  }

  /** Retires the connection, and reads no further request if a response that is due can announce the end. */
  finish(): void {
    this.retire();
    const last = this.#line.at(-1);
    if (last === undefined || last.hasResponded) return;
    this.#isLast = true;
    this.#isInputOver ||= this.#incoming === undefined;
    this.#pump();
  }

  /** Closes the connection, without waiting for anything. */
  close(): void {
    this.#isInputOver = true;
    this.socket.destroy();
  }

  /** Breaks the connection off, so that the client sees no valid end. */
  cut(): void {
    this.#isInputOver = true;
    cut(this.socket, this.#transport);
  }

  // Called by the exchanges.

  get keepAlive(): string | undefined {
    return this.#owner.keepAlive;
  }

  put(bytes: Bytes): boolean {
    return this.#output.put(bytes);
  }

  whenTaken(callback: () => void): void {
    this.#output.whenTaken(callback);
  }

  proceed(exchange: OpenExchange): void {
    if (exchange === this.#incoming) this.#pump();
  }

  closesAfter(exchange: OpenExchange): boolean {
    if (exchange === this.#incoming && exchange.ignoresBody) this.#skipBody(exchange);
    if (this.#line.at(-1) !== exchange) {
      if (exchange.closes) this.#isRetired = true;
      return false;
    }
    const closes =
      exchange.closes ||
      !exchange.isRequestComplete ||
      !exchange.head.keepsOpen ||
      this.#isRetired ||
      this.#isInputOver ||
      (this.#halfClose !== undefined && this.#reader.bufferedBytes === 0) ||
      this.#clock.isOverAt(this.#clock.lastByteMs);
    if (closes) {
      this.#isLast = true;
      if (exchange.isRequestComplete) this.#isInputOver = true;
    }
    return closes;
  }

  responseEnded(exchange: OpenExchange): void {
    let done = 0;
    let mustClose = false;
    // The responses behind this one may be complete already.
    for (let first: OpenExchange | undefined = exchange; first?.isResponseComplete;) {
      this.#line.shift();
      done += 1;
      mustClose = first.closes;
      first = mustClose ? undefined : this.#line[0];
      first?.takeTurn();
      // Its response may have gone on by itself.
      if (first !== this.#line[0]) break;
    }
    this.#owner.requestsEnded(done);
    // The client may have ended its side after the response began without announcing the close.
    if (mustClose || (this.#line.length === 0 && this.#isInputOver)) this.#end();
    else {
      if (this.#line.length === 0) this.#clock.idle();
      this.#pump();
    }
  }

  endUnanswered(): void {
    this.#end();
  }

  // Reading.

  #received(bytes: Buffer): void {
    this.#clock.lastByteMs = this.#owner.sweep.now();
    if (this.#isInputOver) {
      this.#ignoredBytes += bytes.length;
      this.#regulate();
      return;
    }
    this.#reader.push(bytes);
    this.#pump();
  }

  #inputEnded(): void {
    this.#halfClose = new HalfClose(this.#owner, this.#output, this.#transport);
    this.#pump();
  }

  #mayRead(): boolean {
    if (this.#isInputOver) return false;
    if (this.#incoming !== undefined) return this.#incoming.takesRequest;
    // Without the second condition a client that reads nothing could have any number of responses made.
    return this.#line.length < this.#owner.limits.pipelinedMax && !this.#isUnread();
  }

  /** Whether the client has to read responses before it gets further ones. */
  #isUnread(): boolean {
    if (this.#output.isBlocked) return true;
    let bytes = 0;
    for (const { heldBytes } of this.#line) bytes += heldBytes;
    return bytes > this.#owner.limits.heldBytesMax;
  }

  /** Interprets what has arrived, as far as the handler takes it. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#mayRead()) {
        const part = this.#reader.next();
        if (part !== undefined) this.#take(part);
        else {
          if (this.#halfClose !== undefined) this.#finishReading();
          break;
        }
      }
    } finally {
      this.#isPumping = false;
    }
    if (!this.#countHead()) this.#refuseHead(TOO_MANY_REQUESTS);
    this.#regulate();
    this.#schedule();
  }

  /** Returns false if the head that is being read may not have as many bytes as it has. */
  #countHead(): boolean {
    const isRead = this.#incoming === undefined && !this.#isInputOver;
    return this.#head.count(isRead ? this.#reader : undefined);
  }

  #take(part: RequestPart): void {
    switch (part.kind) {
      case 'head':
        this.#begin(part.head);
        break;
      case 'data':
        this.#incoming?.data(part.bytes);
        break;
      case 'end': {
        const exchange = this.#incoming;
        this.#incoming = undefined;
        if (this.#isLast) this.#isInputOver = true;
        exchange?.requestEnded(part.trailers);
        break;
      }
      case 'failure':
        this.#refuse(part.failure);
        break;
    }
  }

  #begin(head: RequestHead): void {
    this.#clock.headEnded();
    const exchange = this.#join(head);
    this.#incoming = exchange;
    if (!head.keepsOpen || this.#isRetired) this.#isLast = true;
    if (this.#owner.requestBegan()) this.#owner.handler.request(exchange);
    else {
      this.#isInputOver = true;
      exchange.refuse(this.#owner.handler.refused(TOO_MANY_REQUESTS, head));
    }
  }

  #join(head: RequestHead): OpenExchange {
    const exchange = new OpenExchange(this, head);
    this.#line.push(exchange);
    if (this.#line.length === 1) exchange.takeTurn();
    return exchange;
  }

  /** Throws away what has arrived of a body that the handler does not receive, as its response begins. */
  #skipBody(exchange: OpenExchange): void {
    while (this.#incoming === exchange && !this.#isInputOver) {
      const part = this.#reader.next();
      if (part === undefined) return;
      if (part.kind === 'failure') {
        // The handler's response stands; nothing more is read.
        this.#isInputOver = true;
        this.#incoming = undefined;
      } else this.#take(part);
    }
  }

  #finishReading(): void {
    const incomplete = this.#reader.finish();
    if (incomplete !== undefined) this.#refuse(incomplete);
    else {
      this.#isInputOver = true;
      if (this.#line.length === 0) this.#end();
    }
  }

  /** Refuses the request that is being read, after the responses before it, and reads no further. */
  #refuse(refused: MessageFailure): void {
    const exchange = this.#incoming;
    this.#incoming = undefined;
    this.#isInputOver = true;
    exchange?.broken(refused);
    if (exchange === undefined) this.#refuseHead(refused);
    else if (!exchange.hasResponded)
      exchange.refuse(this.#owner.handler.refused(refused, exchange.head));
  }

  #refuseHead(refusal: Refusal): void {
    this.#isInputOver = true;
    this.#countHead();
    this.#owner.requestBegan();
    this.#join(UNREADABLE).refuse(this.#owner.handler.refused(refusal, undefined));
  }

  /** Stops reading while nobody takes what is read, and goes on when somebody does. */
  #regulate(): void {
    const { readAheadBytesMax, lingerBytesMax } = this.#owner.limits;
    const mustPause = this.#isInputOver
      ? this.#ignoredBytes > lingerBytesMax
      : !this.#mayRead() && this.#reader.bufferedBytes >= readAheadBytesMax;
    if (mustPause === this.#isPaused) return;
    this.#isPaused = mustPause;
    if (mustPause) this.socket.pause();
    else this.socket.resume();
  }

  // Time and the end.

  #schedule(): void {
    if (this.#isLingering) return;
    if (this.#halfClose !== undefined && this.#line.length > 0)
      this.deadlineMs = this.#halfClose.deadlineMs;
    else if (!this.#mayRead() || this.#incoming?.awaitsContinue === true)
      this.deadlineMs = this.#clock.pausedDeadlineMs();
    else if (this.#incoming !== undefined) this.deadlineMs = this.#clock.bodyDeadlineMs();
    else if (!this.#reader.betweenMessages) this.deadlineMs = this.#clock.headDeadlineMs();
    else if (this.#line.length > 0) this.deadlineMs = Infinity;
    else this.deadlineMs = this.#clock.idleDeadlineMs(this.#isRetired);
  }

  onDeadline(nowMs: number): void {
    const isWriting = this.#output.waitingBytes > 0;
    if (this.#isLingering) {
      // The client still reads the last response.
      if (isWriting) this.deadlineMs = nowMs + this.#owner.times.lingerMs;
      else this.socket.destroy();
    } else if (this.#halfClose !== undefined && this.#line.length > 0) {
      if (this.#halfClose.hasLeft(this.#line[0]!, nowMs)) this.cut();
      else this.#schedule();
    } else if (this.#incoming !== undefined) this.#refuse(failure('body-timeout'));
    else if (!this.#reader.betweenMessages) this.#refuse(failure('head-timeout'));
    else if (isWriting) {
      this.#clock.idle();
      this.#schedule();
    } else if (this.#clock.isOverAt(nowMs) && !this.#isRetired) this.retire();
    else this.#end();
  }

  /** Ends this side after the last response, and waits a while for the client to end its own. */
  #end(): void {
    if (this.#isLingering) return;
    this.#isInputOver = true;
    this.#isLast = true;
    this.#isLingering = true;
    this.#drop();
    this.deadlineMs = this.#owner.sweep.now() + this.#owner.times.lingerMs;
    this.#output.end();
    this.#regulate();
  }

  /** Takes the exchanges from their handlers that can no longer be answered. */
  #drop(): void {
    const dropped = this.#line.splice(0);
    const incoming = this.#incoming;
    this.#incoming = undefined;
    if (dropped.length > 0) this.#owner.requestsEnded(dropped.length);
    incoming?.broken(failure('incomplete-message'));
    for (const exchange of dropped) exchange.gone();
  }

  #closed(): void {
    this.#isInputOver = true;
    this.#isLingering = true;
    this.#countHead();
    this.#owner.sweep.remove(this);
    this.#drop();
    this.#owner.closed(this);
  }
}
