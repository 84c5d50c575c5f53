// CallOutcome: the outcome of the last command or query of an entity, and the expectations about it.
import { deletesEntity } from '@svc/host/tools';
import type { Effect, Refusal, Reply, StoredEvent, TimerChange } from '@svc/host/tools';
import { jsonValue, parsed } from './json-value.ts';
import { type StackStart, TestFailure, expectEqual, shown } from './test-failure.ts';

/** The refusal that a test expects. An absent field may have any value. */
export interface ExpectedRefusal {
  /** A code such as `CONFLICT`, or the module's own code. */
  readonly code?: string;
  /** The whole message, or a regular expression that matches it. */
  readonly message?: string | RegExp;
  /** The details as a JSON value. */
  readonly details?: unknown;
}

export class CallOutcome {
  readonly #kind: 'command' | 'query';
  readonly #heading: string;
  readonly #answer: Effect | Reply | Refusal;
  readonly #logged: string;

  constructor(
    kind: 'command' | 'query',
    heading: string,
    answer: Effect | Reply | Refusal,
    logged: string,
  ) {
    this.#kind = kind;
    this.#heading = heading;
    this.#answer = answer;
    this.#logged = logged;
  }

  /** Returns the beginning of a message. `what`: the rest of its sentence, about the command or query. */
  message(what: string): string {
    return `${this.#heading}\nThe ${this.#kind} ${what}.${this.#logged}`;
  }

  /** Fails unless there is a reply. */
  succeeded(stackStart: StackStart): this {
    if (this.#answer.kind !== 'refusal') return this;
    throw new TestFailure(this.message(`was refused: ${wordsOf(this.#answer)}`), stackStart);
  }

  /** Returns the events of a command; none if it was refused. */
  events(stackStart: StackStart): readonly StoredEvent[] {
    if (this.#kind === 'query')
      throw new TestFailure(this.message('persists nothing: expect its reply'), stackStart);
    return this.#answer.kind === 'effect' ? this.#answer.events : [];
  }

  /** Returns the changes of timers that a command made; none if it was refused. */
  timers(stackStart: StackStart): readonly TimerChange[] {
    if (this.#kind === 'query')
      throw new TestFailure(this.message('changes no timers: expect its reply'), stackStart);
    return this.#answer.kind === 'effect' ? (this.#answer.timers ?? []) : [];
  }

  get reply(): unknown {
    if (this.#answer.kind === 'reply') return parsed(this.#answer.json);
    return this.#answer.kind === 'effect' ? parsed(this.#answer.reply ?? 'null') : undefined;
  }

  get deletes(): boolean {
    return this.#answer.kind === 'effect' && deletesEntity(this.#answer);
  }

  expectRefusal(expected: string | ExpectedRefusal, stackStart: StackStart): void {
    const answer = this.#answer;
    if (answer.kind !== 'refusal')
      throw new TestFailure(
        this.message(`was not refused: it replied ${shown(JSON.stringify(this.reply))}`),
        stackStart,
      );
    const wanted = typeof expected === 'string' ? { code: expected } : expected;
    const { code, message, details } = wanted;
    const found: Record<string, unknown> = {};
    const compared: Record<string, unknown> = {};
    if (code !== undefined) [found['code'], compared['code']] = [codeOf(answer), code];
    if (message !== undefined) {
      const fits = message instanceof RegExp && message.test(answer.message);
      found['message'] = answer.message;
      compared['message'] = fits ? answer.message : message;
    }
    if (details !== undefined) {
      found['details'] = answer.details === undefined ? undefined : parsed(answer.details);
      compared['details'] = jsonValue(details);
    }
    const what = `was refused otherwise than expected: ${wordsOf(answer)}`;
    expectEqual(found, compared, this.message(what), stackStart);
  }
}

function codeOf({ code, otherCode }: Refusal): string {
  return code === 'OTHER' ? (otherCode ?? code) : code;
}

function wordsOf(refusal: Refusal): string {
  return `${codeOf(refusal)} '${shown(refusal.message)}'`;
}
