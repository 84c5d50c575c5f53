// EventHandler is what happens between the dispatcher of consumers and a module's consumer. It gives the consumer its context and
// its calls, and holds its verdict back until the write behind a speculative result is on disk, as request-handler.ts does for
// requests (request-calls.ts has the invariants of speculation and replay).
//
// Invariants
// E1  Time, seed and metadata are the same at each attempt of an event, and the clock stands still.
// E2  A call of a command has the same key at each attempt that makes the same calls, so it is executed once. If it is refused, it
//     is made again in a later round.
// E3  An attempt in which the runtime has failed ends with `done`, or with that failure: the consumer's other answers may come
//     from it. So does one with a call of which it is unknown whether it was executed: the repeated attempt makes the call
//     with its key, which executes it once (E2).
import { after } from '@svc/kit/after';
import { SvcError } from '@svc/kit/svc-error';
import { spanIdText } from '@svc/kit/trace-context';
import type { ServiceClock } from '../../engine/needs/clock.ts';
import type { Guest, GuestConsumers, HostCalls } from '@svc/model/guest';
import type { CallContext, Metadata, Refusal } from '@svc/model/call';
import type { Verdict } from '@svc/model/consumer';
import type { CurrentConfiguration } from '@svc/model/configuration';
import type { EntityEvent } from '@svc/model/entity';
import { eventKey, roundSuffix } from '@svc/model/event-key';
import { GuestFault } from '@svc/model/guest-fault';
import { KeptBytes } from '@svc/model/kept-bytes';
import type { CalledServices } from '@svc/model/service-call';
import type { RequestBudgets } from '@svc/model/request-budgets';
import { EventLoopBudget } from './event-loop-budget.ts';
import { type EventRecorder, EventSpan, NO_EVENT_RECORDER } from './event-span.ts';
import { checkWanted, replayed, settled } from './handler-run.ts';
import type { CallableEngine } from './callable-engine.ts';
import { authoredEngine } from './authored-engine.ts';
import { configuredEngine } from './configured-engine.ts';
import { RequestCalls } from './request-calls.ts';
import { type QueriedViews, RequestFinds } from './request-finds.ts';
import { RequestKeys } from './request-keys.ts';

export interface EventHandlerParts {
  readonly guest: Pick<Guest, 'consumers'>;
  readonly engine: CallableEngine;
  /** Absent if the service has no views. */
  readonly views?: QueriedViews | undefined;
  /** Absent if the service cannot call others. */
  readonly services?: CalledServices | undefined;
  /** Absent if the module has no configuration. */
  readonly configuration?: CurrentConfiguration | undefined;
  /** The budget of the thread that all requests and events run in. */
  readonly eventLoop?: EventLoopBudget;
  /** Time in which a consumer has to answer, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** How that time passes; default: by the machine's clock. */
  readonly after?: ServiceClock['after'] | undefined;
  /** The memory in which the inputs of calls are counted, as those of requests; absent: they are not counted. */
  readonly budgets?: Pick<RequestBudgets, 'unsent'> | undefined;
  /** Absent: nothing is recorded. */
  readonly spans?: EventRecorder | undefined;
}

/** An event for a consumer, and what its attempts have in common. */
export interface HandledEvent extends EntityEvent {
  /** Seed of the command that stored the event; undefined in journals of format 1. */
  readonly seed: bigint | undefined;
  /** Trace id of that command; undefined in journals of formats 1 and 2. */
  readonly trace: string | undefined;
}

/** A call of the consumer has failed, for a reason of the runtime, or the consumer has passed the failure on. Its `cause` is the failure. */
export class FailedCall extends Error {}

/** Lets a consumer handle an event. `round`: as in StoredLane. Rejects with GuestFault, SvcError, or FailedCall. */
export type HandleEvent = (
  consumer: string,
  event: HandledEvent,
  round: number,
) => Promise<Verdict | Refusal>;

class EventCalls extends RequestCalls {
  /** Undefined before and after the attempt. */
  noteWaiting: HostCalls['noteWaiting'];
}

/** Returns undefined if the guest has no consumers. */
export function eventHandler({
  guest: { consumers },
  engine: given,
  views,
  services,
  configuration,
  eventLoop = new EventLoopBudget(),
  answerTimeoutMs,
  after: wait = after,
  budgets,
  spans = NO_EVENT_RECORDER,
}: EventHandlerParts): HandleEvent | undefined {
  if (consumers === undefined) return undefined;
  // The command of the event had an author. The consumer acts for nobody.
  const engine = authoredEngine(configuredEngine(given, configuration), undefined);
  return async (consumer, event, round) => {
    const key = eventKey({ consumer, entity: event.entity, seq: event.seq });
    const keys = new RequestKeys(key, roundSuffix(round));
    const clock = { nowMs: () => event.timeMs };
    const base = contextOf(key, event);
    const span = new EventSpan(spans, consumer, event.entity, base.metadata);
    const context = { ...base, spent: span };
    const kept = budgets === undefined ? undefined : new KeptBytes(budgets.unsent);
    const calls = new EventCalls(span.traced(engine), clock, eventLoop, keys, kept);
    calls.metadata = context.metadata;
    calls.services = services && span.tracedServices(services);
    if (views !== undefined) calls.allowFinds(new RequestFinds(views, undefined));
    try {
      const answer = await inTime({ timeoutMs: answerTimeoutMs, wait }, calls, async () => {
        if (eventLoop.isUsedUp()) await eventLoop.yield();
        checkWanted(calls);
        return handled(consumers, context, consumer, event, calls);
      });
      if (answer.kind !== 'done' && calls.failureOfRuntime !== undefined)
        throw calls.failureOfRuntime;
      span.answered(answer);
      return answer;
    } catch (failure) {
      const cause = calls.failureOfRuntime ?? failure;
      span.failed(cause);
      if (calls.hasFailedWith(cause)) throw new FailedCall('a call failed', { cause });
      throw failure;
    } finally {
      kept?.free();
    }
  };
}

async function handled(
  consumers: GuestConsumers,
  context: CallContext,
  consumer: string,
  event: EntityEvent,
  calls: RequestCalls,
): Promise<Verdict | Refusal> {
  const handle = () => consumers.handle(context, consumer, event, calls);
  const answer = handle();
  if (answer instanceof Promise || !calls.isSpeculative || (await calls.isConfirmed()))
    return settled(answer, calls);
  return replayed(calls, handle);
}

/**
 * Runs the consumer, and cancels it when its time is over. The code of an embedding program may never end. If the consumer
 * waits for an instance as long, the attempt rejects with SVC_OVERLOADED; its own time begins when it has one.
 */
function inTime<T>(
  { timeoutMs, wait }: { readonly timeoutMs: number; readonly wait: ServiceClock['after'] },
  calls: EventCalls,
  run: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined;
    const settle = (end: () => void): void => {
      cancel?.();
      calls.noteWaiting = undefined;
      end();
    };
    const noteWaiting = (isWaiting: boolean): void => {
      cancel?.();
      cancel = wait(timeoutMs, () => {
        const late = lateFault(timeoutMs);
        calls.cancel(late);
        settle(() => reject(isWaiting ? busy(timeoutMs) : late));
      });
    };
    calls.noteWaiting = noteWaiting;
    noteWaiting(false);
    run().then(
      (answer) => settle(() => resolve(answer)),
      (failure: unknown) => settle(() => reject(failure)),
    );
  });
}

function lateFault(timeoutMs: number): GuestFault {
  const late = `The consumer was not done after ${timeoutMs} ms, the time of its calls included.`;
  return new GuestFault('time', late, { limit: 'request-time' });
}

function busy(timeoutMs: number): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    `All instances of the consumer have handled other events for ${timeoutMs} ms. Find out what its calls wait for, or raise svc.wasm.endpoint-instances-max.`,
  );
}

/** `key`: that of the event, by `eventKey`. */
function contextOf(key: string, { timeMs, seed = 0n, trace }: HandledEvent): CallContext {
  // Other events of the command, other consumers of the event, and the command itself have other random numbers.
  const ownSeed = seed ^ hashOf(key);
  const metadata: Metadata =
    trace === undefined
      ? []
      : [['traceparent', `00-${trace}-${spanIdText(ownSeed === 0n ? 1n : ownSeed)}-01`]];
  return { nowMs: timeMs, seed: ownSeed, metadata };
}

/** Returns 64 bits of a text: two hashes of 32 bits over its UTF-16 units, with other factors (as in MurmurHash3). */
function hashOf(text: string): bigint {
  let [high, low] = [0x9747b28c, 0x85ebca6b];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0xcc9e2d51);
    low = Math.imul(low ^ unit, 0x1b873593);
  }
  return (BigInt(mixed(high)) << 32n) | BigInt(mixed(low));
}

/** Lets each bit of a number of 32 bits depend on all of them. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return (whole ^ (whole >>> 16)) >>> 0;
}
