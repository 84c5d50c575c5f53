// SteppedNode uses a database as a node and a user of the journal do, with the production code, one operation after the other. Its
// connection is stepped, so that operations of several nodes overlap at every statement.
import { storeGroup, recordCounts } from '../../../host/storage/postgres/append-statement.ts';
import { EntityReads } from '../../../host/storage/postgres/entity-reads.ts';
import { readCluster } from '../../../host/storage/postgres/nodes/cluster-rows.ts';
import { NodeMembership } from '../../../host/storage/postgres/nodes/node-membership.ts';
import { SliceTable } from '../../../host/storage/postgres/nodes/slice-table.ts';
import { SentSlices } from '../../../host/storage/postgres/sent-slices.ts';
import { type Claim, SliceClaims } from '../../../host/storage/postgres/slice-claims.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import type { EntityRef } from '../../../model/entity.ts';
import { sliceOf } from '../../../model/slice.ts';
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import { recordOf } from '../../suites/journal-suite.ts';
import type { SteppedSession } from './stepped-session.ts';

export const ENTITIES: readonly EntityRef[] = ['a', 'b', 'c', 'd'].map((id) => ({
  component: 'Cart',
  id,
}));
const SLICES = ENTITIES.map(({ component, id }) => sliceOf(component, id)).toSorted(
  (a, b) => a - b,
);

/** An operation, and numbers that decide its details. */
export interface Operation {
  readonly kind: (typeof OPERATIONS)[number];
  readonly numbers: readonly number[];
}

export const OPERATIONS = [
  'join',
  'serve',
  'renew',
  'look',
  'take',
  'hand over',
  'leave',
  'claim',
  'claim again',
  'append',
  'append',
  'append',
  'append late',
  'find',
  'read',
] as const;

export class SteppedNode {
  readonly session: SteppedSession;
  /** Whether an operation is carried out. */
  isBusy = false;
  readonly name: string;
  readonly #membership: NodeMembership;
  readonly #table = new SliceTable();
  readonly #claims: SliceClaims;
  readonly #types = new Set<string>();
  /** Claims that were valid once. */
  #late = new Map<number, Claim>();
  #number = 0;

  constructor(name: string, session: SteppedSession) {
    this.name = name;
    this.session = session;
    this.#membership = new NodeMembership(
      { uid: name, machine: 'here', version: '1', fingerprint: 'f', isExclusive: false },
      'database',
    );
    this.#claims = new SliceClaims({ slices: SLICES, table: this.#table, onLost: () => undefined });
  }

  /** The number of this node; 0: it has not joined. */
  get number(): number {
    return this.#number;
  }

  /** Begins an operation. `nodes`: the numbers of all nodes. */
  begin(operation: Operation, nodes: readonly number[]): void {
    this.isBusy = true;
    void this.#carriedOut(operation, nodes)
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseFailure || error instanceof SvcError)) throw error;
      })
      .finally(() => {
        this.isBusy = false;
      });
  }

  async #carriedOut({ kind, numbers }: Operation, nodes: readonly number[]): Promise<void> {
    const { session } = this;
    const [first = 0, second = 0] = numbers;
    switch (kind) {
      case 'join':
        if (this.#number === 0) await this.#join();
        return;
      case 'serve':
        return this.#membership.serve(session, { host: this.name, port: 1 + first });
      case 'renew':
        if ((await this.#membership.renew(session)) === undefined) this.#ended();
        return;
      case 'look':
        await readCluster(session, first % 2 === 0);
        return;
      case 'take':
        await this.#take(SLICES.filter((_, index) => ((first >> index) & 1) === 1));
        return;
      case 'hand over':
        await this.#handOver(SLICES[first % SLICES.length]!, nodes[second % nodes.length]!);
        return;
      case 'leave':
        await this.#membership.leave(session);
        this.#ended();
        return;
      case 'claim again':
        this.#claims.invalidate();
        await this.#claims.claim(session);
        return;
      case 'claim':
        await this.#claims.claim(session);
        return;
      case 'append':
      case 'append late':
        return this.#append(kind === 'append late', numbers);
      case 'find':
        await new SentSlices(this.#number, this.#late).find(session, { of: () => undefined });
        return;
      case 'read':
        await this.#read(first);
    }
  }

  async #join(): Promise<void> {
    const number = await this.#membership.join(this.session);
    if (number === undefined) return;
    this.#number = number;
    this.#table.join(number);
  }

  #ended(): void {
    this.#number = 0;
    this.#table.join(0);
  }

  async #take(slices: readonly number[]): Promise<void> {
    const taken = (await this.#membership.take(this.session, slices)) ?? [];
    this.#table.assign(taken.map(([slice]) => [slice, this.#number]));
  }

  async #handOver(slice: number, next: number): Promise<void> {
    this.#table.assign([[slice, 0]]);
    this.#table.assign(await this.#membership.handOver(this.session, [[slice, next]]));
  }

  async #append(isLate: boolean, numbers: readonly number[]): Promise<void> {
    const claims = new Map(
      SLICES.flatMap((slice) => {
        const claim = isLate ? this.#late.get(slice) : this.#claims.of(slice);
        return claim === undefined ? [] : [[slice, claim] as const];
      }),
    );
    if (!isLate) this.#late = new Map([...this.#late, ...claims]);
    const appends = ENTITIES.flatMap((entity, index) => {
      const drawn = numbers[index]!;
      const slice = sliceOf(entity.component, entity.id);
      if (!claims.has(slice) || drawn % 2 === 0) return [];
      // Slices have one entity each. One of some appends does not follow the last one.
      const seq = claims.get(slice)!.head + (drawn % 11 === 0 ? 2 : 1);
      const records = [recordOf(seq, `"${this.name} ${drawn}"`)];
      const reply =
        drawn % 3 === 0
          ? {
              key: `key ${drawn % 5}`,
              digest: 'd',
              timeMs: drawn,
              outcome: { kind: 'reply', json: '1' } as const,
              retentionMs: 1_000,
            }
          : undefined;
      return [{ entity, slice, records, reply }];
    });
    if (appends.length === 0) return;
    const slices = new SentSlices(this.#number, claims);
    const { held } = await storeGroup(this.session, appends, {
      module: undefined,
      slices,
      types: this.#types,
    });
    if (!isLate) this.#claims.advance(recordCounts(appends.filter(({ slice }) => held.has(slice))));
  }

  async #read(drawn: number): Promise<void> {
    const reads = new EntityReads({
      query: (statement, values) => this.session.query(statement, values),
    });
    const entity = ENTITIES[drawn % ENTITIES.length]!;
    if (drawn % 3 === 0) await reads.incarnation(entity, 1 + (drawn % 4), 'f');
    else await reads.read(entity, drawn % 2, 1 + (drawn % 3));
  }
}
