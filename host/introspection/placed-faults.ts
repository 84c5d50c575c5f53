// PlacedFaults: where in the sources the faults of spans were, found by the thread that looks into the past, once each.
// While a developer works on a module, a span may be of one that was served before: its places are in that one's
// sources.
import type { SourcePlace } from '@svc/contract';
import { namedPlaces, type RunHandler } from './named-places.ts';
import type { RecordedFault, RecordedSpan } from '../shards/recorder/recorded-span.ts';
import type { HistoryReader } from '../history/reader/history-reader.ts';
import type { SourceFile } from '../hosting/guest-source.ts';

/** The thread may have more to do than places. */
const PATIENCE_MS = 2_000;
/** Modules whose places are still looked for. */
const MODULES_KEPT = 32;

export interface ServedSource extends SourceFile {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
}

export type FaultySpan = RunHandler & Pick<RecordedSpan, 'startMs' | 'fault'>;

export class PlacedFaults {
  readonly #history: Pick<HistoryReader, 'ask'>;
  readonly #places = new WeakMap<RecordedFault, readonly SourcePlace[]>();
  /** Those that were asked for, until that has failed. */
  readonly #asked = new WeakMap<RecordedFault, Promise<void>>();
  readonly #patienceMs: number;
  /** Newest first. */
  #modules: readonly ServedSource[] = [];

  constructor(history: Pick<HistoryReader, 'ask'>, patienceMs = PATIENCE_MS) {
    this.#history = history;
    this.#patienceMs = patienceMs;
  }

  served(module: ServedSource): void {
    this.#modules = [module, ...this.#modules].slice(0, MODULES_KEPT);
  }

  /** Empty: they are not known. */
  placesOf(fault: RecordedFault): SourcePlace[] {
    return [...(this.#places.get(fault) ?? [])];
  }

  /** Never rejects: a fault is told without its place when that cannot be found in time. */
  async find(spans: readonly FaultySpan[]): Promise<void> {
    const open = spans.filter(({ fault }) => fault !== undefined && this.#isOpen(fault));
    const fresh = open.filter(({ fault }) => !this.#asked.has(fault!));
    const byModule = Map.groupBy(fresh, ({ startMs }) =>
      this.#modules.find(({ sinceMs }) => startMs >= sinceMs),
    );
    for (const [module, of] of byModule) {
      if (module === undefined) continue;
      const asked = this.#ask(module, of);
      for (const { fault } of of) this.#asked.set(fault!, asked);
    }
    if (open.length === 0) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.#patienceMs);
    const all = Promise.all(open.map(async ({ fault }) => this.#asked.get(fault!)));
    await Promise.race([all, late.promise]);
    clearTimeout(timer);
  }

  #isOpen(fault: RecordedFault): boolean {
    const { frames, guestMessage } = fault;
    return (frames !== undefined || guestMessage !== undefined) && !this.#places.has(fault);
  }

  async #ask(
    { kind, file, fingerprint }: ServedSource,
    spans: readonly FaultySpan[],
  ): Promise<void> {
    const faults = spans.map(({ fault }) => fault!);
    const asked = faults.map(({ frames, guestMessage }) => ({ frames, guestMessage }));
    try {
      const of = { kind, file, fingerprint };
      const answer = await this.#history.ask({ kind: 'places', of, faults: asked });
      for (const [at, fault] of faults.entries())
        this.#places.set(fault, namedPlaces(answer.places[at]!, spans[at]!));
    } catch {
      // It is asked for again with the next look.
      for (const fault of faults) this.#asked.delete(fault);
    }
  }
}
