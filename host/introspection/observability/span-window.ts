// SpanWindow: the latest spans of all shards, on the main thread. They are asked for when somebody looks, and only those
// since the last time. Invariants:
// - One pull goes on at a time. Who asks meanwhile shares the next one, which begins afterwards: what had ended when
//   somebody asked is in what that one sees.
// - Of all shards no more spans are kept than the window holds: those that ended last (newest-spans.ts).
// - A shard that does not answer costs its own news, and is named; what was known of it before stays.
import { SvcError } from '@svc/kit/svc-error';
import { newestCounts } from './newest-spans.ts';
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** Of one message. */
const PULLED_SPANS = 2_000;

export interface PulledSpans {
  readonly spans: readonly RecordedSpan[];
  /** Spans of the shard since its thread began. */
  readonly recorded: number;
  /** Of the thread that counted them: another one counts from the beginning. */
  readonly threadId: number;
}

export interface SpanSource {
  readonly shards: number;
  /** Those with `number > after`, oldest first. Rejects with SvcError when the shard does not answer. */
  pull(shard: number, after: number, limit: number): Promise<PulledSpans>;
}

/** It does not change; what is new makes another. */
export interface SpanView {
  /** By shard, and of each oldest first. */
  readonly spans: readonly RecordedSpan[];
  readonly silentShards: readonly number[];
}

interface Known {
  /** Oldest first. */
  spans: readonly RecordedSpan[];
  /** Of the last one, among those of its thread. */
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

  /** `capacity`: of all shards together. */
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

  async latest(): Promise<SpanView> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#begin();
    const begin = async () => {
      this.#next = undefined;
      return this.#begin();
    };
    // Also when that one fails, which whoever asked for it is told.
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

  /** Says whether anything has changed. */
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

  /** Those after the last one that is known. */
  async #fresh(shard: number, known: Known): Promise<RecordedSpan[]> {
    const pull = async (after: number) => this.#source.pull(shard, after, PULLED_SPANS);
    let { number } = known;
    let { spans, recorded, threadId } = await pull(number);
    if (threadId !== known.threadId && number > 0) {
      // Also where there is no span of it yet.
      number = 0;
      ({ spans, recorded, threadId } = await pull(0));
    }
    // What is recorded meanwhile is for the next time: a busy shard would never be done.
    const fresh: RecordedSpan[] = [];
    while (spans.length > 0) {
      fresh.push(...spans);
      ({ number } = spans.at(-1)!);
      if (number >= recorded) break;
      const next = await pull(number);
      if (next.threadId !== threadId) break;
      ({ spans } = next);
    }
    // Not before: what was pulled so far is lost when the shard falls silent.
    Object.assign(known, { number, threadId });
    return fresh;
  }
}

function endMsOf({ startMs, durationMs }: RecordedSpan): number {
  return startMs + durationMs;
}
