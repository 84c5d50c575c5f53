// CutConnections makes connections to a database that can be cut all at once, also those that are being made.
//
// Invariant: after `cut` no connection is open, and none is made.
import type { ConnectOptions } from './connect-database.ts';
import type { DatabaseSession } from './database-session.ts';

export class CutConnections {
  readonly #connect: (options: ConnectOptions) => Promise<DatabaseSession>;
  readonly #open = new Set<DatabaseSession>();
  readonly #cutting = new AbortController();

  /** `connect` rejects soon after the signal of its options was aborted. */
  constructor(connect: (options: ConnectOptions) => Promise<DatabaseSession>) {
    this.#connect = connect;
  }

  /** Makes a connection. Rejects as `connect` does. */
  async connect(options: ConnectOptions = {}): Promise<DatabaseSession> {
    const { signal } = this.#cutting;
    const session = await this.#connect({ ...options, signal });
    this.#open.add(session);
    void session.ended.then(() => this.#open.delete(session));
    if (signal.aborted) session.abort();
    return session;
  }

  cut(): void {
    this.#cutting.abort();
    for (const session of this.#open) session.abort();
  }
}
