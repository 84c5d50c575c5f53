// JournalWatch looks at each commit of the modelled database, and complains about what no order of commits may show: a slice that is
// written by a node that does not own it, a number that is missing or used twice, and an epoch that was given twice.
import type { Deed } from '../../support/modelled-database/modelled-transaction.ts';
import type { ModelledTables } from '../../support/modelled-database/modelled-tables.ts';

export class JournalWatch {
  readonly complaints: string[] = [];
  /** How often something was appended, and a slice was claimed. */
  readonly counts = { append: 0, claim: 0 };
  /** By slice: the last epoch that was claimed, and the head. */
  readonly #epochs = new Map<number, number>();
  readonly #heads = new Map<number, number>();

  /** Called after a commit. */
  committed(deeds: readonly Deed[], { slices, journal }: ModelledTables): void {
    for (const deed of deeds) {
      const { kind, slice, node, epoch } = deed;
      this.counts[kind]++;
      const row = slices.newest(slice)!;
      if (row.owner !== node) this.#complain(deed, `belongs to node ${String(row.owner)}`);
      if (kind === 'claim') {
        const before = this.#epochs.get(slice) ?? 0;
        if (epoch <= before) this.#complain(deed, `had epoch ${before} before`);
        this.#epochs.set(slice, epoch);
        continue;
      }
      if (row.epoch !== epoch) this.#complain(deed, `has epoch ${row.epoch}`);
      const head = (this.#heads.get(slice) ?? 0) + deed.records;
      if (row.head !== head) this.#complain(deed, `has head ${row.head} after record ${head}`);
      if (deed.records > 0 && journal.newest(`${slice}/${head}`) === undefined)
        this.#complain(deed, `lacks record ${head}`);
      this.#heads.set(slice, head);
    }
  }

  #complain({ kind, slice, node, epoch }: Deed, what: string): void {
    this.complaints.push(`slice ${slice}, ${kind} of node ${node} in epoch ${epoch}: it ${what}`);
  }
}
