// SnapshotQueue holds the snapshots that wait for the connection that writes. Of an entity only the last one waits.
//
// Invariants
// - The states that wait have at most WAITING_UNITS_MAX UTF-16 units. Those that came first are dropped: a snapshot only saves time.
// - An entity keeps the snapshots of two modules: the one that writes, and the one that wrote before it. While one version of a
//   module replaces another, neither throws out the other's.
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { Snapshot } from '../../engine/needs/journal.ts';
import type { DatabaseSession } from './database-session.ts';
import { snapshotChecksum } from './entity-reads.ts';

const WAITING_UNITS_MAX = 8 * 1024 * 1024;
/** Units that a snapshot counts beside its state. */
const SNAPSHOT_UNITS = 300;

const STORE = {
  name: 'store-snapshots',
  text: `WITH given AS (
    SELECT * FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::int8[])
      AS g(slice, component, id, fingerprint, seq, state, crc)
  ), stored AS (
    INSERT INTO svc.snapshot (slice, component, id, fingerprint, seq, state, crc, stored_ms)
    SELECT g.*, (extract(epoch FROM clock_timestamp()) * 1000)::int8 FROM given g
    ON CONFLICT (slice, component, id, fingerprint) DO UPDATE SET seq = excluded.seq,
      state = excluded.state, crc = excluded.crc, stored_ms = excluded.stored_ms
    WHERE excluded.seq > snapshot.seq
  )
  DELETE FROM svc.snapshot s USING given g
  WHERE s.slice = g.slice AND s.component = g.component AND s.id = g.id AND s.fingerprint <> g.fingerprint
    AND s.stored_ms < (
      SELECT max(o.stored_ms) FROM svc.snapshot o
      WHERE o.slice = g.slice AND o.component = g.component AND o.id = g.id
        AND o.fingerprint <> g.fingerprint
    )`,
};

interface WaitingSnapshot {
  readonly entity: EntityRef;
  readonly snapshot: Snapshot;
}

export class SnapshotQueue {
  readonly #waiting = new Map<string, WaitingSnapshot>();
  #units = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(entity: EntityRef, snapshot: Snapshot): void {
    const name = `${entity.component}\n${entity.id}`;
    this.#drop(name);
    this.#waiting.set(name, { entity, snapshot });
    this.#units += unitsOf(snapshot);
    for (const first of this.#waiting.keys()) {
      if (this.#units <= WAITING_UNITS_MAX) break;
      this.#drop(first);
    }
  }

  clear(): void {
    this.#waiting.clear();
    this.#units = 0;
  }

  #drop(name: string): void {
    const dropped = this.#waiting.get(name);
    if (dropped === undefined) return;
    this.#units -= unitsOf(dropped.snapshot);
    this.#waiting.delete(name);
  }

  /** Stores what waits. Rejects with DatabaseFailure; then the snapshots are lost. */
  async store(session: DatabaseSession): Promise<void> {
    const all = [...this.#waiting.values()];
    this.clear();
    if (all.length === 0) return;
    await session.query(STORE, [
      all.map(({ entity }) => sliceOf(entity.component, entity.id)),
      all.map(({ entity }) => entity.component),
      all.map(({ entity }) => entity.id),
      all.map(({ snapshot }) => snapshot.fingerprint),
      all.map(({ snapshot }) => snapshot.seq),
      all.map(({ snapshot }) => snapshot.state),
      all.map(({ entity, snapshot: { fingerprint, seq, state } }) =>
        snapshotChecksum(entity, fingerprint, seq, state),
      ),
    ]);
  }
}

function unitsOf({ state }: Snapshot): number {
  return SNAPSHOT_UNITS + state.length;
}
