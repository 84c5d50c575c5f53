// AnsweringSession is a connection whose server answers: it is closed when no answer has come for some time, because a network that
// lets nothing through would keep callers waiting for many minutes. What was sent is not cancelled by that; its outcome is unknown.
import type { DatabaseSession, Parameter, Row, Statement } from './database-session.ts';

/** For so long an answer is waited for, in milliseconds. */
const ANSWER_MS = 10_000;

export class AnsweringSession implements DatabaseSession {
  readonly #session: DatabaseSession;
  readonly #answerMs: number;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: DatabaseSession, answerMs = ANSWER_MS) {
    this.#session = session;
    this.#answerMs = answerMs;
  }

  get shown(): string {
    return this.#session.shown;
  }

  get ended(): Promise<void> {
    return this.#session.ended;
  }

  async query(statement: Statement, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    this.#waiting++;
    this.#timer ??= this.#timeout();
    try {
      return await this.#session.query(statement, values);
    } finally {
      this.#waiting--;
      clearTimeout(this.#timer);
      this.#timer = this.#waiting > 0 ? this.#timeout() : undefined;
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  abort(): void {
    this.#session.abort();
  }

  #timeout(): NodeJS.Timeout {
    return setTimeout(() => this.#session.abort(), this.#answerMs);
  }
}
