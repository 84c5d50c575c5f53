// The connections to one target. The target includes who the peer has to be: a pool never serves two identities.
//
// Invariants:
// - The idle connection that was used last is used first, so that the others grow old and are closed.
// - A connection is given to one request at a time, and never after it was retired.
import { ClientConnection, type ClientConnectionOptions } from './client-connection.ts';
import type { ClientFailure } from './client-failure.ts';
import type { ClientLimits, ClientTimes } from './client-limits.ts';
import type { Connect } from './connect.ts';
import { SocketInput } from './socket-input.ts';
import type { Sweep } from './sweep.ts';

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

export class Pool {
  readonly #options: PoolOptions;
  readonly #connectionOptions: ClientConnectionOptions;
  readonly #open = new Set<ClientConnection>();
  readonly #opening = new Set<() => void>();
  /** In the order in which they became idle. */
  readonly #idle: ClientConnection[] = [];
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

  /** Whether no connection is open or being opened. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#opening.size === 0;
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
    return this.#connect(taken);
  }

  /** Closes the idle connections, and the others after their current response. New ones can be taken. */
  retire(): void {
    this.#generation += 1;
    for (const connection of this.#open) connection.retire();
  }

  /** Retires all connections and cancels those that are being opened. */
  close(): void {
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

  #connect(taken: (outcome: Taken) => void): () => void {
    const generation = this.#generation;
    const input = new SocketInput();
    let isSettled = false;
    const cancelConnect = this.#options.connect(input.onread, (outcome) => {
      isSettled = true;
      this.#opening.delete(cancel);
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
      this.#opening.delete(cancel);
      cancelConnect();
    };
    if (!isSettled) this.#opening.add(cancel);
    return cancel;
  }

  #keep(connection: ClientConnection): void {
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
