// The number of copies of an unread response in memory. The file has only one test, because buffers that other tests
// free between the two measurements would be counted as its own.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { descriptorOf, get, ok, RawClient, start } from './http-harness.ts';

const LARGE = 12 * 1024 * 1024;

test('responses that callers do not read are in memory once, as the bytes that are sent', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { port } = await start({
    descriptor: descriptorOf([['GET', '/large']]),
    settings: { responseBytesMax: LARGE },
    handle: () => ok('x'.repeat(LARGE)),
  });
  collect();
  const before = process.memoryUsage();
  for (let n = 0; n < 4; n++) {
    const { socket } = new RawClient(port).send(get('/large'));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
  }
  collect();
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4.5 * LARGE);
  expect(after.arrayBuffers - before.arrayBuffers).toBeGreaterThan(3.5 * LARGE);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(LARGE);
});
