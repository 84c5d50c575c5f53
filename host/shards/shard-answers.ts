// ShardAnswers answers the main thread's questions to a shard (shard-questions.ts).
import assert from 'node:assert';
import { threadId } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { RandomSource } from '../engine/needs/clock.ts';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { outcomeOfFailure, SPAN_TIMED_OUT } from '@svc/model/span-outcome';
import { newTraceParent, traceParentText } from '@svc/kit/trace-context';
import { recordedFault } from './recorder/fault-record.ts';
import type { SpanRing } from './recorder/span-ring.ts';
import type { ShardAnswer, ShardQuestion } from './shard-questions.ts';

interface Parts {
  readonly ring: SpanRing;
  readonly engine: Pick<EntityEngine, 'call'>;
  readonly descriptor: ModuleDescriptor;
  readonly random: RandomSource;
}

export class ShardAnswers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async answer(question: ShardQuestion): Promise<ShardAnswer> {
    const { ring } = this.#parts;
    if (question.kind === 'spans')
      return {
        kind: 'spans',
        spans: ring.after(question.after, question.limit),
        recorded: ring.count,
        threadId,
      };
    try {
      return { kind: 'outcome', outcome: await this.#query(question) };
    } catch (error) {
      if (error instanceof GuestFault)
        return {
          kind: 'fault',
          fault: recordedFault(error, undefined),
          isLate: outcomeOfFailure(error) === SPAN_TIMED_OUT,
        };
      if (error instanceof SvcError)
        return { kind: 'failed', code: error.code, message: error.message };
      throw error;
    }
  }

  /** Runs a query, which begins a trace of its own. */
  async #query({ target, name, input }: Extract<ShardQuestion, { kind: 'query' }>) {
    const { engine, descriptor, random } = this.#parts;
    const component = descriptor.entities.find((one) => one.component === target.component);
    assert(
      component?.queries.some((query) => query.name === name),
      'only a query may be asked',
    );
    const traceparent = traceParentText(newTraceParent(random));
    return engine.call(target, name, input, [['traceparent', traceparent]]);
  }
}
