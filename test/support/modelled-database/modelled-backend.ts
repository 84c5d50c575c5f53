// Backend is the side of the server of one connection: it carries out one statement after the other, and has at most one transaction open.
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type { Parameter, Row, Statement } from '../../../host/storage/postgres/database-session.ts';
import { failedBefore, type ModelledServer } from './modelled-server.ts';
import { ModelledTransaction } from './modelled-transaction.ts';

export interface BackendNeeds {
  readonly server: ModelledServer;
  /** The connection is ended when a transaction waits so long for its next statement, in milliseconds. */
  readonly idleInTransactionMs: number;
  /** Called when the server has ended the connection. */
  readonly ended: () => void;
  /** Lets both sides lose the connection. */
  readonly reset: () => void;
}

export class Backend {
  readonly #needs: BackendNeeds;
  #transaction: ModelledTransaction | undefined;
  #hasFailed = false;
  #lockTimeoutMs = 0;
  /** The timeout that holds until the end of the transaction. */
  #localTimeoutMs: number | undefined;
  #isWorking = false;
  #isGone = false;
  #cancelIdle = (): void => undefined;

  constructor(needs: BackendNeeds) {
    this.#needs = needs;
    needs.server.backends.add(this);
  }

  /** Whether the connection has ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Carries out a statement. Rejects with DatabaseFailure. */
  async query(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    this.#cancelIdle();
    this.#isWorking = true;
    try {
      return await this.#carriedOut(statement, values);
    } finally {
      this.#isWorking = false;
      if (this.#isGone) this.#rollBack();
      else if (this.#transaction !== undefined) this.#waitForNext();
    }
  }

  /** The client has gone. A statement that is carried out goes on. */
  leave(): void {
    this.#isGone = true;
    this.#cancelIdle();
    this.#needs.server.backends.delete(this);
    if (!this.#isWorking) this.#rollBack();
  }

  /** The server ends the connection, between two statements. */
  terminate(): void {
    if (this.#isWorking || this.#isGone) return;
    this.leave();
    this.#needs.ended();
  }

  /** Lets both sides lose the connection. */
  reset(): void {
    this.#needs.reset();
  }

  /** The server has ended. */
  vanish(): void {
    this.#isGone = true;
    this.#needs.ended();
  }

  async #carriedOut(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    const { text } = statement;
    if (text.startsWith('BEGIN')) {
      this.#transaction = new ModelledTransaction();
      return [];
    }
    if (text === 'ROLLBACK' || (text === 'COMMIT' && this.#hasFailed)) {
      this.#rollBack();
      return [];
    }
    if (text === 'COMMIT') {
      const transaction = this.#transaction;
      if (transaction !== undefined) await this.#needs.server.commit(transaction);
      this.#end();
      return [];
    }
    if (this.#hasFailed) throw failedBefore();
    const [, local, ms] = /^SET (LOCAL )?lock_timeout = '(\d+)s'$/.exec(text) ?? [];
    if (ms !== undefined) {
      if (local === undefined) this.#lockTimeoutMs = Number(ms) * 1_000;
      else this.#localTimeoutMs = Number(ms) * 1_000;
      return [];
    }
    return this.#inTransaction(statement, values);
  }

  async #inTransaction(
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<readonly Row[]> {
    const { server } = this.#needs;
    const own = this.#transaction;
    const transaction = own ?? new ModelledTransaction();
    const waits = { lockTimeoutMs: this.#localTimeoutMs ?? this.#lockTimeoutMs };
    try {
      const rows = await server.run(transaction, statement, values, waits);
      if (own === undefined) await server.commit(transaction);
      return rows;
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error;
      if (own === undefined) server.rollBack(transaction);
      else this.#hasFailed = true;
      throw error;
    }
  }

  #rollBack(): void {
    if (this.#transaction !== undefined) this.#needs.server.rollBack(this.#transaction);
    this.#end();
  }

  #end(): void {
    this.#transaction = undefined;
    this.#hasFailed = false;
    this.#localTimeoutMs = undefined;
  }

  #waitForNext(): void {
    const { server, idleInTransactionMs } = this.#needs;
    this.#cancelIdle = server.process.timer(idleInTransactionMs, () => this.terminate());
  }
}
