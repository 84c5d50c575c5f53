// FiringLink carries firings from the dispatcher's thread to a shard, and their outcomes back, over a port of their own.
//
// Invariant: every firing is answered. One that the shard does not answer, because its port is closed, is `unavailable`.
import type { MessagePort } from 'node:worker_threads';
import type { Firing } from '../timers/firing.ts';

/** The outcome of a firing, as the dispatcher needs it, and the reason of one that was unavailable, for the log. */
export interface FiringAnswer {
  readonly outcome: 'settled' | 'gone' | 'unavailable';
  readonly reason?: string | undefined;
}

interface SentFiring {
  readonly id: number;
  readonly firing: Firing;
}
interface SentAnswer {
  readonly id: number;
  readonly answer: FiringAnswer;
}

const AWAY: FiringAnswer = { outcome: 'unavailable' };

/** The dispatcher's end of the link. */
export class FiringLink {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: FiringAnswer) => void>();
  #lastId = 0;
  #isClosed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ id, answer }: SentAnswer) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
    port.on('close', () => this.#closed());
  }

  /** Sends a firing, and resolves with its answer. Never rejects. */
  fire(firing: Firing): Promise<FiringAnswer> {
    if (this.#isClosed) return Promise.resolve(AWAY);
    const id = ++this.#lastId;
    const sent: SentFiring = { id, firing };
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
      this.#port.postMessage(sent);
    });
  }

  close(): void {
    this.#port.close();
    this.#closed();
  }

  #closed(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve(AWAY);
    this.#waiting.clear();
  }
}

/** The shard's end: executes what arrives with `fire`, which never rejects. */
export function serveFirings(
  port: MessagePort,
  fire: (firing: Firing) => Promise<FiringAnswer>,
): void {
  port.on('message', ({ id, firing }: SentFiring) => {
    void fire(firing).then((answer) => {
      const sent: SentAnswer = { id, answer };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
      port.postMessage(sent);
    });
  });
}
