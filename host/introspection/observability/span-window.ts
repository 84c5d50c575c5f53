// SpanWindow holds the latest spans of all shards on the main thread. When they are requested, it pulls the spans
// since the last time. Invariants:
// - One pull runs at a time. Requests meanwhile share the next pull, which begins afterwards, so that its view has
//   every span that had ended when they were made.
// - SpanWindow keeps at most `capacity` spans: the spans of all shards that ended last (newest-spans.ts).
// - If a shard does not answer, its new spans are missing and the view names it; its earlier spans stay.
import { SvcError } from '@svc/kit/svc-error';
import { newestCounts } from './newest-spans.ts';
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** Maximum number of spans per message. */
const PULLED_SPANS = 2_000;

export interface PulledSpans {
  readonly spans: readonly RecordedSpan[];
  /** Number of spans of the shard since its thread began. */
  readonly recorded: number;
  /** Id of the thread that numbers the spans. A thread that replaces it numbers them from 1 again. */
  readonly threadId: number;
}

export interface SpanSource {
  readonly shards: number;
  /** Returns the spans with `number > after`, oldest first. Rejects with an SvcError if the shard does not answer. */
  pull(shard: number, after: number, limit: number): Promise<PulledSpans>;
}

/** A view is immutable; new spans, and shards that begin or cease to be silent, make another view. */
export interface SpanView {
  /** Grouped by shard, and oldest first for each shard. */
  readonly spans: readonly RecordedSpan[];
  /** Indexes of the shards that did not answer. */
  readonly silentShards: readonly number[];
}

/** The spans that were pulled from one shard, and the position of the next pull. */
interface Known {
  /** Oldest first. */
  spans: readonly RecordedSpan[];
  /** Number of the last span that was pulled; 0 if there is none. */
  number: number;
  threadId: number;
  isSilent: boolean;
}

export class SpanWindow {
  readonly #source: SpanSource;
  readonly #capacity: number;
  readonly #known: readonly Known[];
  #view: SpanView = { spans: [], silentShards: [] };
  #running: Promise<SpanView> | undefined;
  #next: Promise<SpanView> | undefined;

  /** `capacity`: number of spans of all shards together. */
  constructor(source: SpanSource, capacity: number) {
    this.#source = source;
    this.#capacity = capacity;
    this.#known = Array.from({ length: source.shards }, () => ({
      spans: [],
      number: 0,
      threadId: 0,
      isSilent: false,
    }));
  }

  /** Pulls the new spans, and resolves with the view that includes them; with the same view if nothing has changed. */
  async latest(): Promise<SpanView> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#begin();
    const begin = async () => {
      this.#next = undefined;
      return this.#begin();
    };
    // The next pull begins even if this one fails; its callers receive the failure.
    this.#next = this.#running.then(begin, begin);
    return this.#next;
  }

  async #begin(): Promise<SpanView> {
    this.#running = this.#pulled().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #pulled(): Promise<SpanView> {
    const changed = await Promise.all(this.#known.map((known, shard) => this.#pull(shard, known)));
    if (changed.some(Boolean)) {
      this.#dropOldest();
      this.#view = {
        spans: this.#known.flatMap(({ spans }) => spans),
        silentShards: this.#known.flatMap(({ isSilent }, shard) => (isSilent ? [shard] : [])),
      };
    }
    return this.#view;
  }

  #dropOldest(): void {
    const shards = this.#known.map(({ spans }) => ({
      kept: spans.length,
      endMs: (age: number) => endMsOf(spans[spans.length - 1 - age]!),
    }));
    for (const [shard, count] of newestCounts(shards, this.#capacity).entries()) {
      const known = this.#known[shard]!;
      known.spans = known.spans.slice(known.spans.length - count);
    }
  }

  /** Pulls the new spans of a shard. Returns whether anything has changed. */
  async #pull(shard: number, known: Known): Promise<boolean> {
    const wasSilent = known.isSilent;
    try {
      const fresh = await this.#fresh(shard, known);
      known.isSilent = false;
      if (fresh.length > 0) known.spans = [...known.spans, ...fresh].slice(-this.#capacity);
      return wasSilent || fresh.length > 0;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      known.isSilent = true;
      return !wasSilent;
    }
  }

  /** Returns the spans after the last known one. */
  async #fresh(shard: number, known: Known): Promise<RecordedSpan[]> {
    const pull = async (after: number) => this.#source.pull(shard, after, PULLED_SPANS);
    let { number } = known;
    let { spans, recorded, threadId } = await pull(number);
    if (threadId !== known.threadId && number > 0) {
      // A new thread numbers its spans from 1, so the position in the former thread's spans has no meaning.
      number = 0;
      ({ spans, recorded, threadId } = await pull(0));
    }
    // Spans that are recorded during the pull are left for the next one, because a busy shard would never be done.
    const fresh: RecordedSpan[] = [];
    while (spans.length > 0) {
      fresh.push(...spans);
      ({ number } = spans.at(-1)!);
      if (number >= recorded) break;
      const next = await pull(number);
      if (next.threadId !== threadId) break;
      ({ spans } = next);
    }
    // The position is set last: if the shard stops answering, the spans pulled so far are discarded.
    Object.assign(known, { number, threadId });
    return fresh;
  }
}

function endMsOf({ startMs, durationMs }: RecordedSpan): number {
  return startMs + durationMs;
}
