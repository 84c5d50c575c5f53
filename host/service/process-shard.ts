// ProcessShard is the process of an embedded service as introspection sees it: the only shard of its service.
import type { ModuleDescriptor } from '@svc/contract';
import type { ServiceShards } from '../introspection/service-shards.ts';
import { LimitCounters } from '@svc/model/limit-counters';
import { SvcError } from '@svc/kit/svc-error';
import { HashOwnership } from '../shards/hash-ownership.ts';
import { OpenQuestions, shardAway } from '../shards/open-questions.ts';
import type { ShardAnswers } from '../shards/shard-answers.ts';
import { ShardNumbers } from '../shards/shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from '../shards/shard-questions.ts';

export class ProcessShard implements ServiceShards {
  readonly count = 1;
  readonly ownership = new HashOwnership(this.count);
  /** Always empty: if this shard ends, the whole process has ended. */
  readonly ends = [];
  readonly counters = new LimitCounters();
  readonly numbers: readonly [ShardNumbers];
  /** Answers questions while the components are served; undefined before and after. */
  answers: ShardAnswers | undefined;
  /** Whether the service serves: it listens, if it has an address, and is not stopping. */
  isServing = false;
  readonly #questions = new OpenQuestions();

  constructor(descriptor: ModuleDescriptor, ringCapacity: number) {
    this.numbers = [new ShardNumbers(descriptor, ringCapacity)];
  }

  get serving(): readonly boolean[] {
    return [this.isServing];
  }

  async ask<Question extends ShardQuestion>(
    _shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    const { answers } = this;
    if (answers === undefined) throw shardAway();
    const answer = await this.#questions.ask((number) => {
      answers.answer(question).then(
        (given) => this.#questions.answered(number, given),
        // Without this callback an unexpected error would be an unhandled rejection, which ends the program.
        (reason: unknown) => this.#questions.failed(number, reason),
      );
    }, timeoutMs);
    if (answer.kind === 'failed') throw new SvcError(answer.code, answer.message);
    return answer as AnswerTo<Question>;
  }
}
