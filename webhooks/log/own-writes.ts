// OwnWrites: after which positions a tenant reads the log, so that it sees what it has changed itself. It does not wait for the views of
// what others do.
//
// Invariant: at most `WRITES_MAX` positions are kept; the oldest one gives way.
import type { Segment } from '../segments/segments.ts';

/** Views are milliseconds behind, so that far fewer matter. */
const WRITES_MAX = 1_000;

export class OwnWrites {
  /** By segment and tenant, the oldest first. */
  readonly #positions = new Map<string, string>();

  /** Notes that what was written in the segment until now concerns the tenant. */
  add(tenant: string, { number, service }: Segment): void {
    const key = keyOf(tenant, number);
    this.#positions.delete(key);
    this.#positions.set(key, service.position());
    if (this.#positions.size <= WRITES_MAX) return;
    const [oldest] = this.#positions.keys();
    this.#positions.delete(oldest!);
  }

  /** Returns the position of the tenant's last write in the segment; undefined: it may read any rows. */
  of(tenant: string, { number }: Segment): string | undefined {
    return this.#positions.get(keyOf(tenant, number));
  }
}

function keyOf(tenant: string, segment: number): string {
  return `${segment}/${tenant}`;
}
