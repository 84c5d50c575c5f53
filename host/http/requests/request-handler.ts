// RequestHandler is what happens between the HTTP server and a module's handler. It gives the handler its context and its
// calls, and holds the handler's answer back until the write behind a speculative result is on disk (request-calls.ts has
// the invariants of speculation and replay). If the write confirms the result, the answer is sent as it is. If not, the
// handler is replayed where it can suspend, and its new answer is sent.
// The response of a service with views has the position of what its handler has stored.
// When the handler returns the result of a call that failed, the response is that failure (500, 503 or 504) and not the
// handler's own text.
import type { RandomSource, WallClock } from '../../engine/needs/clock.ts';
import type { Guest } from '@svc/model/guest';
import { EventLoopBudget } from './event-loop-budget.ts';
import {
  type Awaitable,
  type CallContext,
  type Metadata,
  type Refusal,
  refusal,
} from '@svc/model/call';
import {
  type AnswerWaiter,
  type EndpointRequest,
  type EndpointResponse,
  outcomeBytes,
  type UnreadBody,
} from '@svc/model/endpoint';
import type { CurrentConfiguration } from '@svc/model/configuration';
import type { EntityRef } from '@svc/model/entity';
import { responseDropped, tooMuchUnsent } from '@svc/model/kept-bytes';
import type { CalledServices } from '@svc/model/service-call';
import { authorIn, withoutAuthor } from '@svc/model/author';
import { authoredEngine } from './authored-engine.ts';
import { checkWanted, notPassedOn, replayed, settled } from './handler-run.ts';
import type { CallableEngine } from './callable-engine.ts';
import { configuredEngine } from './configured-engine.ts';
import { RequestCalls } from './request-calls.ts';
import { type QueriedViews, RequestFinds } from './request-finds.ts';
import { RequestKeys } from './request-keys.ts';
import { atPosition, caughtUp, positionAfter } from '../position-token.ts';

interface Parts {
  readonly guest: Pick<Guest, 'endpoints'>;
  readonly engine: CallableEngine;
  readonly clock: WallClock;
  readonly random: RandomSource;
  /** Absent if the service has no views. */
  readonly views?: QueriedViews | undefined;
  /** Absent if the service cannot call others. */
  readonly services?: CalledServices | undefined;
  /** Absent if the module has no configuration. */
  readonly configuration?: CurrentConfiguration | undefined;
  /** The budget of the thread that all requests run in. */
  readonly eventLoop?: EventLoopBudget;
  /** Called when the first entity that a handler calls is owned by another shard. */
  readonly firstCallIsRemote?: (
    request: EndpointRequest,
    target: EntityRef,
    waiter: AnswerWaiter | undefined,
  ) => void;
}

type Outcome = EndpointResponse | Refusal;

export function requestHandler({
  guest,
  engine: given,
  clock,
  random,
  views,
  services,
  configuration,
  eventLoop = new EventLoopBudget(),
  firstCallIsRemote,
}: Parts) {
  const configured = configuredEngine(given, configuration);
  const anonymous = authoredEngine(configured, undefined);
  const run = (
    request: EndpointRequest,
    metadata: Metadata,
    calls: RequestCalls,
    waiter: AnswerWaiter | undefined,
  ): Awaitable<Outcome> => {
    if (waiter?.kept.isUsedUp === true) throw tooMuchUnsent();
    const context = { nowMs: calls.requestMs, seed: random.next64(), metadata, spent: waiter };
    const answer = guest.endpoints.handle(context, request, calls);
    if (answer instanceof Promise) {
      const { firstRemoteTarget } = calls;
      if (firstRemoteTarget !== undefined) firstCallIsRemote?.(request, firstRemoteTarget, waiter);
      waiter?.kept.become(calls.keptBytes);
      return settled(answer, calls);
    }
    if (calls.isSpeculative) {
      const isKept = waiter?.kept.fits(calls.keptBytes + outcomeBytes(answer)) ?? true;
      return afterConfirmation(isKept ? answer : undefined, context, request, calls);
    }
    return notPassedOn(answer, calls);
  };
  /**
   * Resolves with `answer` once the speculative result that it depends on is confirmed, or else with the answer of a
   * replay. `answer` is undefined when there was no memory in which to hold the answer back: then the function rejects
   * with SVC_RESPONSE_DROPPED if the result is confirmed.
   */
  const afterConfirmation = async (
    answer: Outcome | undefined,
    context: CallContext,
    request: EndpointRequest,
    calls: RequestCalls,
  ): Promise<Outcome> => {
    if (await calls.isConfirmed()) {
      if (answer === undefined) throw responseDropped();
      return notPassedOn(answer, calls);
    }
    return replayed(calls, () => guest.endpoints.handle(context, request, calls));
  };
  /** Runs the handler of a request, unless the position that the request names is none. */
  const judged = (
    received: EndpointRequest,
    metadata: Metadata,
    calls: RequestCalls,
    waiter: AnswerWaiter | undefined,
  ): Awaitable<Outcome> => {
    if (views === undefined) return run(received, metadata, calls, waiter);
    const after = positionAfter(received.headers, views.positions);
    if (after === false && guest.endpoints.readsBodies !== true) return FOREIGN_TOKEN;
    const finds = new RequestFinds(views, after === false ? undefined : after);
    calls.allowFinds(finds);
    const request = after === false ? { ...received, body: REFUSED } : received;
    const outcome = run(request, metadata, calls, waiter);
    return outcome instanceof Promise
      ? outcome.then((later) => positioned(later, finds))
      : positioned(outcome, finds);
  };
  return (
    received: EndpointRequest,
    requestMetadata: Metadata,
    waiter?: AnswerWaiter,
  ): Awaitable<Outcome> => {
    const { idempotencyKey } = received;
    const keys = idempotencyKey === undefined ? undefined : new RequestKeys(idempotencyKey);
    const author = authorIn(requestMetadata);
    const metadata = withoutAuthor(requestMetadata);
    const engine = author === undefined ? anonymous : authoredEngine(configured, author);
    const calls = new RequestCalls(engine, clock, eventLoop, keys, waiter?.kept);
    calls.metadata = metadata;
    calls.services = services;
    const pause =
      (views === undefined ? undefined : caughtUp(received.headers, views.positions)) ??
      (eventLoop.isUsedUp() ? eventLoop.yield() : undefined);
    const answer =
      pause === undefined
        ? judged(received, metadata, calls, waiter)
        : pause.then(() => {
            checkWanted(calls);
            return judged(received, metadata, calls, waiter);
          });
    if (waiter !== undefined && answer instanceof Promise) {
      const cancel: AnswerWaiter['cancel'] = (reason) => calls.cancel(reason);
      waiter.cancel = cancel;
    }
    return answer;
  };
}

function positioned(outcome: Outcome, finds: RequestFinds): Outcome {
  return outcome.kind === 'refusal' ? outcome : atPosition(outcome, finds.position);
}

const FOREIGN_TOKEN = refusal(
  'BAD_REQUEST',
  'The header Svc-After is no token of this service. Pass on the value of Svc-Position as it is, or leave the header out.',
);

/** Body of a request that is refused for the header when its handler asks for the body, after what the handler judges first. */
const REFUSED: UnreadBody = { kind: 'unread', read: () => Promise.resolve(FOREIGN_TOKEN) };
