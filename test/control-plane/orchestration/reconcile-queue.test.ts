// The queue with a clock that the test moves: order, one worker for each service, pauses, bounds and the end.
import { describe, expect, test } from 'vitest';
import type { ServiceKey } from '@svc/client';
import {
  ReconcileQueue,
  type WorkOutcome,
} from '../../../control-plane/orchestration/reconcile-queue.ts';
import { VirtualClock } from '../../../host/testing.ts';

const keyOf = (service: string): ServiceKey => ({ project: 'web', service });
const CART = keyOf('cart');

class QueueUnderTest {
  readonly clock = new VirtualClock();
  readonly begun: { readonly service: string; readonly atMs: number }[] = [];
  readonly failures: string[] = [];
  working = 0;
  workingMax = 0;
  /** How long the work takes, and its outcome. */
  workMs = 0;
  outcome: WorkOutcome | 'failed' = 'settled';
  readonly queue: ReconcileQueue;

  constructor(section: Partial<ConstructorParameters<typeof ReconcileQueue>[0]['section']> = {}) {
    this.queue = new ReconcileQueue({
      clock: this.clock,
      section: {
        reconcileWorkers: 16,
        backoffMinMs: 100,
        backoffMaxMs: 60_000,
        ...section,
      },
      work: (key, stopping) => this.#work(key, stopping),
      onFailure: (key) => this.failures.push(key.service),
    });
  }

  /** When the work on a service began. */
  times(service = 'cart'): number[] {
    return this.begun.filter((one) => one.service === service).map(({ atMs }) => atMs);
  }

  async #work({ service }: ServiceKey, stopping: AbortSignal): Promise<WorkOutcome> {
    this.begun.push({ service, atMs: this.clock.monotonicMs() });
    this.workingMax = Math.max(this.workingMax, ++this.working);
    if (this.workMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.clock.after(this.workMs, resolve);
      stopping.addEventListener('abort', () => resolve());
      await promise;
    }
    this.working--;
    if (this.outcome === 'failed') throw new Error('it failed');
    return this.outcome;
  }
}

describe('work', () => {
  test('is done at once for a service that is marked, and not again without a mark', async () => {
    const under = new QueueUnderTest();
    under.queue.mark(CART, 'desired');
    await under.clock.advance(3_600_000);
    expect(under.times()).toEqual([0]);
    expect(under.queue.size).toBe(0);
    expect(under.clock.waiting).toBe(0);
  });

  test('is done once more for any number of marks while it is under way', async () => {
    const under = new QueueUnderTest();
    under.workMs = 1000;
    under.queue.mark(CART, 'desired');
    await under.clock.advance(500);
    for (let marks = 0; marks < 10; marks++) under.queue.mark(CART, 'desired');
    await under.clock.advance(10_000);
    expect(under.times()).toEqual([0, 1000]);
    expect(under.workingMax).toBe(1);
  });

  test('is done for sixteen services at the same time, in the order of their marks', async () => {
    const under = new QueueUnderTest();
    under.workMs = 1000;
    const names = Array.from({ length: 40 }, (_, n) => `s${n}`);
    for (const name of names) under.queue.mark(keyOf(name), 'desired');
    await under.clock.advance(10_000);
    expect(under.workingMax).toBe(16);
    expect(under.begun.map(({ service }) => service)).toEqual(names);
    expect(under.times('s39')).toEqual([2000]);
  });
});

describe('a service that fails', () => {
  test('is tried again after 0.1 s, and after twice as long each time up to 60 s', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'failed';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(300_000);
    const times = under.times();
    const pauses = times.slice(1).map((atMs, n) => atMs - times[n]!);
    expect(pauses.slice(0, 12)).toEqual([
      100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000,
    ]);
    expect(under.failures).toHaveLength(times.length);
  });

  test('delays no other one', async () => {
    const under = new QueueUnderTest({ reconcileWorkers: 1 });
    under.outcome = 'failed';
    for (let n = 0; n < 100; n++) under.queue.mark(keyOf(`broken${n}`), 'desired');
    await under.clock.advance(1000);
    under.outcome = 'settled';
    const atMs = under.clock.monotonicMs();
    under.queue.mark(CART, 'desired');
    await under.clock.advance(1000);
    expect(under.times()).toEqual([atMs]);
  });

  test('begins with the shortest pause again after a success', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'failed';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(800);
    under.outcome = 'settled';
    await under.clock.advance(10_000);
    expect(under.times()).toEqual([0, 100, 300, 700, 1500]);
    under.outcome = 'failed';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(150);
    expect(under.times().slice(5)).toEqual([10_800, 10_900]);
  });

  test('is tried at once when something else is desired, and not for reports of the orchestrator', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'failed';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(50_000);
    const before = under.times().length;
    under.queue.mark(CART, 'observed');
    await under.clock.advance(100);
    expect(under.times()).toHaveLength(before);
    under.queue.mark(CART, 'desired');
    expect(under.times()).toHaveLength(before + 1);
    await under.clock.advance(100);
    expect(under.times()).toHaveLength(before + 2);
  });
});

describe('a service that is not settled', () => {
  test('is looked at again after growing pauses, and sooner when the orchestrator reports it', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'unsettled';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(1600);
    expect(under.times()).toEqual([0, 100, 300, 700, 1500]);
    under.queue.mark(CART, 'observed');
    await under.clock.advance(100);
    expect(under.times().slice(5)).toEqual([1600]);
  });

  test('is looked at soon when a report came during the work', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'unsettled';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(10_000);
    under.workMs = 1000;
    await under.clock.until(() => under.working === 1);
    const begun = under.times().length;
    under.queue.mark(CART, 'observed');
    await under.clock.until(() => under.working === 0);
    const endedMs = under.clock.monotonicMs();
    await under.clock.until(() => under.times().length > begun);
    expect(under.clock.monotonicMs() - endedMs).toBeLessThanOrEqual(120);
  });

  test('is looked at ten times a second at most, and once in a second at least, while reports do not end', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'unsettled';
    under.queue.mark(CART, 'desired');
    await reportUntil(under, 6000);
    expect(pausesOf(under)).toEqual([100, 200, 400, 800, 1000, 1000, 1000, 1000]);
  });
});

describe('a service that is settled', () => {
  test('is looked at less and less often while each look is followed by a report', async () => {
    const under = new QueueUnderTest();
    under.queue.mark(CART, 'desired');
    await reportUntil(under, 6400);
    expect(pausesOf(under)).toEqual([100, 200, 400, 800, 1600, 3200]);
    await under.clock.advance(20_000);
    expect(under.queue.size).toBe(0);
    const atMs = under.clock.monotonicMs();
    under.queue.mark(CART, 'observed');
    under.queue.mark(CART, 'desired');
    await under.clock.advance(1000);
    expect(under.times().at(-1)).toBe(atMs);
  });
});

/** Reports a change of the service in each millisecond. */
async function reportUntil({ queue, clock }: QueueUnderTest, ms: number): Promise<void> {
  while (clock.monotonicMs() < ms) {
    queue.mark(CART, 'observed');
    // oxlint-disable-next-line no-await-in-loop -- a report in each millisecond
    await clock.advance(1);
  }
}

function pausesOf(under: QueueUnderTest): number[] {
  const times = under.times();
  return times.slice(1).map((atMs, n) => atMs - times[n]!);
}

describe('a queue that stops', () => {
  test('aborts the work under way, waits for its end, and starts nothing more', async () => {
    const under = new QueueUnderTest({ reconcileWorkers: 1 });
    under.workMs = 1_000_000;
    under.queue.mark(CART, 'desired');
    under.queue.mark(keyOf('shop'), 'desired');
    await under.clock.advance(10);
    await under.queue.stop(5000);
    expect(under.working).toBe(0);
    under.queue.mark(CART, 'desired');
    await under.clock.advance(1_000_000);
    expect(under.begun).toHaveLength(1);
    expect(under.failures).toEqual([]);
  });

  test('waits no longer than the grace for work that does not end', async () => {
    const clock = new VirtualClock();
    const queue = new ReconcileQueue({
      clock,
      section: { reconcileWorkers: 1, backoffMinMs: 1, backoffMaxMs: 1 },
      work: () => new Promise(() => {}),
      onFailure: () => {},
    });
    queue.mark(CART, 'desired');
    let isStopped = false;
    const stopping = queue.stop(5000).then(() => (isStopped = true));
    await clock.advance(4999);
    expect(isStopped).toBe(false);
    await clock.advance(1);
    await stopping;
    expect(isStopped).toBe(true);
    await queue.stop(5000);
  });

  test('ends at once if nothing is under way', async () => {
    const under = new QueueUnderTest();
    under.outcome = 'failed';
    under.queue.mark(CART, 'desired');
    await under.clock.advance(10);
    await under.queue.stop(5000);
    expect(under.clock.waiting).toBe(0);
  });
});
