// Exchange: one request, from its headers to the end of its answer. It checks in this order: stop, form, route, load,
// access, idempotency key, media type, size; then it reads the body and runs the handler.
//
// Invariants:
// - A request is answered once, or never if its connection is gone. At its deadline its handler is cancelled, even if
//   the caller has gone before; a later failure of the handler goes to the log, and its last log lines to the span.
// - The handler runs only for an admitted caller and a body that was read completely.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { EndedRequest } from '../engine/needs/recorder.ts';
import type { Refusal } from '../model/call.ts';
import type { AnswerWaiter, Body, EndpointResponse, HeaderList } from '../model/endpoint.ts';
import {
  outcomeOfFailure,
  outcomeOfStatus,
  SPAN_REFUSED,
  type SpanOutcome,
} from '../model/span-outcome.ts';
import type { GuestFault } from '../model/guest-fault.ts';
import { KeptBytes, responseDropped, tooMuchUnsent } from '../model/kept-bytes.ts';
import { SvcError } from '@svc/kit/svc-error';
import { newSpanId, spanIdText, type TraceParent } from '@svc/kit/trace-context';
import { callerName, isAdmitted } from './access.ts';
import { type Answer, errorAnswer, failureAnswer, isLogged } from './answers.ts';
import type { Connection, OpenRequest } from './connections.ts';
import type { Cors } from './cors.ts';
import type { Admitted, Arrival, ExchangeParts } from './exchange-parts.ts';
import { logFailure } from './http-log.ts';
import { LateHandler } from './late-handler.ts';
import {
  type BodyRead,
  emptyBody,
  hasBody,
  isWithin,
  mediaTypeProblem,
  readBody,
} from './request-body.ts';
import type { BatchedResponse } from './response-batch.ts';
import { idempotencyKeyOf, requestKey } from './idempotency-key.ts';
import { endpointHeaders, headerProblem } from './request-headers.ts';
import { parseRequestTarget } from './request-target.ts';
import { answerBytes, handlerAnswer, writeAnswer } from './response-writer.ts';
import type { Route } from './route-table.ts';
import { requestTrace } from './trace-context.ts';

export class Exchange implements OpenRequest, BatchedResponse, AnswerWaiter, EndedRequest {
  cancel: ((reason: GuestFault) => void) | undefined;
  fuel = 0;
  /** Handler index; -1 if the handler has not run. */
  handlerIndex = -1;
  startMs = 0;
  trace: TraceParent | undefined;
  parentId: bigint | undefined;
  traceState: string | undefined;
  status = 0;
  errorId: string | undefined;
  readonly kept: KeptBytes;
  readonly #parts: ExchangeParts;
  readonly #arrival: Arrival;
  readonly #socket: Socket;
  readonly #connection: Connection | undefined;
  #body: KeptBytes | undefined;
  #route: Route | undefined;
  #isBodyUnread: boolean;
  /** True once the request has an answer, or nobody can receive one. */
  #isAnswered = false;
  #arrivedMs = 0;
  /** Outcome of the handler's run, and the failure for its span. */
  #outcome: SpanOutcome | undefined;
  #failure: unknown;
  /** Set if the handler was not done at the deadline. */
  #late: LateHandler | undefined;
  /** True once the answer is finished, or nobody can receive it. */
  #isOver = false;
  /** True once the request no longer waits for those before it on its connection. */
  #isInFlight = false;
  /** The answer to be written, and whether the connection closes after it. */
  #given: { readonly answer: Answer; readonly closes: boolean } | undefined;
  /** Counts what keeps the request in flight: its answer and, while the handler runs, its handler. */
  #pending = 1;

  constructor(parts: ExchangeParts, arrival: Arrival) {
    this.#parts = parts;
    this.#arrival = arrival;
    this.#socket = arrival.request.socket;
    this.#connection = parts.connections.of(this.#socket);
    this.kept = new KeptBytes(parts.budgets.unsent, this.#connection);
    this.#isBodyUnread = hasBody(arrival.request.headers);
  }

  get isReading(): boolean {
    return !this.#isAnswered && !this.#arrival.request.complete;
  }

  run(): void {
    const { connections, load, settings, recorder } = this.#parts;
    const connection = this.#connection;
    const isFull = load.inFlight >= settings.requestsInFlightMax;
    if (connection === undefined || !connections.begin(connection, this, isFull)) return;
    const nowMs = recorder.nowMs();
    this.#arrivedMs = nowMs;
    // The event comes once, and `once` would cost more than `on`.
    this.#arrival.response.on('close', () => this.abandon());
    if (!connections.mustWait(connection, this)) this.serve(nowMs);
  }

  serve(startMs = this.#parts.recorder.nowMs()): void {
    if (this.#isOver) return;
    this.#isInFlight = true;
    this.#parts.load.inFlight += 1;
    this.startMs = startMs;
    try {
      const admitted = this.#admit();
      if ('status' in admitted) this.#answer(admitted);
      else if (this.#isBodyUnread) void this.#readBody(admitted);
      else this.#continueWith(admitted, emptyBody(admitted.route));
    } catch (failure) {
      this.#fail(failure);
    }
  }

  /** Called when the answer is finished, or when nobody can receive it. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isAnswered = true;
    this.#parts.connections.end(this.#socket, this);
    this.#release();
  }

  #admit(): Answer | Admitted {
    const { settings, routes, load, project, cors, budgets } = this.#parts;
    const { request, target: rawTarget } = this.#arrival;
    if (load.isStopping) throw new SvcError('SVC_STOPPING', 'The server is stopping.');
    const problem = headerProblem(request, settings.headersMax);
    if (problem !== undefined) return { ...problem, close: true };
    const caller = this.#parts.callerOf(this.#socket);
    if (caller.kind === 'refused') return errorAnswer(403, caller.reason);
    const method = request.method!;
    const target = parseRequestTarget(rawTarget);
    if (target.kind === 'malformed') return errorAnswer(400, target.reason);
    if (target.kind === 'server')
      return method === 'OPTIONS'
        ? { status: 204, headers: [], body: undefined }
        : errorAnswer(400, 'The address must begin with a slash.');
    const found = routes.find(method, target.segments);
    if (found.kind === 'none') return errorAnswer(404, 'There is no such path.');
    if (found.kind === 'other-methods') {
      const headers: HeaderList = [['allow', found.allow]];
      if (method === 'OPTIONS') {
        const preflight = cors?.preflightHeaders(request.headers, target.segments) ?? [];
        return { status: 204, headers: [...headers, ...preflight], body: undefined };
      }
      return errorAnswer(405, `This path takes ${found.allow}.`, headers);
    }
    // The limit is checked only here: the answers above cost no more than a refusal, and a page can read the 503 of
    // its request only after a preflight that was answered.
    if (load.inFlight > settings.requestsInFlightMax)
      throw new SvcError('SVC_OVERLOADED', 'The server has too many requests in flight.');
    if (budgets.unsent.isUsedUp) throw tooMuchUnsent();
    this.#route = found.route;
    if (!isAdmitted(found.route.access, caller, project))
      return errorAnswer(403, `The caller '${callerName(caller)}' is not admitted to this path.`);
    const key = idempotencyKeyOf(method, request.headers, settings.idempotencyKeyBytesMax);
    if (typeof key === 'object') return key;
    if (this.#isBodyUnread) {
      const refused = mediaTypeProblem(found.route.bodyKind, request.headers);
      if (refused !== undefined) return refused;
      if (request.headers['content-length'] !== undefined && !this.#isBodyWithin())
        return this.#tooLarge();
    }
    const { route, parameters } = found;
    return { route, parameters, query: target.query, caller, idempotencyKey: key };
  }

  async #readBody(admitted: Admitted): Promise<void> {
    const { request, response, expectsContinue } = this.#arrival;
    const { bodyBytesMax } = this.#parts.settings;
    this.#body = new KeptBytes(this.#parts.budgets.bodies);
    if (expectsContinue) response.writeContinue();
    const read = await readBody(request, admitted.route, bodyBytesMax, this.#body);
    this.startMs = this.#parts.recorder.nowMs();
    // The caller already has the answer that the body is late or broken; the rest came too late.
    if (this.#socket.writableEnded) return;
    this.#isBodyUnread = read.kind === 'too-large' || read.kind === 'no-room';
    try {
      this.#continueWith(admitted, read);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  #continueWith(admitted: Admitted, read: BodyRead): void {
    switch (read.kind) {
      case 'read':
        this.#handle(admitted, read.body);
        break;
      case 'refused':
        this.#answer(read.answer);
        break;
      case 'too-large':
        this.#answer(this.#tooLarge());
        break;
      case 'no-room':
        throw new SvcError(
          'SVC_OVERLOADED',
          'The bodies of requests take too much memory together.',
        );
      case 'aborted':
        break;
    }
  }

  #handle(admitted: Admitted, body: Body): void {
    const { handle, random, settings, firstRouteIndex } = this.#parts;
    const { idempotencyKey } = admitted;
    const { metadata, own, parent, state } = requestTrace(this.#arrival.request.headers, random);
    this.handlerIndex = firstRouteIndex + admitted.route.index;
    this.trace = own;
    this.parentId = parent?.spanId;
    this.traceState = state;
    const caller = callerName(admitted.caller);
    const outcome = handle(
      {
        route: admitted.route.index,
        parameters: admitted.parameters,
        query: admitted.query,
        headers: endpointHeaders(this.#arrival.request),
        caller,
        body,
        idempotencyKey: idempotencyKey && requestKey(idempotencyKey, caller, admitted.route.label),
      },
      metadata,
      this,
    );
    if (!(outcome instanceof Promise)) {
      this.#succeed(outcome);
      return;
    }
    this.#pending += 1;
    const deadline = setTimeout(() => this.#expire(), settings.answerTimeoutMs);
    outcome.then(
      (value) => {
        this.#handlerDone(deadline);
        this.#succeed(value);
        this.#release();
      },
      (failure: unknown) => {
        this.#handlerDone(deadline);
        this.#fail(failure);
        this.#release();
      },
    );
  }

  /** Clears the timer, and drops `cancel`, so that the handler's calls are not kept while the response is sent. */
  #handlerDone(deadline: NodeJS.Timeout): void {
    clearTimeout(deadline);
    this.cancel = undefined;
  }

  #expire(): void {
    const late = new LateHandler(this.#parts.settings.answerTimeoutMs, () =>
      this.#record(outcomeOfFailure(late.failure)),
    );
    this.#late = late;
    if (!this.#isAnswered) {
      const answer = this.#failureAnswer(late.failure);
      this.status = answer.status;
      this.#answer(answer);
    }
    this.cancel?.(late.reason);
  }

  #succeed(outcome: EndpointResponse | Refusal): void {
    const { settings, positions } = this.#parts;
    const refusal = outcome.kind === 'refusal' ? outcome : undefined;
    const spanOutcome = outcome.kind === 'refusal' ? SPAN_REFUSED : outcomeOfStatus(outcome.status);
    if (this.#isAnswered) {
      this.#record(spanOutcome, refusal);
      return;
    }
    try {
      const answer = handlerAnswer(outcome, settings, positions);
      if (!this.kept.fits(answerBytes(answer))) throw responseDropped();
      this.#record(spanOutcome, refusal, answer.status);
      this.#answer(answer);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  #fail(failure: unknown): void {
    const answer = this.#failureAnswer(failure);
    this.#record(outcomeOfFailure(failure), failure, answer.status);
    this.#answer(answer);
  }

  #failureAnswer(failure: unknown): Answer {
    const errorId = (this.errorId ??= spanIdText(newSpanId(this.#parts.random)));
    if (isLogged(failure)) this.#log(failure, errorId);
    else this.#parts.log.unlogged?.(failure);
    return failureAnswer(failure, errorId);
  }

  /**
   * Records the request once, when the outcome of the handler's run is known. A request without an answer has no
   * status.
   */
  #record(outcome: SpanOutcome, failure?: unknown, status = 0): void {
    if (this.handlerIndex < 0 || this.#outcome !== undefined) return;
    const late = this.#late?.ended(failure);
    this.#outcome = late === undefined ? outcome : outcomeOfFailure(late);
    this.#failure = late ?? failure;
    const { recorder } = this.#parts;
    // Otherwise the request ends when its answer is written.
    if (this.#isAnswered && this.#given === undefined)
      recorder.served(this, recorder.nowMs(), this.#outcome, this.#failure);
    else if (late === undefined) this.status = status;
  }

  #answer(given: Answer): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { load, connections, batch, cors, isTooOld } = this.#parts;
    const answer = cors === undefined ? given : this.#readable(cors, given);
    this.kept.become(answerBytes(answer));
    // An unread body would be parsed as the next request. The connection discards a short one that is on its way; any
    // other body ends the connection.
    const isStuck = this.#isBodyUnread && (this.#arrival.expectsContinue || !this.#isBodyWithin());
    const isLast =
      (load.isStopping || isTooOld?.(this.#socket) === true) &&
      connections.isNewest(this.#socket, this);
    const closes = isStuck || isLast || answer.close === true;
    if (closes) connections.markEnding(this.#socket);
    this.#given = { answer, closes };
    batch.add(this);
  }

  /** Adds the headers of CORS, without which browsers hide the answer, even an error, from the page. */
  #readable(cors: Cors, answer: Answer): Answer {
    const { request, target } = this.#arrival;
    const index = this.#route?.index ?? cors.routeIndex(request.method!, target);
    return cors.answerOf(answer, request.headers, index);
  }

  /** Called by the response batch. */
  write(endMs: number): void {
    assert(this.#given !== undefined, 'an exchange without an answer was to be written');
    const { answer, closes } = this.#given;
    this.#given = undefined;
    const { recorder, counts } = this.#parts;
    counts.answered(this.#route?.index ?? -1, answer.status, endMs - this.#arrivedMs);
    if (this.#outcome !== undefined) recorder.served(this, endMs, this.#outcome, this.#failure);
    if (this.#isOver) return;
    const { request, response } = this.#arrival;
    const { keepAlive } = this.#parts.connections;
    const lingerMs = this.#isBodyUnread ? this.#parts.settings.lingerTimeoutMs : 0;
    try {
      writeAnswer(request, response, answer, { closes, lingerMs, keepAlive });
    } catch (bug) {
      this.#log(bug, (this.errorId ??= spanIdText(newSpanId(this.#parts.random))));
      response.destroy();
    }
  }

  #tooLarge(): Answer {
    return errorAnswer(
      413,
      `The body is larger than ${this.#parts.settings.bodyBytesMax} bytes, which is the limit.`,
    );
  }

  #isBodyWithin(): boolean {
    return isWithin(this.#arrival.request.headers, this.#parts.settings.bodyBytesMax);
  }

  #release(): void {
    this.#pending -= 1;
    if (this.#pending > 0) return;
    const { load, connections, settings } = this.#parts;
    if (this.#isInFlight) load.inFlight -= 1;
    this.kept.free();
    this.#body?.free();
    if (this.#connection !== undefined) {
      const isFull = (): boolean => load.inFlight >= settings.requestsInFlightMax;
      connections.proceed(this.#connection, isFull);
    }
  }

  #log(failure: unknown, errorId: string): void {
    logFailure(this.#parts.log, failure, { errorId, route: this.#route?.label });
  }
}
