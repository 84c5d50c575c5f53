// RequestHandler: what happens between the HTTP server and a module's handler. It gives the handler its context
// and its calls, and keeps its answer until what it was told is on disk. When the handler returns the result of a
// call that failed, it answers with that failure (500, 503 or 504), and not with the handler's word.
import type { RandomSource, Clock } from '../../engine/needs/clock.ts';
import type { Guest } from '../../engine/needs/guest.ts';
import { LoopTurn } from './loop-turn.ts';
import type { Awaitable, CallContext, Metadata, Refusal } from '../../model/call.ts';
import {
  type AnswerWaiter,
  type EndpointRequest,
  type EndpointResponse,
  outcomeBytes,
} from '../../model/endpoint.ts';
import type { EntityRef } from '../../model/entity.ts';
import { responseDropped, tooMuchUnsent } from '../../model/kept-bytes.ts';
import { type CallableEngine, RequestCalls } from './request-calls.ts';
import { RequestKeys } from './request-keys.ts';

interface Parts {
  readonly guest: Pick<Guest, 'endpoints'>;
  readonly engine: CallableEngine;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Of the event loop that all of it runs in. */
  readonly turn?: LoopTurn;
  /** Is told when the first entity that a handler asks for is another shard's. */
  readonly asksElsewhere?: (
    request: EndpointRequest,
    target: EntityRef,
    waiter: AnswerWaiter | undefined,
  ) => void;
}

type Outcome = EndpointResponse | Refusal;

/** A handler that has used no more has computed for less than two milliseconds, wherever in its run. */
const QUICK_FUEL = 100_000;

export function requestHandler({
  guest,
  engine,
  clock,
  random,
  turn = new LoopTurn(),
  asksElsewhere,
}: Parts) {
  const run = (
    request: EndpointRequest,
    metadata: Metadata,
    calls: RequestCalls,
    waiter: AnswerWaiter | undefined,
  ): Awaitable<Outcome> => {
    if (waiter?.kept.isUsedUp === true) throw tooMuchUnsent();
    const context = { nowMs: calls.requestMs, seed: random.next64(), metadata, spent: waiter };
    let isQuick = false;
    let answer: Awaitable<Outcome>;
    try {
      answer = guest.endpoints.handle(context, request, calls);
      isQuick = waiter !== undefined && waiter.fuel <= QUICK_FUEL;
    } finally {
      if (!isQuick) turn.hasComputed();
    }
    if (answer instanceof Promise) {
      const { firstElsewhere } = calls;
      if (firstElsewhere !== undefined) asksElsewhere?.(request, firstElsewhere, waiter);
      waiter?.kept.become(calls.keptBytes);
      return settled(answer, calls);
    }
    if (calls.isAhead) {
      const isKept = waiter?.kept.fits(calls.keptBytes + outcomeBytes(answer)) ?? true;
      return confirmed(isKept ? answer : undefined, context, request, calls);
    }
    return notPassedOn(answer, calls);
  };
  const settled = async (answer: Awaitable<Outcome>, calls: RequestCalls): Promise<Outcome> => {
    try {
      return notPassedOn(await answer, calls);
    } finally {
      turn.hasComputed();
    }
  };
  /**
   * The answer once what it was made of is on disk; or what the handler answers when it is not. Undefined: there was no
   * room to keep it.
   */
  const confirmed = async (
    answer: Outcome | undefined,
    context: CallContext,
    request: EndpointRequest,
    calls: RequestCalls,
  ): Promise<Outcome> => {
    if (await calls.cameTrue()) {
      if (answer === undefined) throw responseDropped();
      return notPassedOn(answer, calls);
    }
    checkWanted(calls);
    calls.runAgain();
    return settled(guest.endpoints.handle(context, request, calls), calls);
  };
  return (
    request: EndpointRequest,
    metadata: Metadata,
    waiter?: AnswerWaiter,
  ): Awaitable<Outcome> => {
    const { idempotencyKey } = request;
    const keys = idempotencyKey === undefined ? undefined : new RequestKeys(idempotencyKey);
    const calls = new RequestCalls(engine, clock, turn, keys, waiter?.kept);
    const answer = turn.isUsedUp()
      ? turn.next().then(() => {
          checkWanted(calls);
          return run(request, metadata, calls, waiter);
        })
      : run(request, metadata, calls, waiter);
    if (waiter !== undefined && answer instanceof Promise)
      waiter.cancel = (reason) => calls.cancel(reason);
    return answer;
  };
}

/** Throws when nobody waits for the answer any more. */
function checkWanted({ cancelReason }: RequestCalls): void {
  if (cancelReason !== undefined) throw cancelReason;
}

/** Throws the failure of the call whose result is the handler's answer. */
function notPassedOn(answer: Outcome, calls: RequestCalls): Outcome {
  const failure = answer.kind === 'refusal' ? calls.failurePassedOnBy(answer) : undefined;
  if (failure !== undefined) throw failure;
  return answer;
}
