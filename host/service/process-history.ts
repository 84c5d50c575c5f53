// ProcessHistory answers questions about the journal of an embedded service in the program's own process, where the
// program's components fold the events. Invariants: questions about entities are answered one at a time, and at most
// QUESTIONS_MAX of them wait or are being answered; requests are served meanwhile (paced-entities.ts); an answer whose
// folding exceeds TIMEOUT_MS is ended, and no question is answered once the service stops.
import type { Guest } from '@svc/model/guest';
import { type EntityQuestion, HistoryAnswers } from '../history/reader/history-answers.ts';
import type {
  AnswerToQuestion,
  HistoryAnswer,
  HistoryQuestion,
  HistoryReader,
} from '../history/reader/history-reader.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { SvcError } from '@svc/kit/svc-error';
import { pacedEntities } from './paced-entities.ts';

const QUESTIONS_MAX = 32;
const TIMEOUT_MS = 10_000;

export class ProcessHistory implements HistoryReader {
  readonly #answers: HistoryAnswers | undefined;
  /** Settles when the latest question has been answered; never rejects. */
  #latest: Promise<unknown> = Promise.resolve();
  /** Number of questions that wait or are being answered. */
  #waiting = 0;
  #isClosed = false;
  readonly #timeoutMs: number;
  /** Time limit of the answer in progress, on the clock of `performance.now()`. */
  #deadlineMs = 0;

  /**
   * `location`: undefined if the journal is in memory, which cannot be read beside the engine. `timeoutMs`: time
   * limit for one answer, in milliseconds.
   */
  constructor(guest: Guest, location: JournalLocation | undefined, timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
    if (location === undefined) return;
    const entities = pacedEntities(guest.entities, () => this.#check());
    this.#answers = new HistoryAnswers({
      location,
      descriptor: guest.descriptor,
      startGuest: () => ({ entities }),
    });
  }

  async ask<Question extends HistoryQuestion>(
    question: Question,
  ): Promise<AnswerToQuestion<Question>> {
    if (this.#isClosed) throw stopping();
    return (await this.#answer(question)) as AnswerToQuestion<Question>;
  }

  /** Ends the answer in progress and rejects the questions that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#latest;
  }

  async #answer(question: HistoryQuestion): Promise<HistoryAnswer> {
    // A program's faults have their source locations in their stacks.
    if (question.kind === 'locations')
      return { kind: 'locations', locations: question.faults.map(() => []) };
    if (this.#answers === undefined)
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        'The journal of this service is in memory: give it a dataFolder or a database to see its entities.',
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
    const answer = this.#latest.then(() => {
      if (this.#isClosed) throw stopping();
      this.#deadlineMs = performance.now() + this.#timeoutMs;
      return answers.answer(question);
    });
    this.#latest = answer.catch(() => {});
    try {
      return await answer;
    } finally {
      this.#waiting -= 1;
    }
  }

  #check(): void {
    if (this.#isClosed) throw stopping();
    if (performance.now() < this.#deadlineMs) return;
    throw new SvcError(
      'SVC_ANSWER_TIMED_OUT',
      `What was asked of the journal was not answered within ${this.#timeoutMs} ms. Ask for less.`,
    );
  }
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service is stopping.');
}
