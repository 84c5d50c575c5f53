// SpanWindow: it holds the spans of the shards, asks them no more often than necessary, and names shards that did not
// answer.
import { describe, expect, test } from 'vitest';
import { SvcError } from '../../../../kit/svc-error.ts';
import type { RecordedSpan } from '../../../../host/shards/recorder/recorded-span.ts';
import { SpanWindow } from '../../../../host/introspection/observability/span-window.ts';

const span = (shard: number, number: number, handler = 'get'): RecordedSpan => ({
  number,
  shard,
  kind: 'query',
  component: 'cart',
  handler,
  entityId: 'c1',
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentId: undefined,
  traceState: undefined,
  isSampled: true,
  startMs: number,
  durationMs: 1,
  outcome: 'Ok',
  fuel: 0,
  events: 0,
  status: undefined,
  fault: undefined,
});

/** Shards that keep `count` spans each. */
class Shards {
  readonly asked: (readonly [shard: number, after: number])[] = [];
  readonly #kept: number;
  readonly #shards: { threadId: number; spans: RecordedSpan[]; isSilent: boolean }[];
  /** Called before a shard answers. */
  wait: Promise<void> = Promise.resolve();
  #threads = 0;

  constructor(count: number, kept = 100) {
    this.#kept = kept;
    this.#shards = Array.from({ length: count }, () => this.#begun());
  }

  get shards(): number {
    return this.#shards.length;
  }

  record(shard: number, count: number, handler?: string): void {
    const { spans } = this.#shards[shard]!;
    for (let left = count; left > 0; left--) spans.push(span(shard, spans.length + 1, handler));
  }

  restart(shard: number): void {
    this.#shards[shard] = this.#begun();
  }

  silence(shard: number, isSilent = true): void {
    this.#shards[shard]!.isSilent = isSilent;
  }

  readonly pull = async (shard: number, after: number, limit: number) => {
    this.asked.push([shard, after]);
    await this.wait;
    const { threadId, spans, isSilent } = this.#shards[shard]!;
    if (isSilent) throw new SvcError('SVC_ANSWER_TIMED_OUT', 'It computes.');
    const kept = spans.slice(-this.#kept).filter(({ number }) => number > after);
    return { spans: kept.slice(0, limit), recorded: spans.length, threadId };
  };

  #begun() {
    return { threadId: ++this.#threads, spans: [], isSilent: false };
  }
}

const numbersOf = ({ spans }: { readonly spans: readonly RecordedSpan[] }) =>
  spans.map(({ shard, number }) => `${shard}:${number}`);

describe('the window', () => {
  test('holds the spans of all shards, and asks each for those since', async () => {
    const shards = new Shards(2);
    const window = new SpanWindow(shards, 100);
    shards.record(0, 2);
    shards.record(1, 1);
    expect(numbersOf(await window.latest())).toEqual(['0:1', '0:2', '1:1']);
    shards.record(1, 1);
    expect(numbersOf(await window.latest())).toEqual(['0:1', '0:2', '1:1', '1:2']);
    expect(shards.asked).toEqual([
      [0, 0],
      [1, 0],
      [0, 2],
      [1, 1],
    ]);
  });

  test('is the same view while nothing is new', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    shards.record(0, 1);
    const view = await window.latest();
    expect(await window.latest()).toBe(view);
    shards.record(0, 1);
    expect(await window.latest()).not.toBe(view);
  });

  test('has what a ring can hold, in messages of a bounded size', async () => {
    const shards = new Shards(1, 5_000);
    const window = new SpanWindow(shards, 5_000);
    shards.record(0, 7_000);
    const { spans } = await window.latest();
    expect([spans.length, spans[0]?.number, spans.at(-1)?.number]).toEqual([5_000, 2_001, 7_000]);
    expect(shards.asked.length).toBe(3);
  });

  test('keeps as many of one shard as of several, where that one has all of the load', async () => {
    const shards = new Shards(2);
    const window = new SpanWindow(shards, 6);
    shards.record(1, 2);
    shards.record(0, 50);
    expect(numbersOf(await window.latest())).toEqual([45, 46, 47, 48, 49, 50].map((n) => `0:${n}`));
  });

  test('keeps of all shards those that ended last', async () => {
    const shards = new Shards(2);
    const window = new SpanWindow(shards, 6);
    for (let round = 0; round < 3; round++) {
      shards.record(0, 2);
      shards.record(1, 1);
      await window.latest();
    }
    expect(numbersOf(await window.latest())).toEqual(['0:3', '0:4', '0:5', '0:6', '1:2', '1:3']);
  });

  test('continues with a shard that was started again, and keeps the spans of the one before', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    shards.record(0, 3, 'before');
    await window.latest();
    shards.restart(0);
    // As many spans as before, and more: their numbers alone would not show that the thread is another one.
    shards.record(0, 4, 'after');
    const { spans } = await window.latest();
    expect(spans.map(({ number, handler }) => `${handler} ${number}`)).toEqual([
      'before 1',
      'before 2',
      'before 3',
      'after 1',
      'after 2',
      'after 3',
      'after 4',
    ]);
    expect(numbersOf(await window.latest()).length).toBe(7);
  });

  test('misses nothing of a shard that was started again and looked at before it had done anything', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    shards.record(0, 3, 'before');
    await window.latest();
    shards.restart(0);
    await window.latest();
    shards.record(0, 2, 'after');
    const { spans } = await window.latest();
    expect(spans.map(({ number, handler }) => `${handler} ${number}`).slice(3)).toEqual([
      'after 1',
      'after 2',
    ]);
  });
});

describe('a silent shard', () => {
  test('is named, costs no other, and what was known of it stays', async () => {
    const shards = new Shards(2);
    const window = new SpanWindow(shards, 100);
    shards.record(0, 1);
    shards.record(1, 1);
    expect((await window.latest()).silentShards).toEqual([]);
    shards.silence(1);
    shards.record(0, 1);
    shards.record(1, 1);
    const view = await window.latest();
    expect([numbersOf(view), view.silentShards]).toEqual([['0:1', '0:2', '1:1'], [1]]);
    shards.silence(1, false);
    const later = await window.latest();
    expect([numbersOf(later), later.silentShards]).toEqual([['0:1', '0:2', '1:1', '1:2'], []]);
  });

  test('is no excuse for what should not be', async () => {
    const window = new SpanWindow(
      {
        shards: 1,
        pull: async () => Promise.reject(new TypeError('a bug')),
      },
      1,
    );
    await expect(window.latest()).rejects.toThrow('a bug');
    await expect(window.latest()).rejects.toThrow('a bug');
  });
});

describe('several who ask at once', () => {
  test('share one pull', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    await Promise.all([window.latest(), window.latest(), window.latest(), window.latest()]);
    // One pull for the first request, and one that began afterwards for all requests meanwhile.
    expect(shards.asked.length).toBe(2);
  });

  test('beside one that fails are answered, and so is who asks later', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    const { pull } = shards;
    Object.assign(shards, {
      pull: async () => {
        Object.assign(shards, { pull });
        throw new Error('a bug');
      },
    });
    shards.record(0, 1);
    const [first, second] = await Promise.allSettled([window.latest(), window.latest()]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
    expect((await window.latest()).spans.length).toBe(1);
  });

  test('see what had ended when they asked', async () => {
    const shards = new Shards(1);
    const window = new SpanWindow(shards, 100);
    const answer = Promise.withResolvers<void>();
    const pull = shards.pull;
    let hasLooked = false;
    Object.assign(shards, {
      pull: async (...asked: Parameters<typeof pull>) => {
        const pulled = await pull(...asked);
        if (!hasLooked) {
          hasLooked = true;
          await answer.promise;
        }
        return pulled;
      },
    });
    const early = window.latest();
    await Promise.resolve();
    shards.record(0, 1);
    const late = window.latest();
    answer.resolve();
    expect((await early).spans.length).toBe(0);
    expect((await late).spans.length).toBe(1);
  });
});
