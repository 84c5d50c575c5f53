// A few rounds of `npm run crash -- --followers`: a service with timers, a view and a consumer, killed under load.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildOrders } from '../support/crash/followed-orders.ts';
import { followerRounds } from '../support/crash/follower-rounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a service that is killed again and again fires each timer once, delivers each event once, and has the rows of its events', async () => {
  const scratch = temporaryFolder();
  const module = join(scratch, 'orders.wasm');
  await buildOrders(join(scratch, 'source', 'index.ts'), module);
  const done = await followerRounds({ rounds: 6, seed: 11, module, scratch });
  expect(done.kills).toBe(6);
  expect(done.answered).toBeGreaterThan(100);
  expect(done.fired).toBeGreaterThanOrEqual(done.answered);
  expect(done.dead).toBeGreaterThan(0);
  expect(done.ticks).toBeGreaterThan(5);
  expect(done.noted).toBeGreaterThan(2 * done.fired);
}, 300_000);
