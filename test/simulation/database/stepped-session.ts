// SteppedSession is a connection whose statements go out one by one, when a test says so, and which notes what each is answered.
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type {
  DatabaseSession,
  Parameter,
  Row,
  Statement,
} from '../../../host/storage/postgres/database-session.ts';

interface Waiting {
  readonly statement: Statement;
  readonly values: readonly Parameter[];
  readonly settle: PromiseWithResolvers<readonly Row[]>;
}

export class SteppedSession implements DatabaseSession {
  readonly shown: string;
  readonly ended: Promise<void>;
  /** What the statement that went out last was answered; undefined: nothing yet. */
  answer: string | undefined;
  readonly #inner: DatabaseSession;
  #waiting: Waiting | undefined;
  #isSent = false;

  constructor(inner: DatabaseSession) {
    this.#inner = inner;
    this.shown = inner.shown;
    this.ended = inner.ended;
  }

  /** Whether a statement waits for being sent. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Whether a statement was sent that is not answered. */
  get isSent(): boolean {
    return this.#isSent;
  }

  query(statement: Statement, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    const settle = Promise.withResolvers<readonly Row[]>();
    this.#waiting = { statement: withLongTimes(statement), values, settle };
    return settle.promise;
  }

  /** Sends the statement that waits. */
  send(): void {
    const { statement, values, settle } = this.#waiting!;
    this.#waiting = undefined;
    this.#isSent = true;
    this.answer = undefined;
    void this.#inner.query(statement, values).then(
      (rows) => {
        this.#answered(answerText(statement, rows));
        settle.resolve(rows);
      },
      (error: unknown) => {
        const state = error instanceof DatabaseFailure ? error.sqlState : undefined;
        this.#answered(state ?? String(error));
        settle.reject(error);
      },
    );
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  abort(): void {
    this.#inner.abort();
  }

  #answered(answer: string): void {
    this.#isSent = false;
    this.answer = answer;
  }
}

/** Lets leases and waits for locks last longer than any history, since a real one takes longer on a machine that is busy. */
function withLongTimes(statement: Statement): Statement {
  const text = statement.text
    .replaceAll(/lock_timeout = '\d+s'/g, "lock_timeout = '600s'")
    .replaceAll(/interval '\d+ milliseconds'/g, "interval '600000 milliseconds'");
  return { ...statement, text };
}

/** Returns what a statement was answered, without what depends on the time and on the server, and without the order of its rows. */
function answerText({ text }: Statement, rows: readonly Row[]): string {
  return rows
    .map((row) => JSON.stringify(comparable(text, row)))
    .toSorted()
    .join(' ');
}

function comparable(text: string, row: Row): unknown {
  if (text.includes('FROM pg_control_system()')) return ['a server'];
  if (text.startsWith('SELECT history')) return [row[0] !== '', row[1] !== 0];
  if (text.startsWith('WITH renewed')) return [...row.slice(0, 3), isPositive(row[3])];
  if (text.startsWith('SELECT n.machine')) return withoutTime(row, 1);
  if (text.startsWith('SELECT DISTINCT ON')) return withoutTime(row, 2);
  if (!text.startsWith('SELECT c.version')) return row;
  const [version, pauseMs, nodes, ...slices] = row as readonly [
    number,
    number,
    string | null,
    ...(readonly number[])[],
  ];
  const shown = (JSON.parse(nodes ?? '[]') as Record<string, unknown>[]).map(
    ({ joined_ms: _joined, lease_left_ms: left, ...node }) => [
      ...Object.entries(node).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      isPositive(left),
    ],
  );
  return [version, pauseMs !== 0, shown, ...slices.map(present)];
}

/** Returns the row with whether a time is left instead of how long. */
function withoutTime(row: Row, column: number): readonly unknown[] {
  return row.map((value, index) => (index === column ? isPositive(value) : value));
}

/** Returns the numbers that are not 0, each with its index. */
function present(numbers: readonly number[]): readonly (readonly [number, number])[] {
  return [...numbers.entries()].filter(([, number]) => number !== 0);
}

/** Returns whether a time is left; null: there is none. */
function isPositive(ms: unknown): boolean | null {
  return ms === null ? null : (ms as number) > 0;
}
