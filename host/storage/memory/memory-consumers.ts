// MemoryConsumers holds the positions and lanes of consumers for a journal in memory.
import type {
  ConsumerReader,
  ConsumerSettlement,
  StoredConsumer,
  StoredLane,
} from '../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';

interface Entry {
  readonly consumer: StoredConsumer;
  /** Indexed by entity (`keyOf`). */
  readonly lanes: Map<string, StoredLane>;
}

export class MemoryConsumers implements ConsumerReader {
  readonly #entries = new Map<string, Entry>();

  consumer(id: string): StoredConsumer | undefined {
    return this.#entries.get(id)?.consumer;
  }

  lanes(consumer: string, limit: number, after?: EntityRef): readonly StoredLane[] {
    const lanes = this.#entries.get(consumer)?.lanes ?? new Map<string, StoredLane>();
    const afterKey = after === undefined ? '' : keyOf(after);
    return [...lanes.keys()]
      .filter((key) => key > afterKey)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map((key) => lanes.get(key)!);
  }

  /** Returns all consumers with all of their lanes. */
  all(): readonly { readonly consumer: StoredConsumer; readonly lanes: readonly StoredLane[] }[] {
    return Array.from(this.#entries.values(), ({ consumer }) => ({
      consumer,
      lanes: this.lanes(consumer.id, Infinity),
    }));
  }

  /** Returns the lane of an entity; undefined if there is none. */
  lane(consumer: string, entity: EntityRef): StoredLane | undefined {
    return this.#entries.get(consumer)?.lanes.get(keyOf(entity));
  }

  settle(
    { id, start }: Pick<StoredConsumer, 'id' | 'start'>,
    { position, lanes: changed, rejoined }: ConsumerSettlement,
  ): void {
    const lanes = this.#entries.get(id)?.lanes ?? new Map<string, StoredLane>();
    for (const entity of rejoined) lanes.delete(keyOf(entity));
    for (const lane of changed) lanes.set(keyOf(lane.entity), lane);
    this.#entries.set(id, { consumer: { id, start, position }, lanes });
  }
}

function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}
