// EventBodies: the bodies of events, which are stored once with what has caused them. Those that are sent next are kept in memory.
//
// Invariant: at most `bytesMax` bytes are kept; the body that was read first gives way.
import type { About } from '../model/delivery-state.ts';
import { dataset } from '../model/dataset.ts';
import { notice } from '../model/notice.ts';
import type { Segment } from '../segments/segments.ts';

export class EventBodies {
  readonly #bytesMax: number;
  /** By segment and event: an event whose dataset was forgotten has its id again in a later segment. */
  readonly #byEvent = new Map<string, string>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Keeps a body that was just made. */
  keep(segment: number, eventId: string, body: string): void {
    const key = keyOf(segment, eventId);
    if (this.#byEvent.has(key)) return;
    this.#byEvent.set(key, body);
    this.#bytes += body.length;
    for (const [oldest, { length }] of this.#byEvent) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#byEvent.delete(oldest);
      this.#bytes -= length;
    }
  }

  /** Returns the body of a delivery's event. */
  async read(
    { number, service }: Segment,
    { eventId, source }: Pick<About, 'eventId' | 'source'>,
  ): Promise<string> {
    const kept = this.#byEvent.get(keyOf(number, eventId));
    if (kept !== undefined) return kept;
    const { entity, id, seq } = source;
    const events =
      entity === 'dataset'
        ? await service.readEvents(dataset, id, seq - 1, 1)
        : await service.readEvents(notice, id, seq - 1, 1);
    const event = events[0]?.event;
    const stored = event !== undefined && 'event' in event ? event.event : undefined;
    if (stored?.id !== eventId)
      throw new Error(`the event ${eventId} is not where its deliveries say`);
    this.keep(number, eventId, stored.body);
    return stored.body;
  }
}

function keyOf(segment: number, eventId: string): string {
  return `${segment}/${eventId}`;
}
