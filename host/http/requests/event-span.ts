// EventSpan is the span of one attempt of a consumer to handle an event. It belongs to the trace of the command that has stored
// the event. The journal has no span of that command, so this span has no parent.
//
// Invariant: the consumer is given the same metadata at each attempt, while the calls of an attempt are children of its span.
import { SvcError } from '@svc/kit/svc-error';
import {
  childMetadata,
  childTraceParent,
  type TraceParent,
  traceParentOf,
  traceParentTextOf,
} from '@svc/kit/trace-context';
import type { RandomSource } from '../../engine/needs/clock.ts';
import { type EndedCall, NO_RECORDER, type Recorder } from '../../engine/needs/recorder.ts';
import type { Metadata, Refusal } from '@svc/model/call';
import type { Verdict } from '@svc/model/consumer';
import type { EntityRef } from '@svc/model/entity';
import type { HandlerTable } from '@svc/model/handler-table';
import type { CalledServices } from '@svc/model/service-call';
import { outcomeOfFailure, SPAN_OK, SPAN_REFUSED } from '@svc/model/span-outcome';
import type { CallableEngine } from './callable-engine.ts';

/** Records the spans of consumers. */
export interface EventRecorder {
  readonly recorder: Recorder;
  readonly random: RandomSource;
  readonly handlerTable: Pick<HandlerTable, 'consumerOf'>;
}

/** Records nothing. */
export const NO_EVENT_RECORDER: EventRecorder = {
  recorder: NO_RECORDER,
  random: { next64: () => 1n },
  handlerTable: { consumerOf: () => undefined },
};

export class EventSpan implements EndedCall {
  fuel = 0;
  readonly handlerIndex: number;
  readonly entityId: string;
  readonly startMs: number;
  readonly trace: TraceParent | undefined;
  readonly parentId = undefined;
  readonly traceState = undefined;
  readonly eventsPersisted = 0;
  readonly #recorder: Recorder;
  /** The `traceparent` that the consumer is given. */
  readonly #given: string | undefined;

  /** `metadata`: what the consumer is given. */
  constructor(
    { recorder, random, handlerTable }: EventRecorder,
    consumer: string,
    { component, id }: EntityRef,
    metadata: Metadata,
  ) {
    const handlerIndex = handlerTable.consumerOf(consumer, component);
    // An event that the module has no consumer for is not handled by any code of it.
    this.#recorder = handlerIndex === undefined ? NO_RECORDER : recorder;
    this.handlerIndex = handlerIndex ?? 0;
    this.entityId = id;
    this.startMs = recorder.nowMs();
    const given = traceParentOf(metadata);
    this.#given = traceParentTextOf(metadata);
    this.trace = given && childTraceParent(given, random);
  }

  /** Returns an engine whose calls are children of this span, if the consumer passes the trace on that it is given. */
  traced(engine: CallableEngine): CallableEngine {
    const { speculate } = engine;
    const own = (metadata: Metadata): Metadata => this.ofCall(metadata);
    return {
      call: (target, name, input, metadata, key) =>
        engine.call(target, name, input, own(metadata), key),
      readEvents: (...read) => engine.readEvents(...read),
      changeTimers: (owner, changes, metadata, nowMs) =>
        engine.changeTimers(owner, changes, own(metadata), nowMs),
      ...(speculate && {
        speculate: (target, name, input, metadata, key) =>
          engine.speculate!(target, name, input, own(metadata), key),
      }),
    };
  }

  /** Returns services whose requests are children of this span. */
  tracedServices(services: CalledServices): CalledServices {
    return {
      perHandlerMax: services.perHandlerMax,
      request: (request, metadata, signal) =>
        services.request(request, this.ofCall(metadata), signal),
    };
  }

  /** Returns the metadata of a call. */
  ofCall(metadata: Metadata): Metadata {
    const isPassedOn = this.#given !== undefined && traceParentTextOf(metadata) === this.#given;
    return isPassedOn ? childMetadata(metadata, this.trace) : metadata;
  }

  /** Records the answer of the consumer. */
  answered(answer: Verdict | Refusal): void {
    const refused = refusalOf(answer);
    const outcome = refused === undefined ? SPAN_OK : SPAN_REFUSED;
    this.#recorder.called(this, this.#recorder.nowMs(), outcome, refused);
  }

  /** Records a failure. A service that stops is none: the event is handled after the next start. */
  failed(failure: unknown): void {
    if (failure instanceof SvcError && failure.code === 'SVC_STOPPING') return;
    this.#recorder.called(this, this.#recorder.nowMs(), outcomeOfFailure(failure), failure);
  }
}

/** Returns why the event is not settled; undefined if it is. */
function refusalOf(answer: Verdict | Refusal): Refusal | undefined {
  switch (answer.kind) {
    case 'done':
    case 'skip':
      return undefined;
    case 'retry':
      return { kind: 'refusal', code: 'OTHER', otherCode: 'RETRY', message: answer.reason };
    case 'refusal':
      return answer;
  }
}
