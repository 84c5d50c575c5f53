// TwoNodes are two nodes that write one journal, for the tests of a file: `a` owns the slices of two entities, and reaches the
// database through a proxy; `b` owns nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { SvcError } from '../../../kit/svc-error.ts';
import type { EntityRef } from '../../../model/entity.ts';
import { sliceOf } from '../../../model/slice.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import { HeldCommits } from './held-commits.ts';
import { JournalDatabase } from './journal-database.ts';
import { JournalNode, move } from './journal-node.ts';
import type { PostgresVersion } from './postgres-programs.ts';
import { PostgresServer } from './postgres-server.ts';

export const one: EntityRef = { component: 'Cart', id: 'one' };
export const two: EntityRef = { component: 'Cart', id: 'two' };
export const ONE = sliceOf('Cart', 'one');
export const TWO = sliceOf('Cart', 'two');
export const LONG_MS = 60_000;

/** Returns the code of the failure of an append; undefined: it is stored. */
export async function code(outcome: Promise<SvcError | undefined>): Promise<string | undefined> {
  return (await outcome)?.code;
}

export class TwoNodes {
  journals!: JournalDatabase;
  held!: HeldCommits;
  proxy!: TcpFaultProxy;
  a!: JournalNode;
  b!: JournalNode;

  /** Makes them for each of the tests that are described with them. `a` has stored one record of the first entity. */
  constructor(version: PostgresVersion) {
    beforeAll(async () => {
      const server = await PostgresServer.shared(version);
      this.journals = await JournalDatabase.make(server);
      this.held = await HeldCommits.of(server, this.journals);
      this.proxy = await TcpFaultProxy.to(server.port);
    });
    afterAll(async () => {
      await this.proxy.close();
      await this.held.close();
      await this.journals.database.end();
    });
    beforeEach(async () => {
      await this.journals.empty();
      const source = this.journals.through(this.proxy);
      this.a = new JournalNode(this.journals, 101, { source, uncertainMs: LONG_MS });
      this.b = new JournalNode(this.journals, 102);
      await this.move([ONE, TWO], this.a, [this.a, this.b]);
      // oxlint-disable-next-line vitest/no-standalone-expect -- it is called within beforeEach
      expect(await append(this.a.journal, one, recordOf(1))).toBeUndefined();
    });
    afterEach(async () => {
      await this.held.release();
      this.proxy.accept();
      await Promise.all([this.a.journal.close(), this.b.journal.close()]);
    });
  }

  /** Gives slices to a node in the database, and then in the tables of these nodes. */
  move(
    slices: readonly number[],
    to: JournalNode,
    knownTo: readonly JournalNode[] = [to],
  ): Promise<void> {
    return move(this.journals, slices, to, knownTo);
  }

  epochOf(slice: number): Promise<number> {
    return this.journals.number(`SELECT epoch FROM svc.slice WHERE slice = ${slice}`);
  }
}
