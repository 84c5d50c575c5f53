// The connections to one target. The target includes who the peer has to be: a pool never serves two identities.
//
// Invariants:
// - The idle connection that was used last is used first, so that the others grow old and are closed.
// - A connection is given to one request at a time, and never after it was retired.
// - At most `openingMax` connections are being opened for requests that would use an idle one. Handshakes of many requests that come at the
//   same time would keep one another, and the answers, from the processor. The others wait, in their order, for whichever comes first.
import { ClientConnection, type ClientConnectionOptions } from './client-connection.ts';
import type { ClientFailure } from './client-failure.ts';
import type { ClientLimits, ClientTimes } from './client-limits.ts';
import type { Connect } from './connect.ts';
import { SocketInput } from './socket-input.ts';
import type { Sweep, Swept } from './sweep.ts';

export interface PoolOptions {
  readonly connect: Connect;
  readonly limits: ClientLimits;
  readonly times: ClientTimes;
  readonly sweep: Sweep;
}

export interface Taking {
  /** Opens a new connection even if another one is idle. */
  readonly fresh?: boolean;
  /** Uses an idle connection only if its last response ended at most this long ago. */
  readonly idleMsMax?: number;
}

export type Taken =
  | { readonly connection: ClientConnection }
  | { readonly connection: undefined; readonly failure: ClientFailure };

/** A request that waits for a connection. */
interface Waiting extends Swept {
  readonly taken: (outcome: Taken) => void;
  cancel: () => void;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #connectionOptions: ClientConnectionOptions;
  readonly #open = new Set<ClientConnection>();
  readonly #opening = new Set<() => void>();
  /** In the order in which they became idle. */
  readonly #idle: ClientConnection[] = [];
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  /** Connections that were opened before this changed are not used again. */
  #generation = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { limits, times, sweep } = options;
    this.#connectionOptions = {
      limits,
      times,
      sweep,
      onIdle: (connection) => this.#keep(connection),
      onClosed: (connection) => this.#drop(connection),
    };
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Whether no connection is open, being opened or waited for. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#opening.size === 0 && this.#waiting.size === 0;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  /**
   * Gives a connection, at once if one is idle. It has to be used in the turn in which it is given. Returns the function
   * that cancels: `taken` is then not called.
   */
  take(taking: Taking, taken: (outcome: Taken) => void): () => void {
    const idle = taking.fresh === true ? undefined : this.#lastUsed(taking.idleMsMax ?? Infinity);
    if (idle !== undefined) {
      taken({ connection: idle });
      return () => undefined;
    }
    const { openingMax } = this.#options.limits;
    const isWaiting = taking.fresh !== true && this.#opening.size >= openingMax;
    return isWaiting ? this.#wait(taken) : this.#connect(taken);
  }

  /** Closes the idle connections, and the others after their current response. New ones can be taken. */
  retire(): void {
    this.#generation += 1;
    for (const connection of this.#open) connection.retire();
  }

  /** Retires all connections, and cancels those that are being opened or waited for. */
  close(): void {
    for (const waiting of this.#waiting) this.#forget(waiting);
    for (const cancel of this.#opening) cancel();
    this.#opening.clear();
    this.retire();
  }

  #lastUsed(idleMsMax: number): ClientConnection | undefined {
    for (let last = this.#idle.at(-1); last !== undefined; last = this.#idle.at(-1)) {
      // All others have been idle for longer.
      if (last.isUsable && last.idleMs() > idleMsMax) return undefined;
      this.#idle.pop();
      if (last.isUsable) return last;
    }
    return undefined;
  }

  #wait(taken: (outcome: Taken) => void): () => void {
    const { sweep, times } = this.#options;
    const waiting: Waiting = {
      taken,
      cancel: () => this.#forget(waiting),
      deadlineMs: sweep.now() + times.connectMs,
      onDeadline: () => {
        this.#forget(waiting);
        taken({ connection: undefined, failure: { kind: 'connect-timeout' } });
      },
    };
    this.#waiting.add(waiting);
    sweep.add(waiting);
    return () => waiting.cancel();
  }

  #forget(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#options.sweep.remove(waiting);
  }

  /** Returns the request that has waited longest, which waits no longer. */
  #nextWaiting(): Waiting | undefined {
    const [next] = this.#waiting;
    if (next !== undefined) this.#forget(next);
    return next;
  }

  /** Opens connections for requests that wait, as many as may be opened. */
  #openForWaiting(): void {
    while (this.#opening.size < this.#options.limits.openingMax) {
      const next = this.#nextWaiting();
      if (next === undefined) return;
      next.cancel = this.#connect(next.taken);
    }
  }

  #connect(taken: (outcome: Taken) => void): () => void {
    const generation = this.#generation;
    const input = new SocketInput();
    let isSettled = false;
    const cancelConnect = this.#options.connect(input.onread, (outcome) => {
      isSettled = true;
      this.#opening.delete(cancel);
      this.#openForWaiting();
      if (outcome.socket === undefined) {
        taken({ connection: undefined, failure: outcome.failure });
        return;
      }
      const connection = new ClientConnection(
        outcome.socket,
        this.#connectionOptions,
        input,
        outcome.transport,
      );
      if (!connection.isUsable) {
        taken({ connection: undefined, failure: EARLY_BYTES });
        return;
      }
      this.#open.add(connection);
      taken({ connection });
      if (generation !== this.#generation) connection.retire();
    });
    const cancel = (): void => {
      if (isSettled) return;
      isSettled = true;
      this.#opening.delete(cancel);
      cancelConnect();
      this.#openForWaiting();
    };
    if (!isSettled) this.#opening.add(cancel);
    return cancel;
  }

  #keep(connection: ClientConnection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) {
      next.taken({ connection });
      return;
    }
    this.#idle.push(connection);
    if (this.#idle.length > this.#options.limits.idleMax) this.#idle.shift()!.retire();
  }

  #drop(connection: ClientConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

/** The peer sent bytes, or left, before it was asked anything. */
const EARLY_BYTES: ClientFailure = { kind: 'closed-before-response', isUnsent: true };
