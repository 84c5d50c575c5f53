// The line that the test kit prints during a long build; the clock is a stand-in.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withNotice } from '../../../guest-sdk/testing/compile-notice.ts';

const written: string[] = [];
beforeEach(() => {
  written.length = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a build that takes longer than a second is said once, with its file', async () => {
  const built = Promise.withResolvers<number>();
  const result = withNotice(`${process.cwd()}/assembly/index.ts`, () => built.promise);
  vi.advanceTimersByTime(999);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual(['svc: compiling assembly/index.ts; tests wait for it …\n']);
  built.resolve(1);
  expect(await result).toBe(1);
});

test.each([
  ['is done before', () => Promise.resolve()],
  ['fails before', () => Promise.reject(new Error('no'))],
])('a build that %s is not', async (_how, compile) => {
  await withNotice('index.ts', compile).catch(() => undefined);
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});
