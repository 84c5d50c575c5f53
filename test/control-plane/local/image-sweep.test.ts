// Images that nothing uses are removed while none is looked for, and nobody can put that off for good.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ImageSweep } from '../../../control-plane/local/image-sweep.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let unused: string;
let sweep: ImageSweep;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const folder = temporaryFolder();
  unused = join(folder, 'modules', `${'a'.repeat(64)}.wasm`);
  mkdirSync(join(folder, 'modules'));
  writeFileSync(unused, '');
  sweep = new ImageSweep(
    folder,
    () => [],
    (error) => expect.unreachable(String(error)),
  );
  onTestFinished(async () => {
    vi.useRealTimers();
    await sweep.close();
  });
});

/** An image that is being read until `end` is called. */
function reading() {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  return { done: sweep.hold(() => promise), end };
}

/** Lets what waits for nothing but promises go on, within one turn of the event loop. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 50; count++) await Promise.resolve();
}

test('what nothing uses is removed a moment after it was asked for', async () => {
  sweep.request();
  expect(existsSync(unused)).toBe(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(existsSync(unused)).toBe(false);
});

test('nothing is removed while an image is read', async () => {
  const image = reading();
  sweep.request();
  await vi.advanceTimersByTimeAsync(3000);
  expect(existsSync(unused)).toBe(true);
  image.end();
  await image.done;
  await vi.advanceTimersByTimeAsync(1000);
  expect(existsSync(unused)).toBe(false);
});

test('images that are read one after the other do not put a removal off for good', async () => {
  const first = reading();
  sweep.request();
  await vi.advanceTimersByTimeAsync(15_000);
  // It waits for the removal, which waits for the first one.
  const second = reading();
  second.end();
  let isRead = false;
  void second.done.then(() => (isRead = true));
  await vi.advanceTimersByTimeAsync(1000);
  expect([isRead, existsSync(unused)]).toEqual([false, true]);
  first.end();
  await second.done;
  expect(existsSync(unused)).toBe(false);
});

test('an image that a removal has waited for is in a record before it', async () => {
  const image = reading();
  sweep.request();
  await vi.advanceTimersByTimeAsync(15_000);
  const isThereAfter = (async () => {
    await image.done;
    // As long as those who have read it need until they have stored it.
    await microtasks();
    return existsSync(unused);
  })();
  image.end();
  expect(await isThereAfter).toBe(true);
  await vi.waitUntil(() => !existsSync(unused));
});

test('a removal that begins just after another image is looked for waits for that image', async () => {
  const first = reading();
  sweep.request();
  await vi.advanceTimersByTimeAsync(10_000);
  // In one turn of the event loop one image has been read, another one is looked for, and the removal begins.
  first.end();
  await first.done;
  const second = reading();
  await microtasks();
  vi.advanceTimersByTime(1000);
  await new Promise((resolve) => setImmediate(resolve));
  await microtasks();
  expect(existsSync(unused)).toBe(true);
  second.end();
  await second.done;
  await vi.waitUntil(() => !existsSync(unused));
});
