// SliceUsers are the threads that write slices of this node, for the thread that keeps the membership: it asks them to let go of slices
// before another node gets them.
//
// Invariant: nobody is waited for without bound, and a thread that has ended is not waited for.
import type { MessagePort } from 'node:worker_threads';
import type { UserReport, UserRequest } from '../postgres-connection.ts';

/**
 * A thread that has not answered by then is passed over, in milliseconds. The fence keeps it from writing, and it answers from no state in
 * memory once the slices have another owner.
 */
const RELEASE_MS = 1_000;

interface SliceUser {
  readonly port: MessagePort;
  readonly first: number;
  readonly count: number;
  /** Called with the number of each release that is answered, and without one when the thread has ended. */
  onReleased: (number?: number) => void;
}

export class SliceUsers {
  readonly #users = new Set<SliceUser>();
  readonly #onReport: (report: UserReport) => void;
  #releases = 0;

  /** `onReport` receives the reports of all users, except those of releases. */
  constructor(onReport: (report: UserReport) => void) {
    this.#onReport = onReport;
  }

  /** Adds a user that writes these slices, until the port closes. */
  add(port: MessagePort, [first, count]: readonly [first: number, count: number]): void {
    const user: SliceUser = { port, first, count, onReleased: () => undefined };
    this.#users.add(user);
    port.unref();
    port.on('close', () => {
      this.#users.delete(user);
      user.onReleased();
    });
    port.on('message', (report: UserReport) => {
      if (report.kind === 'released') user.onReleased(report.number);
      else this.#onReport(report);
    });
  }

  /**
   * Asks the users of slices to let go of them, one call after the other, and resolves with a function that ends this: the slices have
   * another owner, or stay.
   */
  async release(slices: readonly number[]): Promise<() => void> {
    const number = ++this.#releases;
    const asked = [...this.#users].filter(({ first, count }) =>
      slices.some((slice) => slice >= first && slice < first + count),
    );
    const answers = asked.map(
      (user) =>
        new Promise<void>((resolve) => {
          user.onReleased = (answered = number) => {
            if (answered === number) resolve();
          };
        }),
    );
    for (const user of asked) send(user, { kind: 'release', number, slices });
    await within(Promise.all(answers), RELEASE_MS);
    return () => {
      for (const user of asked) send(user, { kind: 'release-ended', number });
    };
  }

  close(): void {
    for (const { port } of this.#users) port.close();
  }
}

/** Resolves as `work` does, or after `limitMs`. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, limitMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function send({ port }: SliceUser, request: UserRequest): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  port.postMessage(request);
}
