// LocatedFaults finds the source locations of the faults of spans, once for each fault, by asking the history reader.
// While a developer works on a module, a span may belong to a module that was served before, and then its locations
// are in that module's sources.
import type { SourceLocation } from '@svc/contract';
import { namedLocations, type RunHandler } from './named-locations.ts';
import type { RecordedFault, RecordedSpan } from '../shards/recorder/recorded-span.ts';
import type { HistoryReader } from '../history/reader/history-reader.ts';
import type { SourceFile } from '../hosting/guest-source.ts';

/** Time limit for locating faults, in milliseconds; the history reader may have other questions to answer first. */
const PATIENCE_MS = 2_000;
/** Number of modules whose faults can still be located. */
const MODULES_KEPT = 32;

export interface ServedSource extends SourceFile {
  /** When the source began to be served, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export type FaultySpan = RunHandler & Pick<RecordedSpan, 'startMs' | 'fault'>;

export class LocatedFaults {
  readonly #history: Pick<HistoryReader, 'ask'>;
  readonly #locations = new WeakMap<RecordedFault, readonly SourceLocation[]>();
  /** The question that was asked about a fault. A question that fails is removed, so that it can be asked again. */
  readonly #asked = new WeakMap<RecordedFault, Promise<void>>();
  readonly #patienceMs: number;
  /** Newest first. */
  #modules: readonly ServedSource[] = [];

  constructor(history: Pick<HistoryReader, 'ask'>, patienceMs = PATIENCE_MS) {
    this.#history = history;
    this.#patienceMs = patienceMs;
  }

  /** Notes the module that is served from now on. */
  served(module: ServedSource): void {
    this.#modules = [module, ...this.#modules].slice(0, MODULES_KEPT);
  }

  /** Returns the locations that `find` has found; an empty list if there are none. */
  locationsOf(fault: RecordedFault): SourceLocation[] {
    return [...(this.#locations.get(fault) ?? [])];
  }

  /** Locates the faults of the spans. Never rejects: a fault that cannot be located in time has no locations. */
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

  /** Whether the fault has data by which it may be located, and is not located yet. */
  #isOpen(fault: RecordedFault): boolean {
    const { frames, guestMessage } = fault;
    return (frames !== undefined || guestMessage !== undefined) && !this.#locations.has(fault);
  }

  async #ask(
    { kind, file, fingerprint }: ServedSource,
    spans: readonly FaultySpan[],
  ): Promise<void> {
    const faults = spans.map(({ fault }) => fault!);
    const asked = faults.map(({ frames, guestMessage }) => ({ frames, guestMessage }));
    try {
      const of = { kind, file, fingerprint };
      const answer = await this.#history.ask({ kind: 'locations', of, faults: asked });
      for (const [at, fault] of faults.entries())
        this.#locations.set(fault, namedLocations(answer.locations[at]!, spans[at]!));
    } catch {
      // The next request asks for these locations again.
      for (const fault of faults) this.#asked.delete(fault);
    }
  }
}
