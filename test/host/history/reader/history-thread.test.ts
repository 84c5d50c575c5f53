// HistoryThread: it exists while questions are asked, is ended when it does not answer, and keeps nothing else
// waiting.
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  HistoryThread,
  type HistoryThreadOptions,
} from '../../../../host/history/reader/history-thread.ts';

const file = new URL('../../../support/acting-past.ts', import.meta.url);

function pastThread(options: Partial<HistoryThreadOptions> = {}) {
  let started = 0;
  const past = new HistoryThread({
    file,
    env: {},
    work: () => ({ start: ++started }) as never,
    ...options,
  });
  onTestFinished(async () => past.close());
  const ask = async (id: string) =>
    past.ask({ kind: 'history', component: 'cart', id, from: 1, limit: 1 }).then(
      ({ page }) => page as unknown as { readonly workerData: { readonly start: number } },
      (error: unknown) => error as Error & { readonly code: string },
    );
  return { past, ask, started: () => started };
}

/** Time limit for questions from here on; starting a thread takes additional time. */
const ownTime = () =>
  void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
afterEach(() => void vi.useRealTimers());

const startOf = (answer: Awaited<ReturnType<ReturnType<typeof pastThread>['ask']>>) =>
  'workerData' in answer ? answer.workerData.start : answer;

describe('a question', () => {
  test('starts the thread, and the next one finds it', async () => {
    const { ask, started } = pastThread();
    expect(started()).toBe(0);
    expect(startOf(await ask('c1'))).toBe(1);
    expect(startOf(await ask('c2'))).toBe(1);
  });

  test('that fails rejects with the reason, and the thread answers the next one', async () => {
    const { ask, started } = pastThread();
    expect(await ask('fail')).toMatchObject({
      code: 'SVC_NOT_IN_JOURNAL',
      message: 'It is not there.',
    });
    expect(startOf(await ask('c1'))).toBe(1);
    expect(started()).toBe(1);
  });

  test('that takes too long ends the thread, and those that wait are answered by another', async () => {
    const { ask } = pastThread({ timeoutMs: 500 });
    ownTime();
    const asked = Promise.all([ask('spin'), ask('c1')]);
    await vi.advanceTimersByTimeAsync(500);
    const [late, next] = await asked;
    expect(late).toMatchObject({
      code: 'SVC_ANSWER_TIMED_OUT',
      message: expect.stringContaining('500 ms'),
    });
    expect(startOf(next)).toBe(2);
  });

  test('that takes too much memory ends the thread, and nothing else', async () => {
    const { ask } = pastThread({ memoryMib: 24 });
    expect(await ask('hog')).toMatchObject({
      code: 'SVC_OVERLOADED',
      message: expect.stringContaining('24 MiB'),
    });
    expect(startOf(await ask('c1'))).toBe(2);
  });

  test('that meets a bug fails with it', async () => {
    const { ask } = pastThread();
    expect(await ask('bug')).toMatchObject({ message: 'a bug' });
    expect(startOf(await ask('c1'))).toBe(2);
  });

  test('that too many wait before is refused', async () => {
    const { ask } = pastThread();
    const waiting = [ask('slow'), ...Array.from({ length: 32 }, async () => ask('c1'))];
    expect(await ask('c2')).toMatchObject({ code: 'SVC_OVERLOADED' });
    expect(new Set((await Promise.all(waiting)).map(startOf))).toEqual(new Set([1]));
  });

  test('that has waited for two that took too long is rejected', async () => {
    const { ask } = pastThread({ timeoutMs: 400 });
    ownTime();
    const asked = Promise.all(['spin', 'spin', 'spin', 'c1'].map(ask));
    for (let time = 0; time < 2; time++) await vi.advanceTimersByTimeAsync(401);
    expect((await asked).map((answer) => ('code' in answer ? answer.code : ''))).toEqual([
      'SVC_ANSWER_TIMED_OUT',
      'SVC_ANSWER_TIMED_OUT',
      'SVC_OVERLOADED',
      'SVC_OVERLOADED',
    ]);
    expect(startOf(await ask('c2'))).toBe(3);
  });
});

describe('the thread', () => {
  test('is ended when nobody has asked for a while', async () => {
    const { ask, started } = pastThread({ idleMs: 1 });
    let answer = startOf(await ask('c1'));
    // The idle time has to pass first.
    while (answer === 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      answer = startOf(await ask('c1'));
    }
    expect(answer).toBe(started());
  });

  test('is another one once there is other work, and what it was asked before it still answers', async () => {
    const { past, ask } = pastThread();
    expect(startOf(await ask('c1'))).toBe(1);
    const under = ask('c2');
    past.renew();
    const after = ask('c3');
    expect([startOf(await under), startOf(await after)]).toEqual([1, 2]);
    past.renew();
    expect(startOf(await ask('c4'))).toBe(3);
  });

  test('is ended by a close, which fails what it was asked', async () => {
    const { past, ask } = pastThread();
    const [spinning, waiting] = [ask('spin'), ask('c1')];
    await past.close();
    await past.close();
    for (const asked of [spinning, waiting, ask('c2')])
      expect(await asked).toMatchObject({ code: 'SVC_STOPPING' });
  });
});
