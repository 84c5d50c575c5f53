// WorkLink carries work from one thread to another, such as firings of timers from a dispatcher to a shard, and the answers back,
// over a port of its own. What is sent in one turn of the event loop goes in one message, since a message costs as much as the work.
//
// Invariant: all work is answered. What the other end does not answer, because its port is closed or its code has failed, gets the
// answer `away`.
import type { MessagePort } from 'node:worker_threads';

/** Kinds of work, each with a link of its own. Tokens go the other way: the shard sends them, and the main thread verifies them. */
export const WORK_KINDS = ['firings', 'deliveries', 'tokens'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/**
 * Work that a shard begins in one turn of its event loop. With 64 deliveries in flight, 16 to 32 are the fastest: with all in one
 * turn the shard waits while the journal's writer stores them, with fewer each commit stores too little.
 */
const EXECUTED_PER_TURN = 24;

interface SentWork<Work> {
  readonly id: number;
  readonly work: Work;
}
interface SentAnswer<Answer> {
  readonly id: number;
  readonly answer: Answer;
}

/** The end of the link that sends work. */
export class WorkLink<Work, Answer> {
  readonly #port: MessagePort;
  readonly #away: Answer;
  readonly #sending: Batch<SentWork<Work>>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;
  #isClosed = false;

  /** `away`: the answer to work that the other end does not answer. */
  constructor(port: MessagePort, away: Answer) {
    this.#port = port;
    this.#away = away;
    this.#sending = new Batch(port);
    port.on('message', (answers: readonly SentAnswer<Answer>[]) => {
      for (const { id, answer } of answers) {
        this.#waiting.get(id)?.(answer);
        this.#waiting.delete(id);
      }
    });
    port.on('close', () => this.#closed());
  }

  /** Sends work, and resolves with its answer. Never rejects. */
  send(work: Work): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(this.#away);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#sending.add({ id, work });
    });
  }

  close(): void {
    this.#port.close();
    this.#closed();
  }

  #closed(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve(this.#away);
    this.#waiting.clear();
  }
}

/**
 * The other end: executes what arrives, a few in each turn of the event loop. What they append is stored while the next ones are
 * executed, and requests get their turn in between. `away`: makes the answer to work whose execution rejects, of the failure.
 */
export function serveWork<Work, Answer>(
  port: MessagePort,
  execute: (work: Work) => Promise<Answer>,
  away: (failure: unknown) => Answer,
): void {
  const answered = new Batch<SentAnswer<Answer>>(port);
  let waiting: SentWork<Work>[] = [];
  const executeSome = (): void => {
    const some = waiting.slice(0, EXECUTED_PER_TURN);
    waiting = waiting.slice(EXECUTED_PER_TURN);
    if (waiting.length > 0) setImmediate(executeSome);
    for (const { id, work } of some)
      void execute(work)
        .catch(away)
        .then((answer) => answered.add({ id, answer }));
  };
  port.on('message', (sent: readonly SentWork<Work>[]) => {
    const isExecuting = waiting.length > 0;
    waiting = waiting.concat(sent);
    if (!isExecuting) executeSome();
  });
}

/** Sends what was added in one turn of the event loop as one message. */
class Batch<T> {
  readonly #port: MessagePort;
  #items: T[] = [];
  readonly #send = (): void => {
    const items = this.#items;
    this.#items = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(items);
  };

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(item: T): void {
    if (this.#items.length === 0) setImmediate(this.#send);
    this.#items.push(item);
  }
}
