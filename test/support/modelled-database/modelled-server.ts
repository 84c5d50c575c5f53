// ModelledServer is a model of the database of a journal: rows with versions, transactions, locks, commits that take their time, and the
// ends of a server. It knows the statements of the production code (known-statements.ts).
//
// Invariants
// - Commits become durable in one order. A server that ends keeps those that were durable, which are all that were answered, and of those
//   under way the first ones.
// - A statement that is carried out goes on when its client has gone, and is committed unless its transaction has others to come.
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type { Parameter, Row, Statement } from '../../../host/storage/postgres/database-session.ts';
import { SLICE_COUNT } from '../../../model/slice.ts';
import type { Random } from '../random.ts';
import type { VirtualNetwork } from '../virtual/virtual-network.ts';
import { type Clocks, VirtualProcess } from '../virtual/virtual-process.ts';
import type { VirtualTime } from '../virtual/virtual-time.ts';
import type { Backend } from './modelled-backend.ts';
import type { ModelledTransaction } from './modelled-transaction.ts';
import { ModelledTables } from './modelled-tables.ts';
import { RowLocks } from './row-locks.ts';
import { type DatabaseFlaws, StatementRun } from './statement-run.ts';
import { carryOutOf } from './known-statements.ts';

export const DATABASE = 'database';

/** How long a commit takes at least, and how much longer at most, in milliseconds. */
const COMMIT_MS = 0.2;
const COMMIT_MORE_MS = 1.5;
/** A lease that is ended has ended so long ago, in milliseconds. */
const EXPIRED_MS = 60_000;

export interface ServerOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: VirtualNetwork;
  readonly clocks: Clocks;
  readonly flaws?: DatabaseFlaws;
  /** Called after each commit. */
  readonly onCommit?: (transaction: ModelledTransaction) => void;
  /** Called with an error of the model itself. */
  readonly onBug?: (error: unknown) => void;
}

/** How the statements of a connection wait. */
export interface Waits {
  readonly lockTimeoutMs: number;
}

export class ModelledServer {
  readonly tables = new ModelledTables();
  readonly backends = new Set<Backend>();
  readonly network: VirtualNetwork;
  /** Pauses in which a transaction waits before its commit, in milliseconds; drawn for each. */
  stallMs: () => number = () => 0;
  /** Pauses in which a statement waits before it is carried out, in milliseconds; drawn for each. */
  lateMs: () => number = () => 0;
  /** Commits become durable so much later, in milliseconds. */
  slowMs = 0;
  readonly #options: ServerOptions;
  readonly #numbers = new Map<string, number>();
  #clocks: Clocks;
  #process: VirtualProcess;
  #locks: RowLocks;
  #commit = 0;
  #timeline = 1;
  #durableMs = 0;
  #pending: ModelledTransaction[] = [];
  #runs = 0;
  #endsSoon = false;
  readonly #onEnd: (() => void)[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.network = options.network;
    this.#clocks = options.clocks;
    this.#process = this.#newProcess();
    this.#locks = new RowLocks(this.#process);
    const { cluster, slices } = this.tables;
    cluster.put('only', { version: 0, history: '', takeoverFromMs: 0 }, 0, 0);
    for (let slice = 0; slice < SLICE_COUNT; slice++)
      slices.put(slice, { slice, owner: null, epoch: 0, head: 0, commits: 0 }, 0, 0);
  }

  get process(): VirtualProcess {
    return this.#process;
  }

  /** Whether it takes connections. */
  get isRunning(): boolean {
    return !this.#process.isDead;
  }

  /** Carries out a statement in a transaction. Rejects with DatabaseFailure. */
  async run(
    transaction: ModelledTransaction,
    { text }: Statement,
    values: readonly Parameter[],
    { lockTimeoutMs }: Waits,
  ): Promise<readonly Row[]> {
    this.#runs++;
    try {
      const run = new StatementRun({
        process: this.#process,
        tables: this.tables,
        locks: this.#locks,
        transaction,
        commit: this.#commit,
        lockTimeoutMs,
        history: `model/${this.#timeline}`,
        nextNumber: (sequence) => this.#nextNumber(sequence),
        flaws: this.#options.flaws ?? {},
      });
      return await carryOutOf(text)(run, values, text);
    } finally {
      this.#runs--;
    }
  }

  async commit(transaction: ModelledTransaction): Promise<void> {
    if (transaction.hasWritten) {
      await this.pause(this.stallMs());
      const { nowMs } = this.#process.time;
      const tookMs = COMMIT_MS + this.#process.drawMs(COMMIT_MORE_MS) + this.slowMs;
      this.#durableMs = Math.max(this.#durableMs, nowMs + tookMs);
      await new Promise<void>((done) => {
        this.#pending.push(transaction);
        if (this.#endsSoon) this.#process.arrives(0, () => this.crash());
        this.#process.arrives(this.#durableMs - nowMs, () => {
          this.#apply(transaction);
          done();
        });
      });
    }
    this.#locks.release(transaction);
  }

  rollBack(transaction: ModelledTransaction): void {
    this.#locks.release(transaction);
  }

  /** Calls a function once, when the server ends. */
  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  /** Ends the server while the next commit is under way. */
  crashAtCommit(): void {
    this.#endsSoon = true;
  }

  /** Ends the server at once. Nothing that it was doing goes on. */
  crash(): void {
    this.#endsSoon = false;
    const count = this.#options.random.below(this.#pending.length + 1);
    for (const transaction of this.#pending.slice(0, count)) this.#apply(transaction);
    this.#pending = [];
    this.#process.kill();
    for (const backend of this.backends) backend.vanish();
    this.backends.clear();
    for (const listener of this.#onEnd.splice(0)) listener();
  }

  /** Starts the server again after its end. */
  restart(): void {
    this.#process = this.#newProcess();
    this.#locks = new RowLocks(this.#process);
    this.#durableMs = 0;
    this.#runs = 0;
  }

  /** Starts a standby in the place of the server, which has another clock. */
  promote(clocks: Clocks): void {
    this.#timeline++;
    this.#clocks = clocks;
    this.restart();
  }

  /** Ends the lease of a node whose row nobody has locked. */
  expire(number: number): void {
    const { nodes } = this.tables;
    const row = nodes.newest(number);
    if (row === undefined || this.#locks.isLocked(`${nodes.name} ${number}`)) return;
    this.#commit++;
    nodes.put(number, { ...row, leaseUntilMs: this.#process.wallMs - EXPIRED_MS }, this.#commit, 0);
  }

  bug(error: unknown): void {
    this.#options.onBug?.(error);
  }

  #newProcess(): VirtualProcess {
    const { time, random, network } = this.#options;
    const process = new VirtualProcess(DATABASE, time, random, this.#clocks);
    network.add(process);
    return process;
  }

  #nextNumber(sequence: string): number {
    const number = (this.#numbers.get(sequence) ?? 0) + 1;
    this.#numbers.set(sequence, number);
    return number;
  }

  #apply(transaction: ModelledTransaction): void {
    this.#pending = this.#pending.filter((pending) => pending !== transaction);
    const oldest = this.#runs === 0 ? this.#commit : 0;
    this.#commit++;
    for (const { table, key, row } of transaction.writes())
      table.put(key, row, this.#commit, oldest);
    this.#options.onCommit?.(transaction);
  }

  /** Lets so many milliseconds pass. */
  async pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    await new Promise<void>((resolve) => {
      this.#process.arrives(ms, resolve);
    });
  }
}

/** The failure of a statement in a transaction that has failed before. */
export function failedBefore(): DatabaseFailure {
  return new DatabaseFailure('the server answered 25P02', {
    outcome: 'not-done',
    sqlState: '25P02',
  });
}
