// LeasesUnderTest are leases that a test gives to an engine, and takes from it, by the ids of entities.
import type { Leases } from '../../host/engine/needs/leases.ts';
import type { EntityRef } from '../../model/entity.ts';

export class LeasesUnderTest implements Leases {
  readonly #epochs = new Map<string, number>();
  #lastEpoch = 0;

  constructor(...ids: readonly string[]) {
    this.give(...ids);
  }

  epochOf({ id }: EntityRef): number | undefined {
    return this.#epochs.get(id);
  }

  /** Gives leases with new epochs. */
  give(...ids: readonly string[]): void {
    for (const id of ids) this.#epochs.set(id, ++this.#lastEpoch);
  }

  end(...ids: readonly string[]): void {
    for (const id of ids) this.#epochs.delete(id);
  }
}
