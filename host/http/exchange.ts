// Exchange: one request, from its headers to the end of its answer. First it is admitted (request-admission.ts), its token is verified
// (bearer.ts), and the limits of its route let it through (request-limits.ts). Then idempotency key, media type and size of the body are checked, the body is read, and the handler runs; or
// the handler runs, and the same happens when it asks for the body (ExchangeParts.readsBodies).
//
// Invariants:
// - A request is answered once, or never if its connection is gone. At its deadline its handler is cancelled, even if
//   the caller has gone before; a later failure of the handler goes to the log, and its last log lines to the span.
// - The handler runs only for an admitted caller, and receives a body only if it was read completely.
import type { Socket } from 'node:net';
import type { ServerExchange } from '@svc/http1';
import type { EndedRequest } from '../engine/needs/recorder.ts';
import { authoredMetadata } from '@svc/model/author';
import type { Refusal } from '@svc/model/call';
import type {
  AnswerWaiter,
  Body,
  EndpointResponse,
  HeaderList,
  UnreadBody,
} from '@svc/model/endpoint';
import {
  outcomeOfFailure,
  outcomeOfStatus,
  SPAN_REFUSED,
  type SpanOutcome,
} from '@svc/model/span-outcome';
import type { GuestFault } from '@svc/model/guest-fault';
import { KeptBytes, responseDropped } from '@svc/model/kept-bytes';
import { SvcError } from '@svc/kit/svc-error';
import { newSpanId, spanIdText, type TraceParent } from '@svc/kit/trace-context';
import { callerName } from './access.ts';
import type { BearerRule } from '@svc/contract';
import type { TokenOutcome } from '@svc/tokens/token-outcome';
import { AnswerDeadline } from './answer-deadline.ts';
import { type Answer, errorAnswer, failureAnswer, isLogged, withHeaders } from './answers.ts';
import {
  verified,
  keyOwner,
  permitted,
  principalHeaders,
  type RequestPrincipal,
} from './bearer.ts';
import { callerAddress } from './caller-address.ts';
import type { Cors } from './cors.ts';
import { ExchangeBody } from './exchange-body.ts';
import type { Admitted, ExchangeParts } from './exchange-parts.ts';
import { logFailure } from './http-log.ts';
import { LateHandler } from './late-handler.ts';
import type { BodyRead } from './request-body.ts';
import { formedAnswer } from './response-form.ts';
import { requestKey } from './idempotency-key.ts';
import { admission } from './request-admission.ts';
import { endpointHeaders } from './request-headers.ts';
import { answerBytes, handlerAnswer, wholeResponse } from './response-writer.ts';
import type { Route } from './route-table.ts';
import { requestTrace } from './trace-context.ts';

/** Answer to a request whose body has not arrived completely. Its connection has answered it, or is closed. */
const INCOMPLETE = errorAnswer(408, 'The request did not arrive completely.');

export class Exchange implements AnswerWaiter, EndedRequest {
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
  readonly #exchange: ServerExchange;
  #body: ExchangeBody | undefined;
  #route: Route | undefined;
  /** True once the request has an answer, or nobody can receive one. */
  #isAnswered = false;
  /** True once the caller has received the answer, or nobody can. */
  #isSent = false;
  #arrivedMs = 0;
  /** Headers by which the answer describes the limits of the route. */
  #limitHeaders: HeaderList = [];
  /** Outcome of the handler's run, and the failure for its span. */
  #outcome: SpanOutcome | undefined;
  #failure: unknown;
  /** Set while the handler runs that has not answered at once, or once it reads the body. */
  #deadline: AnswerDeadline | undefined;
  /** Set if the handler was not done at the deadline. */
  #late: LateHandler | undefined;
  /** Counts what keeps the request in flight: its answer and, while the handler runs, its handler. */
  #pending = 1;

  constructor(parts: ExchangeParts, exchange: ServerExchange) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.kept = new KeptBytes(parts.budgets.unsent);
  }

  run(): void {
    this.#parts.load.inFlight += 1;
    this.startMs = this.#parts.recorder.nowMs();
    this.#arrivedMs = this.startMs;
    const onGone = (): void => this.#abandon();
    this.#exchange.onGone = onGone;
    try {
      const { route, admitted } = admission(this.#parts, this.#exchange);
      this.#route = route;
      if ('status' in admitted) this.#answer(admitted);
      else if (admitted.route.bearer === undefined) this.#limit(admitted);
      else this.#identify(admitted, admitted.route.bearer);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  /** Called if nobody can receive an answer any more. */
  #abandon(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#isSent = true;
    this.#release();
  }

  /** Serves the request once its token is verified: at once if the token is known. */
  #identify(admitted: Admitted, rule: BearerRule): void {
    const take = (outcome: TokenOutcome<RequestPrincipal>): void => {
      // Nobody may receive an answer any more.
      if (this.#isAnswered) return;
      const principal = permitted(outcome, rule);
      if ('status' in principal) this.#answer(principal);
      else this.#limit({ ...admitted, principal });
    };
    const outcome = verified(this.#parts.tokens, this.#exchange.head.fields);
    if (!(outcome instanceof Promise)) take(outcome);
    else void outcome.then(take).catch((failure: unknown) => this.#fail(failure));
  }

  /** Serves the request if the limits of its route let it through. */
  #limit(admitted: Admitted): void {
    const { limits } = admitted.route;
    if (limits === undefined) return this.#serve(admitted);
    const { principal, caller } = admitted;
    const { head, socket } = this.#exchange;
    const { remoteAddress } = socket as Partial<Socket>;
    const isBehindGateway = this.#parts.project !== undefined;
    const address = callerAddress(caller, head.fields, remoteAddress, isBehindGateway);
    const judged = this.#parts.limits!.admit(limits, { principal, address });
    if ('status' in judged) return this.#answer(judged);
    this.#limitHeaders = judged;
    return this.#serve(admitted);
  }

  /** Runs the handler when the body is there, or for a body that the handler reads itself. */
  #serve(admitted: Admitted): void {
    const { route, idempotencyKey: key } = admitted;
    const refused = typeof key === 'object' ? key : undefined;
    const body = new ExchangeBody(this.#parts, this.#exchange, route, refused);
    this.#body = body;
    const none = body.ofNone;
    if (none !== undefined) this.#handle(admitted, none);
    else if (this.#parts.readsBodies) this.#handle(admitted, this.#unread(body));
    else this.#readFirst(admitted, body);
  }

  #readFirst(admitted: Admitted, body: ExchangeBody): void {
    const refused = body.refusal();
    if (refused !== undefined) {
      this.#answer(refused);
      return;
    }
    body.read((read) => {
      this.startMs = this.#parts.recorder.nowMs();
      try {
        this.#continueWith(admitted, read);
      } catch (failure) {
        this.#fail(failure);
      }
    });
  }

  #continueWith(admitted: Admitted, read: BodyRead): void {
    switch (read.kind) {
      case 'read':
        this.#handle(admitted, read.body);
        break;
      case 'refused':
        this.#answer(read.answer);
        break;
      case 'no-room':
        throw tooMuchRead();
      case 'over':
    }
  }

  #unread(body: ExchangeBody): UnreadBody {
    let read: ReturnType<UnreadBody['read']> | undefined;
    return { kind: 'unread', read: () => (read ??= this.#readForHandler(body)) };
  }

  #readForHandler(body: ExchangeBody): ReturnType<UnreadBody['read']> {
    const { promise, resolve, reject } = Promise.withResolvers<Body | EndpointResponse>();
    // A request that is over gives no body, and nobody receives this response.
    const refused = this.#isAnswered ? INCOMPLETE : body.refusal();
    if (refused !== undefined) resolve(responseOf(refused));
    else {
      const deadline = this.#answerDeadline();
      deadline.pause();
      body.read((read) => {
        deadline.resume();
        if (read.kind === 'read') resolve(read.body);
        else if (read.kind === 'no-room') reject(tooMuchRead());
        else resolve(responseOf(read.kind === 'refused' ? read.answer : INCOMPLETE));
      });
    }
    return promise;
  }

  #answerDeadline(): AnswerDeadline {
    const { answerTimeoutMs } = this.#parts.settings;
    return (this.#deadline ??= new AnswerDeadline(answerTimeoutMs, () => this.#expire()));
  }

  #handle(admitted: Admitted, body: Body | UnreadBody): void {
    const { handle, random, firstRouteIndex } = this.#parts;
    const { idempotencyKey: key } = admitted;
    const { metadata, own, parent, state } = requestTrace(this.#exchange.head.fields, random);
    this.handlerIndex = firstRouteIndex + admitted.route.index;
    this.trace = own;
    this.parentId = parent?.spanId;
    this.traceState = state;
    const { principal, route } = admitted;
    const caller = callerName(admitted.caller);
    const headers = endpointHeaders(this.#exchange.head.fields);
    const owner = principal === undefined ? caller : keyOwner(principal);
    const outcome = handle(
      {
        route: route.index,
        parameters: admitted.parameters,
        query: admitted.query,
        headers:
          principal === undefined ? headers : principalHeaders(headers, principal, route.bearer!),
        caller,
        body,
        idempotencyKey: typeof key === 'string' ? requestKey(key, owner, route.label) : undefined,
      },
      principal === undefined ? metadata : authoredMetadata(metadata, principal),
      this,
    );
    if (!(outcome instanceof Promise)) {
      this.#succeed(outcome);
      return;
    }
    this.#pending += 1;
    this.#answerDeadline().start();
    outcome.then(
      (value) => {
        this.#handlerDone();
        this.#succeed(value);
        this.#release();
      },
      (failure: unknown) => {
        this.#handlerDone();
        this.#fail(failure);
        this.#release();
      },
    );
  }

  /** Ends the deadline, and drops `cancel`, so that the handler's calls are not kept while the response is sent. */
  #handlerDone(): void {
    this.#deadline?.end();
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
    const { settings, hasPosition, form } = this.#parts;
    const { errors, hasPosition: showsPosition } = form;
    const refusal = outcome.kind === 'refusal' ? outcome : undefined;
    const spanOutcome = outcome.kind === 'refusal' ? SPAN_REFUSED : outcomeOfStatus(outcome.status);
    if (this.#isAnswered) {
      this.#record(spanOutcome, refusal);
      return;
    }
    try {
      const answer = handlerAnswer(outcome, { settings, hasPosition, showsPosition, errors });
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
    return failureAnswer(failure, errorId, this.#parts.form.errors);
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
    // Otherwise the request ends with its answer.
    if (this.#isAnswered) recorder.served(this, recorder.nowMs(), this.#outcome, this.#failure);
    else if (late === undefined) this.status = status;
  }

  #answer(given: Answer): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { load, cors, counts, recorder, date, form } = this.#parts;
    const formed = formedAnswer(
      withHeaders(given, this.#limitHeaders),
      form,
      this.#route?.challenge,
    );
    const answer = cors === undefined ? formed : this.#readable(cors, formed);
    this.kept.become(answerBytes(answer));
    const endMs = recorder.nowMs();
    counts.answered(this.#route?.index ?? -1, answer.status, endMs - this.#arrivedMs);
    if (this.#outcome !== undefined) recorder.served(this, endMs, this.#outcome, this.#failure);
    const exchange = this.#exchange;
    if (answer.close === true || load.isStopping) exchange.closeAfterResponse();
    try {
      exchange.answer(wholeResponse(answer, date?.()), () => this.#sent());
    } catch (bug) {
      this.#log(bug, (this.errorId ??= spanIdText(newSpanId(this.#parts.random))));
      exchange.reset();
      this.#sent();
    }
    this.#release();
  }

  /** Called when the caller has received the answer, or nobody can. */
  #sent(): void {
    this.#isSent = true;
    if (this.#pending === 0) this.kept.free();
  }

  /** Adds the headers of CORS, without which browsers hide the answer, even an error, from the page. */
  #readable(cors: Cors, answer: Answer): Answer {
    const { method, path, fields } = this.#exchange.head;
    const index = this.#route?.index ?? cors.routeIndex(method, path);
    return cors.answerOf(answer, fields, index);
  }

  #release(): void {
    this.#pending -= 1;
    if (this.#pending > 0) return;
    this.#parts.load.inFlight -= 1;
    if (this.#isSent) this.kept.free();
    this.#body?.free();
  }

  #log(failure: unknown, errorId: string): void {
    logFailure(this.#parts.log, failure, { errorId, route: this.#route?.label });
  }
}

/** Returns an answer without a handler as the response of one. */
function responseOf({ status, headers, body }: Answer): EndpointResponse {
  return { kind: 'response', status, headers, body: { kind: 'json', text: String(body) } };
}

function tooMuchRead(): SvcError {
  return new SvcError('SVC_OVERLOADED', 'The bodies of requests take too much memory together.');
}
