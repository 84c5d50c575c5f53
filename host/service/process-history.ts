// ProcessHistory answers questions about the journal of an embedded service in the process of its program, whose own
// components fold the events. Invariants: one question is answered at a time, and at most QUESTIONS_MAX wait.
import type { Guest } from '../engine/needs/guest.ts';
import { type EntityQuestion, HistoryAnswers } from '../history/reader/history-answers.ts';
import type {
  AnswerToQuestion,
  HistoryAnswer,
  HistoryQuestion,
  HistoryReader,
} from '../history/reader/history-reader.ts';
import { SvcError } from '@svc/kit/svc-error';

const QUESTIONS_MAX = 32;

export class ProcessHistory implements HistoryReader {
  readonly #answers: HistoryAnswers | undefined;
  #latest: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  /** `dir`: the data folder; undefined: the journal is in memory, and cannot be read beside the engine. */
  constructor(guest: Guest, dir: string | undefined) {
    const { descriptor } = guest;
    if (dir !== undefined)
      this.#answers = new HistoryAnswers({ dir, descriptor, startGuest: () => guest });
  }

  async ask<Question extends HistoryQuestion>(
    question: Question,
  ): Promise<AnswerToQuestion<Question>> {
    if (this.#isClosed) throw new SvcError('SVC_STOPPING', 'The service is stopping.');
    return (await this.#answer(question)) as AnswerToQuestion<Question>;
  }

  /** Waits for the question that is being answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#latest;
  }

  async #answer(question: HistoryQuestion): Promise<HistoryAnswer> {
    // A program's faults have their source locations in their stacks.
    if (question.kind === 'places')
      return { kind: 'places', places: question.faults.map(() => []) };
    if (this.#answers === undefined)
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        'The journal of this service is in memory: give it a dataFolder to see its entities.',
      );
    return this.#inTurn(question, this.#answers);
  }

  async #inTurn(question: EntityQuestion, answers: HistoryAnswers): Promise<HistoryAnswer> {
    if (this.#waiting >= QUESTIONS_MAX)
      throw new SvcError(
        'SVC_OVERLOADED',
        'Too many questions about the journal wait for their answer. Try again.',
      );
    this.#waiting += 1;
    const answer = this.#latest.then(() => answers.answer(question));
    this.#latest = answer.catch(() => {});
    try {
      return await answer;
    } finally {
      this.#waiting -= 1;
    }
  }
}
