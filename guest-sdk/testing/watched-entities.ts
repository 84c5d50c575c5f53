// WatchedEntities forwards to a guest's entities, for the engine of a test. It notes which entities are in memory, so
// that their states can be compared with their events at the end of the test.
import type { EntityRef, Guest, GuestEntities, GuestEntity } from '@svc/host/tools';
import { atOnce } from './synchronous.ts';

export class WatchedEntities implements GuestEntities {
  readonly #inner: GuestEntities;
  readonly #opened = new Map<string, { readonly ref: EntityRef; readonly entity: GuestEntity }>();

  constructor({ entities }: Pick<Guest, 'entities'>) {
    this.#inner = entities;
  }

  open(ref: EntityRef, snapshot: string | undefined, alone?: boolean): GuestEntity {
    const entity = atOnce(this.#inner.open(ref, snapshot, alone));
    const key = `${ref.component}\n${ref.id}`;
    this.#opened.set(key, { ref, entity });
    const close = entity.close.bind(entity);
    entity.close = () => {
      if (this.#opened.get(key)?.entity === entity) this.#opened.delete(key);
      close();
    };
    return entity;
  }

  /** Returns the entities in memory that no fault has lost, each with its state as JSON text. */
  states(): readonly { readonly ref: EntityRef; readonly state: string }[] {
    return [...this.#opened.values()]
      .filter(({ entity }) => !entity.lost)
      .map(({ ref, entity }) => ({ ref, state: atOnce(entity.snapshot()) }));
  }
}
